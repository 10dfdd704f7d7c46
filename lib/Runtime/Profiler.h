/* Time per node, summed over the runs of a session. */
#ifndef STRATA_LIB_RUNTIME_PROFILER_H
#define STRATA_LIB_RUNTIME_PROFILER_H

#include "Runtime/strata.h"

typedef struct strata_profiler strata_profiler;
strata_profiler *strata_profiler_create(void);
void strata_profiler_destroy(strata_profiler *profiler);
void strata_profiler_reset(strata_profiler *profiler);
size_t strata_profiler_entries(strata_profiler *profiler, const strata_profile_entry **entries);

#endif
