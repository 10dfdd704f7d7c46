/* The memory of buffers that a run frees itself: they share one mapping, each at the lowest address where it fits, so
 * that a buffer lies where one that has just been freed is still in the caches. */
#ifndef STRATA_RUNTIME_ARENA_H
#define STRATA_RUNTIME_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct strata_chunk;
typedef struct strata_arena {
  struct strata_chunk *chunks; /* one, once the runs are known */
  size_t mapped, live;         /* bytes */
  size_t wanted;               /* of the mapping that is made next */
} strata_arena;

/* Address of so many bytes, a multiple of 64; null if memory would have to be mapped beyond `most` bytes, or cannot
 * be. */
void *strata_arena_alloc(strata_arena *arena, size_t bytes, size_t most);
void strata_arena_free(strata_arena *arena, void *pointer, size_t bytes);
/* Once a run is over: joins mappings that have become several, and gives back what the last runs did not use. */
void strata_arena_end_run(strata_arena *arena);
/* Gives back all mappings that hold nothing. */
void strata_arena_trim(strata_arena *arena);

#endif
