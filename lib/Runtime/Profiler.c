/* The profiling hooks. Generated code brackets the code of each node on the run's own thread; brackets do not nest. */
#include "Profiler.h"
#include "Internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct strata_profiler {
  strata_profile_entry *entries; /* by node number */
  size_t count;
  uint64_t begin;
};

strata_profiler *strata_profiler_create(void) { return calloc(1, sizeof(strata_profiler)); }

void strata_profiler_destroy(strata_profiler *profiler) {
  if (!profiler)
    return;
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

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static strata_profiler *active(void) {
  strata_run *run = strata_current_run;
  return run && !strata_in_parallel ? run->profiler : NULL;
}

void strata_rt_profile_begin(int64_t node, const char *name) {
  strata_profiler *profiler = active();
  if (!profiler || node < 0)
    return;
  if ((size_t)node >= profiler->count) {
    size_t count = (size_t)node + 1;
    strata_profile_entry *entries = realloc(profiler->entries, count * sizeof(*entries));
    if (!entries)
      return;
    memset(entries + profiler->count, 0, (count - profiler->count) * sizeof(*entries));
    profiler->entries = entries;
    profiler->count = count;
  }
  profiler->entries[node].name = name;
  profiler->begin = now();
}

void strata_rt_profile_work(int64_t node, int64_t operations, int64_t bytes) {
  strata_profiler *profiler = active();
  if (!profiler || node < 0 || (size_t)node >= profiler->count)
    return;
  profiler->entries[node].operations += (uint64_t)operations;
  profiler->entries[node].bytes += (uint64_t)bytes;
}

void strata_rt_profile_end(int64_t node) {
  strata_profiler *profiler = active();
  if (!profiler || node < 0 || (size_t)node >= profiler->count)
    return;
  profiler->entries[node].nanoseconds += now() - profiler->begin;
  ++profiler->entries[node].calls;
}
