/* The heap of a session.
 *
 * A run asks for nearly the same buffers as the run before it, so freed blocks are cached and found again by size;
 * a run of a warmed-up session neither maps nor faults in memory. Those that the run frees itself come from an arena
 * (Arena.h) if they are large. Blocks of some megabytes are mapped with huge pages. Requests beyond the machine's
 * memory are refused here, because with overcommit the kernel would grant them and later kill the process. */
#include "Arena.h"
#include "Internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct strata_heap {
  pthread_mutex_t mutex;
  strata_block *cache; /* most recently freed first */
  size_t cached_blocks;
  uint64_t cached_bytes;
  uint64_t live_bytes, limit;     /* live: those in the arena too */
  uint64_t kept_bytes, most_kept; /* live outside of it, now and at most */
  strata_arena arena;
  uint64_t run; /* number of runs ended */
  atomic_int references;
};

enum {
  max_cached_blocks = 128,
  map_from = 1 << 20,
  idle_at_least = 16 << 20,
  arena_from = 1 << 16, /* smaller ones are many, and stay in the near caches anyway */
  huge_page = 2 << 20,
  runs_kept = 4 /* a cached block that so many runs did not use is released */
};

/* The smallest of physical memory and the limits of the control groups this process is in. */
static uint64_t machine_memory(void) {
  static _Atomic uint64_t known;
  uint64_t memory = known;
  if (memory)
    return memory;
  memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  const char *files[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
  for (size_t i = 0; i < 2; ++i) {
    FILE *file = fopen(files[i], "re");
    unsigned long long limit;
    if (file) {
      if (fscanf(file, "%llu", &limit) == 1 && limit < memory)
        memory = limit;
      fclose(file);
    }
  }
  return known = memory;
}

/* What the kernel says could be had now without swapping; all of it if it does not say. */
static uint64_t available_memory(void) {
  FILE *file = fopen("/proc/meminfo", "re");
  uint64_t available = UINT64_MAX;
  char line[128];
  unsigned long long kilobytes;
  while (file && fgets(line, sizeof(line), file))
    if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
      available = (uint64_t)kilobytes << 10;
  if (file)
    fclose(file);
  return available;
}

strata_heap *strata_heap_create(uint64_t limit) {
  strata_heap *heap = calloc(1, sizeof(*heap));
  if (!heap)
    return NULL;
  pthread_mutex_init(&heap->mutex, NULL);
  heap->limit = limit ? limit : machine_memory();
  heap->references = 1;
  return heap;
}

static void release_block(strata_block *block) {
  if (block->mapped)
    munmap(block->base, block->mapped);
  else
    free(block->base);
}

static void release_cache(strata_heap *heap) {
  while (heap->cache) {
    strata_block *block = heap->cache;
    heap->cache = block->next;
    release_block(block);
  }
  heap->cached_blocks = 0;
  heap->cached_bytes = 0;
  strata_arena_trim(&heap->arena);
}

void strata_heap_release(strata_heap *heap) {
  if (atomic_fetch_sub(&heap->references, 1) != 1)
    return;
  release_cache(heap);
  pthread_mutex_destroy(&heap->mutex);
  free(heap);
}

/* Mapped blocks have one of eight capacities between a power of two and the next: what grows from step to step of a
 * loop finds those of the steps before. What is not touched of a mapping takes no memory. */
static size_t capacity_for(size_t bytes) {
  if (bytes < map_from || bytes > SIZE_MAX / 2)
    return bytes;
  size_t step = (size_t)1 << (63 - __builtin_clzll(bytes) - 3);
  return (bytes + step - 1) & ~(step - 1);
}

static void link_block(strata_block **first, strata_block *block) {
  block->previous = NULL;
  block->next = *first;
  if (*first)
    (*first)->previous = block;
  *first = block;
}

static void unlink_block(strata_block **first, strata_block *block) {
  if (block->previous)
    block->previous->next = block->next;
  else
    *first = block->next;
  if (block->next)
    block->next->previous = block->previous;
}

static void uncache_block(strata_heap *heap, strata_block *block) {
  unlink_block(&heap->cache, block);
  --heap->cached_blocks;
  heap->cached_bytes -= block->capacity;
}

static void add_live(strata_heap *heap, const strata_block *block) {
  heap->live_bytes += block->capacity;
  if (!block->in_arena)
    heap->kept_bytes += block->capacity;
  if (heap->kept_bytes > heap->most_kept)
    heap->most_kept = heap->kept_bytes;
}

static void drop_live(strata_heap *heap, const strata_block *block) {
  heap->live_bytes -= block->capacity;
  if (!block->in_arena)
    heap->kept_bytes -= block->capacity;
}

/* What waits for its next use is at most twice what was in use at once; those that have waited longest go first. */
static void bound_cache(strata_heap *heap) {
  uint64_t most = 2 * heap->most_kept > idle_at_least ? 2 * heap->most_kept : idle_at_least;
  while (heap->cached_bytes > most) {
    strata_block *oldest = heap->cache;
    while (oldest->next)
      oldest = oldest->next;
    uncache_block(heap, oldest);
    release_block(oldest);
  }
}

static strata_block *new_block(strata_heap *heap, size_t bytes, size_t alignment) {
  char *base, *data;
  size_t mapped = 0;
  if (bytes >= map_from) {
    mapped = (bytes + STRATA_BLOCK_HEADER + alignment + 4095) & ~(size_t)4095;
    base = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
      return NULL;
    if (bytes >= huge_page)
      madvise(base, mapped, MADV_HUGEPAGE);
  } else {
    base = malloc(bytes + STRATA_BLOCK_HEADER + alignment);
    if (!base)
      return NULL;
  }
  data = (char *)(((uintptr_t)base + STRATA_BLOCK_HEADER + alignment - 1) & ~(uintptr_t)(alignment - 1));
  strata_block *block = (strata_block *)(data - STRATA_BLOCK_HEADER);
  *block = (strata_block){.heap = heap, .base = base, .mapped = mapped, .capacity = bytes};
  return block;
}

static uint32_t this_thread(void) {
  static _Atomic uint32_t threads;
  static _Thread_local uint32_t number;
  if (!number)
    number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
  return number;
}

/* The smallest that fits; of equal ones one that this thread has freed, which its core's cache may still hold: the
 * buffers of tasks would else go from core to core. */
static strata_block *cached_block(strata_heap *heap, size_t bytes, size_t alignment) {
  strata_block *best = NULL;
  uint32_t self = this_thread();
  for (strata_block *block = heap->cache; block; block = block->next) {
    if (block->capacity < bytes || block->capacity > bytes + bytes / 4 + 4096 ||
        (uintptr_t)strata_block_data(block) % alignment)
      continue;
    if (!best || block->capacity < best->capacity ||
        (block->capacity == best->capacity && block->freed_by == self && best->freed_by != self))
      best = block;
    if (best->capacity == bytes && best->freed_by == self)
      break;
  }
  if (best)
    uncache_block(heap, best);
  return best;
}

/* Memory that is held without being used. */
static uint64_t idle_bytes(const strata_heap *heap) {
  return heap->cached_bytes + heap->arena.mapped - heap->arena.live;
}

static strata_block *arena_block(strata_heap *heap, size_t bytes) {
  size_t most = heap->limit - heap->live_bytes, idle = idle_bytes(heap);
  most = most > idle ? most - idle : 0;
  if (bytes >= heap->limit / 32) { /* as below */
    uint64_t available = available_memory();
    most = most < available ? most : available;
  }
  strata_block *block = strata_arena_alloc(&heap->arena, bytes + STRATA_BLOCK_HEADER, most);
  if (block)
    *block = (strata_block){.heap = heap, .capacity = bytes, .in_arena = true};
  return block;
}

strata_block *strata_heap_alloc(strata_heap *heap, strata_block_list *run, uint64_t bytes, uint64_t alignment,
                                bool temporary, char *error) {
  _Static_assert(sizeof(strata_block) <= STRATA_BLOCK_HEADER, "the header must fit");
  if (alignment < 64)
    alignment = 64;
  pthread_mutex_lock(&heap->mutex);
  strata_block *block = NULL;
  if (bytes <= heap->limit && heap->live_bytes + bytes <= heap->limit) {
    size_t rounded = (bytes + 63) & ~(uint64_t)63;
    if (rounded == 0)
      rounded = 64;
    if (temporary && rounded >= arena_from && alignment == 64)
      block = arena_block(heap, rounded);
    if (!block)
      block = cached_block(heap, rounded, alignment);
    if (!block) {
      if (idle_bytes(heap) && idle_bytes(heap) + heap->live_bytes + rounded > heap->limit)
        release_cache(heap);
      /* Asking the kernel takes some microseconds: only for what is a good part of the machine. */
      bool fits = rounded < heap->limit / 32 || rounded < available_memory();
      if (!fits && idle_bytes(heap)) {
        release_cache(heap);
        fits = rounded < available_memory();
      }
      if (fits) {
        size_t capacity = capacity_for(rounded);
        if (capacity > heap->limit - heap->live_bytes)
          capacity = rounded;
        block = new_block(heap, capacity, alignment);
      }
    }
  }
  if (block) {
    add_live(heap, block);
    block->stamp = heap->run;
    block->in_run = true;
    link_block(&run->first, block);
  } else {
    snprintf(error, STRATA_MESSAGE,
             "out of memory: the model asked for a buffer of %llu bytes while it holds %llu; the limit is %llu bytes",
             (unsigned long long)bytes, (unsigned long long)heap->live_bytes, (unsigned long long)heap->limit);
  }
  pthread_mutex_unlock(&heap->mutex);
  return block;
}

/* Under the mutex, block in no list. */
static void cache_block(strata_heap *heap, strata_block *block) {
  drop_live(heap, block);
  if (block->in_arena) {
    strata_arena_free(&heap->arena, block, block->capacity + STRATA_BLOCK_HEADER);
    return;
  }
  block->in_run = false;
  block->stamp = heap->run;
  block->freed_by = this_thread();
  if (heap->cached_blocks == max_cached_blocks) {
    release_block(block);
    return;
  }
  link_block(&heap->cache, block);
  ++heap->cached_blocks;
  heap->cached_bytes += block->capacity;
  bound_cache(heap);
}

void strata_heap_free(strata_block_list *run, strata_block *block) {
  strata_heap *heap = block->heap;
  pthread_mutex_lock(&heap->mutex);
  unlink_block(&run->first, block);
  cache_block(heap, block);
  pthread_mutex_unlock(&heap->mutex);
}

strata_block *strata_heap_find(strata_heap *heap, strata_block_list *run, const void *pointer) {
  pthread_mutex_lock(&heap->mutex);
  strata_block *block = run->first;
  while (block) {
    const char *data = strata_block_data(block);
    if ((const char *)pointer >= data && (const char *)pointer < data + block->capacity)
      break;
    block = block->next;
  }
  pthread_mutex_unlock(&heap->mutex);
  return block;
}

void strata_heap_hand_over(strata_block_list *run, strata_block *block) {
  strata_heap *heap = block->heap;
  pthread_mutex_lock(&heap->mutex);
  unlink_block(&run->first, block);
  block->in_run = false;
  /* No longer the session's: what a caller keeps must not starve later runs. */
  drop_live(heap, block);
  atomic_fetch_add(&heap->references, 1);
  pthread_mutex_unlock(&heap->mutex);
}

void strata_heap_give_back(strata_block *block) {
  strata_heap *heap = block->heap;
  pthread_mutex_lock(&heap->mutex);
  add_live(heap, block); /* cache_block takes it off again */
  cache_block(heap, block);
  pthread_mutex_unlock(&heap->mutex);
  strata_heap_release(heap);
}

void strata_heap_end_run(strata_heap *heap, strata_block_list *run) {
  pthread_mutex_lock(&heap->mutex);
  while (run->first) {
    strata_block *block = run->first;
    unlink_block(&run->first, block);
    cache_block(heap, block);
  }
  strata_arena_end_run(&heap->arena);
  ++heap->run;
  for (strata_block *block = heap->cache, *next; block; block = next) {
    next = block->next;
    if (block->stamp + runs_kept >= heap->run)
      continue;
    uncache_block(heap, block);
    release_block(block);
  }
  pthread_mutex_unlock(&heap->mutex);
}
