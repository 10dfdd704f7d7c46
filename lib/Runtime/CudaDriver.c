/* Finds CUDA's driver. */
#include "CudaDriver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static strata_cuda functions;
static char failure[512];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  const char *name = getenv("STRATA_CUDA_DRIVER");
  if (!name || !*name)
    name = "libcuda.so.1";
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(failure, sizeof(failure),
             "the model runs on an NVIDIA GPU, and no driver is there: %s (STRATA_CUDA_DRIVER names another library)",
             dlerror());
    return;
  }
  static const struct {
    size_t offset;
    const char *symbol;
    int newer;
  } table[] = {
#define STRATA_CUDA_ENTRY(name, symbol, parameters) {offsetof(strata_cuda, name), #symbol, 0},
#define STRATA_CUDA_NEWER_ENTRY(name, symbol, parameters) {offsetof(strata_cuda, name), #symbol, 1},
      STRATA_CUDA_FUNCTIONS(STRATA_CUDA_ENTRY) STRATA_CUDA_NEWER_FUNCTIONS(STRATA_CUDA_NEWER_ENTRY)
#undef STRATA_CUDA_ENTRY
#undef STRATA_CUDA_NEWER_ENTRY
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(*table); ++i) {
    void *function = dlsym(library, table[i].symbol);
    if (!function && !table[i].newer) {
      snprintf(failure, sizeof(failure), "the CUDA driver '%s' is too old: it has no %s", name, table[i].symbol);
      return;
    }
    *(void **)((char *)&functions + table[i].offset) = function;
  }
  cuda_result result = functions.init(0);
  const char *text = NULL;
  if (result && functions.error_text(result, &text))
    text = "unknown error";
  if (result)
    snprintf(failure, sizeof(failure), "the CUDA driver cannot be used: %s", text);
}

const strata_cuda *strata_cuda_load(char *error, size_t size) {
  pthread_once(&once, load);
  if (!failure[0])
    return &functions;
  snprintf(error, size, "%s", failure);
  return NULL;
}
