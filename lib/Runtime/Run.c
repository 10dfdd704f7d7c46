/* The run a thread belongs to: its buffers, its failure. */
#include "Internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local strata_run *strata_current_run;
_Thread_local jmp_buf *strata_current_escape;
_Thread_local bool strata_in_parallel;

bool strata_run_call(strata_run *run, void (*function)(void **), void **args) {
  /* A run may start inside of a parallel body of another one (a model that is called by a plugin). */
  strata_run *outer_run = strata_current_run;
  jmp_buf *outer_escape = strata_current_escape, escape;
  bool outer_parallel = strata_in_parallel;
  strata_current_run = run;
  strata_current_escape = &escape;
  strata_in_parallel = false;
  if (_setjmp(escape) == 0)
    function(args);
  strata_current_run = outer_run;
  strata_current_escape = outer_escape;
  strata_in_parallel = outer_parallel;
  return atomic_load(&run->failed) == 0;
}

void strata_escape(void) { _longjmp(*strata_current_escape, 1); }

void strata_rt_set_error(const char *message) {
  strata_run *run = strata_current_run;
  if (!run) {
    fprintf(stderr, "error: %s\n", message);
    abort();
  }
  int none = 0;
  if (!atomic_compare_exchange_strong(&run->failed, &none, 1))
    return;
  size_t length = strnlen(message, STRATA_MESSAGE - 1);
  memcpy(run->message, message, length);
  run->message[length] = 0;
  atomic_store(&run->failed, 2);
}

void strata_rt_fail(const char *message) {
  strata_rt_set_error(message);
  strata_escape();
}

static void *allocate(uint64_t bytes, uint64_t alignment, bool temporary) {
  strata_run *run = strata_current_run;
  if (!run) {
    void *buffer = NULL;
    if (bytes > SIZE_MAX / 2 || posix_memalign(&buffer, alignment < 64 ? 64 : alignment, bytes ? bytes : 1))
      strata_rt_fail("out of memory");
    return buffer;
  }
  char error[STRATA_MESSAGE];
  strata_block *block = strata_heap_alloc(run->heap, &run->blocks, bytes, alignment, temporary, error);
  if (!block)
    strata_rt_fail(error);
  return strata_block_data(block);
}

void *strata_rt_alloc(uint64_t bytes, uint64_t alignment) { return allocate(bytes, alignment, false); }

void *strata_rt_alloc_temporary(uint64_t bytes, uint64_t alignment) { return allocate(bytes, alignment, true); }

void strata_rt_free(void *buffer) {
  if (!buffer)
    return;
  strata_run *run = strata_current_run;
  if (!run)
    free(buffer);
  else
    strata_heap_free(&run->blocks, (strata_block *)((char *)buffer - STRATA_BLOCK_HEADER));
}
