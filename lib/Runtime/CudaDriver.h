/* The functions of CUDA's driver that the runtime calls, found at run time: neither building nor running on the CPU
 * needs CUDA. Types are those of the driver's ABI. */
#ifndef STRATA_LIB_RUNTIME_CUDADRIVER_H
#define STRATA_LIB_RUNTIME_CUDADRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t cuda_pointer;
typedef int cuda_result; /* 0: success */
typedef struct cuda_context cuda_context;
typedef struct cuda_stream cuda_stream;
typedef struct cuda_module cuda_module;
typedef struct cuda_function cuda_function;
typedef struct cuda_event cuda_event;
typedef struct cuda_graph cuda_graph;
typedef struct cuda_graph_exec cuda_graph_exec;

enum {
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_DEVICE_MULTIPROCESSORS = 16,
  CUDA_DEVICE_COMPUTE_MAJOR = 75,
  CUDA_DEVICE_COMPUTE_MINOR = 76,
  CUDA_STREAM_NON_BLOCKING = 1,
  CUDA_EVENT_DISABLE_TIMING = 2,
  CUDA_CAPTURE_THREAD_LOCAL = 1,
  CUDA_FUNCTION_MAX_DYNAMIC_SHARED = 8,
  CUDA_JIT_ERROR_LOG = 5,
  CUDA_JIT_ERROR_LOG_BYTES = 6,
  CUDA_TENSOR_L2_256_BYTES = 3
};

/* F(name in the structure, name of the symbol, parameters) */
#define STRATA_CUDA_FUNCTIONS(F)                                                                                       \
  F(init, cuInit, (unsigned flags))                                                                                    \
  F(device_count, cuDeviceGetCount, (int *count))                                                                      \
  F(device_get, cuDeviceGet, (int *device, int ordinal))                                                               \
  F(device_attribute, cuDeviceGetAttribute, (int *value, int attribute, int device))                                   \
  F(device_name, cuDeviceGetName, (char *name, int length, int device))                                                \
  F(context_retain, cuDevicePrimaryCtxRetain, (cuda_context * *context, int device))                                   \
  F(context_release, cuDevicePrimaryCtxRelease_v2, (int device))                                                       \
  F(context_set, cuCtxSetCurrent, (cuda_context * context))                                                            \
  F(stream_create, cuStreamCreate, (cuda_stream * *stream, unsigned flags))                                            \
  F(stream_destroy, cuStreamDestroy_v2, (cuda_stream * stream))                                                        \
  F(stream_wait, cuStreamSynchronize, (cuda_stream * stream))                                                          \
  F(capture_begin, cuStreamBeginCapture_v2, (cuda_stream * stream, int mode))                                          \
  F(capture_end, cuStreamEndCapture, (cuda_stream * stream, cuda_graph * *graph))                                      \
  F(graph_instantiate, cuGraphInstantiateWithFlags,                                                                    \
    (cuda_graph_exec * *exec, cuda_graph * graph, unsigned long long flags))                                           \
  F(graph_launch, cuGraphLaunch, (cuda_graph_exec * exec, cuda_stream * stream))                                       \
  F(graph_destroy, cuGraphDestroy, (cuda_graph * graph))                                                               \
  F(exec_destroy, cuGraphExecDestroy, (cuda_graph_exec * exec))                                                        \
  F(event_create, cuEventCreate, (cuda_event * *event, unsigned flags))                                                \
  F(event_destroy, cuEventDestroy_v2, (cuda_event * event))                                                            \
  F(event_record, cuEventRecord, (cuda_event * event, cuda_stream * stream))                                           \
  F(event_wait, cuEventSynchronize, (cuda_event * event))                                                              \
  F(event_elapsed, cuEventElapsedTime, (float *milliseconds, cuda_event *from, cuda_event *to))                        \
  F(host_alloc, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                                         \
  F(host_free, cuMemFreeHost, (void *memory))                                                                          \
  F(module_load, cuModuleLoadDataEx,                                                                                   \
    (cuda_module * *module, const void *image, unsigned count, int *options, void **values))                           \
  F(module_unload, cuModuleUnload, (cuda_module * module))                                                             \
  F(module_function, cuModuleGetFunction, (cuda_function * *function, cuda_module * module, const char *name))         \
  F(function_set, cuFuncSetAttribute, (cuda_function * function, int attribute, int value))                            \
  F(launch, cuLaunchKernel,                                                                                            \
    (cuda_function * function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,           \
     unsigned shared, cuda_stream *stream, void **arguments, void **extra))                                            \
  F(alloc, cuMemAlloc_v2, (cuda_pointer * pointer, size_t bytes))                                                      \
  F(free, cuMemFree_v2, (cuda_pointer pointer))                                                                        \
  F(upload, cuMemcpyHtoDAsync_v2, (cuda_pointer to, const void *from, size_t bytes, cuda_stream *stream))              \
  F(download, cuMemcpyDtoHAsync_v2, (void *to, cuda_pointer from, size_t bytes, cuda_stream *stream))                  \
  F(copy, cuMemcpyDtoDAsync_v2, (cuda_pointer to, cuda_pointer from, size_t bytes, cuda_stream *stream))               \
  F(error_name, cuGetErrorName, (cuda_result result, const char **name))                                               \
  F(error_text, cuGetErrorString, (cuda_result result, const char **text))

/* What drivers before 12.0 have not: null there. */
#define STRATA_CUDA_NEWER_FUNCTIONS(F)                                                                                 \
  F(tensor_map, cuTensorMapEncodeTiled,                                                                                \
    (void *map, int type, unsigned rank, void *address, const uint64_t *sizes, const uint64_t *strides,                \
     const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill))

typedef struct {
#define STRATA_CUDA_FIELD(name, symbol, parameters) cuda_result(*name) parameters;
  STRATA_CUDA_FUNCTIONS(STRATA_CUDA_FIELD)
  STRATA_CUDA_NEWER_FUNCTIONS(STRATA_CUDA_FIELD)
#undef STRATA_CUDA_FIELD
} strata_cuda;

/* The driver, or null with a message in `error` (of `size` bytes). STRATA_CUDA_DRIVER names another library than
 * libcuda.so.1. */
const strata_cuda *strata_cuda_load(char *error, size_t size);

#endif
