#include "Arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  page = 4096,
  huge_page = 2 << 20,
  runs_kept = 4 /* what so many runs did not use is given back */
};

typedef struct {
  size_t from, to;
} span;

typedef struct strata_chunk {
  struct strata_chunk *next;
  char *base;
  size_t bytes;
  size_t reached; /* end of the highest span since the last check */
  int runs;       /* since that */
  span *used;     /* by address */
  size_t count, room;
} strata_chunk;

static size_t rounded_up(size_t bytes, size_t unit) { return (bytes + unit - 1) & ~(unit - 1); }

/* Where so many bytes fit first, before which of the used spans; `bytes` of the chunk if nowhere. */
static size_t first_fit(const strata_chunk *chunk, size_t bytes, size_t *before) {
  size_t at = 0, i = 0;
  for (; i < chunk->count && chunk->used[i].from - at < bytes; ++i)
    at = chunk->used[i].to;
  *before = i;
  return i < chunk->count || chunk->bytes - at >= bytes ? at : chunk->bytes;
}

static void *take(strata_chunk *chunk, size_t bytes) {
  size_t before, at = first_fit(chunk, bytes, &before);
  if (at == chunk->bytes)
    return NULL;
  if (chunk->count == chunk->room) {
    size_t room = chunk->room ? 2 * chunk->room : 32;
    span *used = realloc(chunk->used, room * sizeof(*used));
    if (!used)
      return NULL;
    chunk->used = used;
    chunk->room = room;
  }
  memmove(chunk->used + before + 1, chunk->used + before, (chunk->count - before) * sizeof(span));
  chunk->used[before] = (span){at, at + bytes};
  ++chunk->count;
  if (at + bytes > chunk->reached)
    chunk->reached = at + bytes;
  return chunk->base + at;
}

static strata_chunk *add_chunk(strata_arena *arena, size_t bytes) {
  strata_chunk *chunk = calloc(1, sizeof(*chunk));
  if (!chunk)
    return NULL;
  chunk->base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (chunk->base == MAP_FAILED) {
    free(chunk);
    return NULL;
  }
  if (bytes >= huge_page)
    madvise(chunk->base, bytes, MADV_HUGEPAGE);
  chunk->bytes = bytes;
  strata_chunk **last = &arena->chunks;
  while (*last)
    last = &(*last)->next;
  *last = chunk;
  arena->mapped += bytes;
  return chunk;
}

static void release_chunk(strata_arena *arena, strata_chunk *chunk) {
  arena->mapped -= chunk->bytes;
  munmap(chunk->base, chunk->bytes);
  free(chunk->used);
  free(chunk);
}

void *strata_arena_alloc(strata_arena *arena, size_t bytes, size_t most) {
  void *pointer = NULL;
  for (strata_chunk *chunk = arena->chunks; chunk && !pointer; chunk = chunk->next)
    pointer = take(chunk, bytes);
  if (!pointer) {
    /* What is needed is not known in the first run: each mapping is a good part of all before. */
    size_t wanted = arena->wanted > arena->mapped / 2 ? arena->wanted : arena->mapped / 2;
    wanted = wanted > bytes ? wanted : bytes;
    wanted = rounded_up(wanted, wanted < huge_page ? page : huge_page);
    if (wanted > most)
      wanted = rounded_up(bytes, page);
    strata_chunk *chunk = wanted <= most ? add_chunk(arena, wanted) : NULL;
    arena->wanted = 0;
    if (chunk)
      pointer = take(chunk, bytes);
  }
  if (pointer)
    arena->live += bytes;
  return pointer;
}

void strata_arena_free(strata_arena *arena, void *pointer, size_t bytes) {
  for (strata_chunk *chunk = arena->chunks; chunk; chunk = chunk->next) {
    size_t at = (size_t)((char *)pointer - chunk->base);
    if ((char *)pointer < chunk->base || at >= chunk->bytes)
      continue;
    size_t low = 0, high = chunk->count;
    while (high - low > 1) {
      size_t middle = (low + high) / 2;
      *(chunk->used[middle].from <= at ? &low : &high) = middle;
    }
    --chunk->count;
    memmove(chunk->used + low, chunk->used + low + 1, (chunk->count - low) * sizeof(span));
    arena->live -= bytes;
    return;
  }
}

void strata_arena_trim(strata_arena *arena) {
  for (strata_chunk **at = &arena->chunks; *at;) {
    strata_chunk *chunk = *at;
    if (chunk->count) {
      at = &chunk->next;
      continue;
    }
    *at = chunk->next;
    release_chunk(arena, chunk);
  }
}

void strata_arena_end_run(strata_arena *arena) {
  strata_chunk *first = arena->chunks;
  if (!first || arena->live)
    return;
  if (first->next) {
    size_t reached = 0;
    for (strata_chunk *chunk = first; chunk; chunk = chunk->next)
      reached += chunk->reached;
    strata_arena_trim(arena);
    arena->wanted = reached;
  } else if (++first->runs == runs_kept) {
    size_t reached = first->reached;
    first->reached = 0;
    first->runs = 0;
    if (reached < first->bytes / 2 && first->bytes > huge_page) {
      strata_arena_trim(arena);
      arena->wanted = reached;
    }
  }
}
