/* The profiling hooks. Generated code brackets the code of each node on the run's own thread; brackets do not nest.
 * Versions of a model number their nodes each for itself, and may be unloaded: an entry belongs to a name, which is
 * copied. */
#include "Profiler.h"
#include "Internal.h"

#include <stdlib.h>
#include <string.h>

struct strata_profiler {
  strata_profile_entry *entries;
  size_t count, capacity;
  size_t current; /* the entry of the open bracket; `count`: none */
  uint64_t begin;
};

strata_profiler *strata_profiler_create(void) { return calloc(1, sizeof(strata_profiler)); }

void strata_profiler_destroy(strata_profiler *profiler) {
  if (!profiler)
    return;
  for (size_t i = 0; i < profiler->count; ++i)
    free((char *)profiler->entries[i].name);
  free(profiler->entries);
  free(profiler);
}

size_t strata_profiler_entries(strata_profiler *profiler, const strata_profile_entry **entries) {
  *entries = profiler ? profiler->entries : NULL;
  return profiler ? profiler->count : 0;
}

void strata_profiler_reset(strata_profiler *profiler) {
  for (size_t i = 0; profiler && i < profiler->count; ++i)
    profiler->entries[i] = (strata_profile_entry){.name = profiler->entries[i].name};
}

static strata_profiler *active(void) {
  strata_run *run = strata_current_run;
  return run && !strata_in_parallel ? run->profiler : NULL;
}

/* The entry of that name, `count` if there is no memory for it. The number of a node is where it usually is. */
static size_t entry_of(strata_profiler *profiler, size_t node, const char *name) {
  if (node < profiler->count && strcmp(profiler->entries[node].name, name) == 0)
    return node;
  for (size_t i = 0; i < profiler->count; ++i)
    if (strcmp(profiler->entries[i].name, name) == 0)
      return i;
  char *copy = strdup(name);
  if (copy && profiler->count == profiler->capacity) {
    size_t capacity = 2 * profiler->capacity + 64;
    strata_profile_entry *entries = realloc(profiler->entries, capacity * sizeof(*entries));
    if (entries) {
      profiler->entries = entries;
      profiler->capacity = capacity;
    }
  }
  if (!copy || profiler->count == profiler->capacity) {
    free(copy);
    return profiler->count;
  }
  profiler->entries[profiler->count] = (strata_profile_entry){.name = copy};
  return profiler->count++;
}

void strata_rt_profile_begin(int64_t node, const char *name) {
  strata_profiler *profiler = active();
  if (!profiler || node < 0)
    return;
  profiler->current = entry_of(profiler, (size_t)node, name);
  profiler->begin = strata_now_ns();
}

void strata_rt_profile_work(int64_t node, int64_t operations, int64_t bytes) {
  strata_profiler *profiler = active();
  if (!profiler || node < 0 || profiler->current >= profiler->count)
    return;
  profiler->entries[profiler->current].operations += (uint64_t)operations;
  profiler->entries[profiler->current].bytes += (uint64_t)bytes;
}

void strata_rt_profile_end(int64_t node) {
  strata_profiler *profiler = active();
  if (!profiler || node < 0 || profiler->current >= profiler->count)
    return;
  profiler->entries[profiler->current].nanoseconds += strata_now_ns() - profiler->begin;
  ++profiler->entries[profiler->current].calls;
}
