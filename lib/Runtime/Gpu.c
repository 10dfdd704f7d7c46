/* The GPU of a session: how it is opened, its kernels. */
#include "Gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Errors */

void strata_gpu_fail(strata_gpu *gpu, cuda_result result, const char *what) {
  char message[STRATA_MESSAGE];
  const char *text = NULL, *name = NULL;
  if (gpu->cuda->error_text(result, &text) || !text)
    text = "unknown error";
  if (gpu->cuda->error_name(result, &name) || !name)
    name = "?";
  const char *node = gpu->copying;
  bool named = node && *node;
  snprintf(message, sizeof(message), "%.200s%s%s: %s (%s)", named ? node : "", named ? ": " : "", what, text, name);
  strata_rt_fail(message);
}

/* --- Tables */

static size_t slot_of(const strata_gpu_table *t, const void *key) {
  size_t i = ((uintptr_t)key >> 4) * 0x9E3779B97F4A7C15u >> 20 & (t->capacity - 1);
  while (t->entries[i].key && t->entries[i].key != key)
    i = (i + 1) & (t->capacity - 1);
  return i;
}

void *strata_gpu_find(const strata_gpu_table *t, const void *key) {
  return t->capacity ? t->entries[slot_of(t, key)].value : NULL;
}

void strata_gpu_insert(strata_gpu_table *t, const void *key, void *value) {
  if (2 * (t->count + 1) > t->capacity) {
    size_t capacity = t->capacity ? 2 * t->capacity : 64;
    strata_gpu_table larger = {calloc(capacity, sizeof(strata_gpu_entry)), 0, capacity};
    if (!larger.entries)
      strata_rt_fail("out of memory");
    for (size_t i = 0; i < t->capacity; ++i)
      if (t->entries[i].key)
        strata_gpu_insert(&larger, t->entries[i].key, t->entries[i].value);
    free(t->entries);
    *t = larger;
  }
  strata_gpu_entry *e = &t->entries[slot_of(t, key)];
  e->key = key;
  e->value = value;
  ++t->count;
}

/* --- Start and end */

/* Which GPU: the session's, else STRATA_CUDA_DEVICE, else the first; -1 and why in `error` if there is none. */
static int choose_device(const strata_cuda *cuda, int device, char *error, size_t size) {
  const char *wanted = getenv("STRATA_CUDA_DEVICE");
  int ordinal = device >= 0 ? device : wanted ? atoi(wanted) : 0, count = 0;
  if (cuda->device_count(&count) || count == 0) {
    snprintf(error, size, "the model runs on an NVIDIA GPU, and the driver finds none");
    return -1;
  }
  if (ordinal >= 0 && ordinal < count)
    return ordinal;
  snprintf(error, size, "%s is %d, and there %s %d GPU%s", device >= 0 ? "the session's device" : "STRATA_CUDA_DEVICE",
           ordinal, count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
  return -1;
}

int strata_rt_gpu_describe(int32_t device, strata_gpu_facts *facts, char *error, uint64_t size) {
  const strata_cuda *cuda = strata_cuda_load(error, size);
  int ordinal = cuda ? choose_device(cuda, device, error, size) : -1, number = 0;
  if (ordinal < 0)
    return 1;
  cuda_result result = cuda->device_get(&number, ordinal);
  if (!result)
    result = cuda->device_name(facts->name, sizeof(facts->name), number);
  if (!result)
    result = cuda->device_attribute(&facts->major, CUDA_DEVICE_COMPUTE_MAJOR, number);
  if (!result)
    result = cuda->device_attribute(&facts->minor, CUDA_DEVICE_COMPUTE_MINOR, number);
  const char *text = NULL;
  if (result && cuda->error_text(result, &text))
    text = NULL;
  if (result)
    snprintf(error, size, "the driver does not describe GPU %d: %s", ordinal, text ? text : "unknown error");
  return result != 0;
}

strata_gpu *strata_gpu_current(void) {
  strata_run *run = strata_current_run;
  if (!run)
    strata_rt_fail("kernels of a GPU need a session");
  if (run->gpu) {
    run->gpu->cuda->context_set(run->gpu->context);
    return run->gpu;
  }
  char message[STRATA_MESSAGE];
  const strata_cuda *cuda = strata_cuda_load(message, sizeof(message));
  if (!cuda)
    strata_rt_fail(message);
  int ordinal = choose_device(cuda, run->gpu_device, message, sizeof(message));
  if (ordinal < 0)
    strata_rt_fail(message);
  strata_gpu *gpu = calloc(1, sizeof(*gpu));
  if (!gpu)
    strata_rt_fail("out of memory");
  gpu->cuda = cuda;
  gpu->ordinal = ordinal;
  gpu->references = 1;
  pthread_mutex_init(&gpu->mutex, NULL);
  run->gpu = gpu;
  strata_gpu_check(gpu, cuda->device_get(&gpu->device, ordinal), "the GPU cannot be opened");
  cuda_result result = cuda->context_retain(&gpu->context, gpu->device);
  if (result) {
    gpu->context = NULL;
    strata_gpu_fail(gpu, result, "the GPU cannot be opened");
  }
  strata_gpu_check(gpu, cuda->context_set(gpu->context), "the GPU cannot be opened");
  strata_gpu_check(gpu, cuda->stream_create(&gpu->stream, CUDA_STREAM_NON_BLOCKING), "the GPU cannot be opened");
  const char *wait = getenv("STRATA_CUDA_WAIT");
  gpu->wait_always = wait && *wait && *wait != '0';
  return gpu;
}

static void destroy(strata_gpu *gpu) {
  if (gpu->context) {
    gpu->cuda->context_set(gpu->context);
    if (gpu->stream)
      gpu->cuda->stream_wait(gpu->stream);
    strata_gpu_free_recordings(gpu);
    strata_gpu_free_stages(gpu);
    strata_gpu_free_timer(gpu);
    strata_gpu_free_buffers(gpu, gpu->live);
    strata_gpu_free_buffers(gpu, gpu->cached);
    strata_gpu_free_buffers(gpu, gpu->returned);
    for (size_t i = 0; i < gpu->constants.capacity; ++i)
      if (gpu->constants.entries[i].key)
        gpu->cuda->free((cuda_pointer)(uintptr_t)gpu->constants.entries[i].value);
    for (size_t i = 0; i < gpu->modules.capacity; ++i)
      if (gpu->modules.entries[i].key)
        gpu->cuda->module_unload(gpu->modules.entries[i].value);
    if (gpu->stream)
      gpu->cuda->stream_destroy(gpu->stream);
    gpu->cuda->context_release(gpu->device);
  }
  pthread_mutex_destroy(&gpu->mutex);
  free(gpu->constants.entries);
  free(gpu->modules.entries);
  free(gpu->functions.entries);
  free(gpu);
}

int strata_gpu_ordinal(const strata_gpu *gpu) { return gpu->ordinal; }

void strata_gpu_release(strata_gpu *gpu) {
  if (!gpu)
    return;
  pthread_mutex_lock(&gpu->mutex);
  bool last = --gpu->references == 0;
  pthread_mutex_unlock(&gpu->mutex);
  if (last)
    destroy(gpu);
}

void strata_gpu_wait(strata_gpu *gpu, const char *what) {
  cuda_result result = gpu->cuda->stream_wait(gpu->stream);
  const char *kernel = gpu->last_kernel;
  gpu->last_kernel = NULL;
  if (!result)
    return;
  char text[STRATA_MESSAGE / 2];
  if (kernel) {
    gpu->copying = NULL; /* it is not the copy that failed */
    snprintf(text, sizeof(text),
             "%.100s: kernel '%.100s' or one before it failed (STRATA_CUDA_WAIT=1 waits for each and says which)",
             gpu->last_node, kernel);
  }
  strata_gpu_fail(gpu, result, kernel ? text : what);
}

/* --- Kernels */

static cuda_module *module_of(strata_gpu *gpu, const strata_gpu_image *image) {
  cuda_module *module = strata_gpu_find(&gpu->modules, image);
  if (module)
    return module;
  char log[512] = "", message[STRATA_MESSAGE];
  int options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES};
  void *values[] = {log, (void *)(uintptr_t)sizeof(log)};
  cuda_result result = gpu->cuda->module_load(&module, image->data, 2, options, values);
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU) {
    char name[128] = "?";
    int major = 0, minor = 0;
    gpu->cuda->device_name(name, sizeof(name), gpu->device);
    gpu->cuda->device_attribute(&major, CUDA_DEVICE_COMPUTE_MAJOR, gpu->device);
    gpu->cuda->device_attribute(&minor, CUDA_DEVICE_COMPUTE_MINOR, gpu->device);
    snprintf(message, sizeof(message), "the model was compiled for another GPU than this one (%s, sm_%d%d)", name,
             major, minor);
    strata_rt_fail(message);
  }
  if (result) {
    snprintf(message, sizeof(message), "the driver cannot load the model's kernels%s%.500s", *log ? ": " : "", log);
    strata_gpu_fail(gpu, result, message);
  }
  strata_gpu_insert(&gpu->modules, image, module);
  return module;
}

int64_t strata_rt_gpu_multiprocessors(void) {
  strata_gpu *gpu = strata_gpu_current();
  int count = 0;
  if (gpu->cuda->device_attribute(&count, CUDA_DEVICE_MULTIPROCESSORS, gpu->device) || count < 1)
    count = 1;
  return count;
}

void strata_rt_gpu_tensor_map(void *map, const void *address, const int64_t *description, const char *node) {
  enum { most = 5 };
  strata_gpu *gpu = strata_gpu_current();
  gpu->copying = NULL;
  int64_t bytes = description[2], rank = description[3];
  uint64_t sizes[most], strides[most];
  uint32_t box[most], steps[most];
  if (rank < 1 || rank > most)
    strata_rt_fail("a tensor map of a wrong rank");
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t *dimension = description + 4 + 4 * d;
    /* Of a tensor without elements nothing is copied, whatever is said of it. */
    sizes[d] = dimension[0] > 0 ? (uint64_t)dimension[0] : 1;
    if (dimension[0] == 0)
      address = map;
    if (d > 0)
      strides[d - 1] = (uint64_t)(dimension[1] * bytes);
    box[d] = (uint32_t)dimension[2];
    steps[d] = (uint32_t)dimension[3];
  }
  char what[STRATA_MESSAGE / 2];
  if (!gpu->cuda->tensor_map) {
    snprintf(what, sizeof(what),
             "%.200s: the CUDA driver is too old for kernels of sm_90a: it has no cuTensorMapEncodeTiled", node);
    strata_rt_fail(what);
  }
  cuda_result result =
      gpu->cuda->tensor_map(map, (int)description[0], (unsigned)rank, (void *)(uintptr_t)address, sizes, strides, box,
                            steps, 0, (int)description[1], CUDA_TENSOR_L2_256_BYTES, 0);
  if (result) {
    snprintf(what, sizeof(what), "%.200s: the driver cannot describe a tensor to its kernel", node);
    strata_gpu_fail(gpu, result, what);
  }
}

void strata_rt_gpu_launch(const strata_gpu_kernel *kernel, const char *node, const int64_t *shape, void **arguments) {
  strata_gpu *gpu = strata_gpu_current();
  gpu->copying = NULL;
  char what[STRATA_MESSAGE / 2];
  cuda_function *function = strata_gpu_find(&gpu->functions, kernel);
  if (!function) {
    cuda_result result = gpu->cuda->module_function(&function, module_of(gpu, kernel->image), kernel->name);
    if (result) {
      snprintf(what, sizeof(what), "%s: the driver does not find kernel '%s'", node, kernel->name);
      strata_gpu_fail(gpu, result, what);
    }
    if (shape[6] > 48 << 10)
      strata_gpu_check(gpu, gpu->cuda->function_set(function, CUDA_FUNCTION_MAX_DYNAMIC_SHARED, (int)shape[6]), node);
    strata_gpu_insert(&gpu->functions, kernel, function);
  }
  if (!shape[0] || !shape[1] || !shape[2])
    return;
  strata_gpu_flush(gpu);
  cuda_result result =
      shape[0] > INT32_MAX || shape[1] > 65535 || shape[2] > 65535
          ? 1
          : gpu->cuda->launch(function, (unsigned)shape[0], (unsigned)shape[1], (unsigned)shape[2], (unsigned)shape[3],
                              (unsigned)shape[4], (unsigned)shape[5], (unsigned)shape[6], gpu->stream, arguments, NULL);
  ++gpu->writes;
  gpu->last_kernel = kernel->name;
  gpu->last_node = node;
  /* A failure inside of a kernel is seen later, unless somebody looks for it. */
  if (!result && gpu->wait_always)
    result = gpu->cuda->stream_wait(gpu->stream);
  if (result) {
    snprintf(what, sizeof(what), "%s: kernel '%s' of %lld x %lld x %lld blocks failed", node, kernel->name,
             (long long)shape[0], (long long)shape[1], (long long)shape[2]);
    strata_gpu_fail(gpu, result, what);
  }
}
