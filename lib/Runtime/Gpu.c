/* Kernels and buffers of a GPU, for one session.
 *
 * Freed buffers are kept for the next one of nearly that size: all work is on one stream, so whoever gets a buffer comes
 * after whoever gave it back. What a run leaves is free again when it ends. */
#include "CudaDriver.h"
#include "Internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct buffer {
  struct buffer *next;
  cuda_pointer device;
  uint64_t bytes;
  uint64_t stamp; /* the run that used it last */
  /* The host's copy, for operations that run there. */
  char *host;
  uint64_t copied; /* state->writes when it was made */
  bool changed;    /* by the host */
} buffer;

/* Addresses of records and constants of the model to what the device has for them. */
typedef struct {
  const void *key;
  void *value;
} entry;
typedef struct {
  entry *entries;
  size_t count, capacity; /* a power of two */
} table;

struct strata_gpu {
  const strata_cuda *cuda;
  int device;
  cuda_context *context;
  cuda_stream *stream;
  table modules, functions, constants;
  buffer *live, *cached;
  uint64_t run;    /* number of runs ended */
  uint64_t writes; /* launches and copies to the device so far */
  size_t copies;   /* live buffers with a copy on the host */
  bool wait_always;
};

enum { runs_kept = 4 };

/* --- Errors */

static void fail(strata_gpu *gpu, cuda_result result, const char *what) {
  char message[STRATA_MESSAGE];
  const char *text = NULL, *name = NULL;
  if (gpu->cuda->error_text(result, &text) || !text)
    text = "unknown error";
  if (gpu->cuda->error_name(result, &name) || !name)
    name = "?";
  snprintf(message, sizeof(message), "%s: %s (%s)", what, text, name);
  strata_rt_fail(message);
}

static void check(strata_gpu *gpu, cuda_result result, const char *what) {
  if (result)
    fail(gpu, result, what);
}

/* --- Tables */

static size_t slot_of(const table *t, const void *key) {
  size_t i = ((uintptr_t)key >> 4) * 0x9E3779B97F4A7C15u >> 20 & (t->capacity - 1);
  while (t->entries[i].key && t->entries[i].key != key)
    i = (i + 1) & (t->capacity - 1);
  return i;
}

static void *find(const table *t, const void *key) { return t->capacity ? t->entries[slot_of(t, key)].value : NULL; }

static void insert(table *t, const void *key, void *value) {
  if (2 * (t->count + 1) > t->capacity) {
    table larger = {calloc(t->capacity ? 2 * t->capacity : 64, sizeof(entry)), 0, t->capacity ? 2 * t->capacity : 64};
    if (!larger.entries)
      strata_rt_fail("out of memory");
    for (size_t i = 0; i < t->capacity; ++i)
      if (t->entries[i].key)
        insert(&larger, t->entries[i].key, t->entries[i].value);
    free(t->entries);
    *t = larger;
  }
  entry *e = &t->entries[slot_of(t, key)];
  e->key = key;
  e->value = value;
  ++t->count;
}

/* --- Start and end */

/* The device of this run's session; its context is current. */
static strata_gpu *current(void) {
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
  const char *wanted = getenv("STRATA_CUDA_DEVICE");
  int ordinal = wanted ? atoi(wanted) : 0, count = 0;
  if (cuda->device_count(&count) || count == 0)
    strata_rt_fail("the model runs on an NVIDIA GPU, and the driver finds none");
  if (ordinal < 0 || ordinal >= count) {
    snprintf(message, sizeof(message), "STRATA_CUDA_DEVICE is %d, and there are %d GPUs", ordinal, count);
    strata_rt_fail(message);
  }
  strata_gpu *gpu = calloc(1, sizeof(*gpu));
  if (!gpu)
    strata_rt_fail("out of memory");
  gpu->cuda = cuda;
  run->gpu = gpu;
  check(gpu, cuda->device_get(&gpu->device, ordinal), "the GPU cannot be opened");
  cuda_result result = cuda->context_retain(&gpu->context, gpu->device);
  if (result) {
    gpu->context = NULL;
    fail(gpu, result, "the GPU cannot be opened");
  }
  check(gpu, cuda->context_set(gpu->context), "the GPU cannot be opened");
  check(gpu, cuda->stream_create(&gpu->stream, CUDA_STREAM_NON_BLOCKING), "the GPU cannot be opened");
  const char *wait = getenv("STRATA_CUDA_WAIT");
  gpu->wait_always = wait && *wait && *wait != '0';
  return gpu;
}

static void free_buffers(strata_gpu *gpu, buffer *list) {
  while (list) {
    buffer *next = list->next;
    gpu->cuda->free(list->device);
    free(list->host);
    free(list);
    list = next;
  }
}

void strata_gpu_free(strata_gpu *gpu) {
  if (!gpu)
    return;
  if (gpu->context) {
    gpu->cuda->context_set(gpu->context);
    if (gpu->stream)
      gpu->cuda->stream_wait(gpu->stream);
    free_buffers(gpu, gpu->live);
    free_buffers(gpu, gpu->cached);
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
  free(gpu->constants.entries);
  free(gpu->modules.entries);
  free(gpu->functions.entries);
  free(gpu);
}

/* --- Buffers */

static void forget_copy(strata_gpu *gpu, buffer *b) {
  if (!b->host)
    return;
  free(b->host);
  b->host = NULL;
  b->changed = false;
  --gpu->copies;
}

static void cache(strata_gpu *gpu, buffer *b) {
  forget_copy(gpu, b);
  b->stamp = gpu->run;
  b->next = gpu->cached;
  gpu->cached = b;
}

void strata_gpu_end_run(strata_gpu *gpu) {
  if (!gpu || !gpu->context)
    return;
  gpu->cuda->context_set(gpu->context);
  while (gpu->live) {
    buffer *b = gpu->live;
    gpu->live = b->next;
    cache(gpu, b);
  }
  ++gpu->run;
  for (buffer **at = &gpu->cached; *at;) {
    buffer *b = *at;
    if (b->stamp + runs_kept >= gpu->run) {
      at = &b->next;
      continue;
    }
    *at = b->next;
    b->next = NULL;
    free_buffers(gpu, b);
  }
}

void *strata_rt_gpu_alloc(uint64_t bytes, uint64_t alignment) {
  strata_gpu *gpu = current();
  (void)alignment; /* the driver's are aligned to 256 bytes */
  bytes = bytes > UINT64_MAX - 255 ? bytes : (bytes + 255) & ~(uint64_t)255;
  if (!bytes)
    bytes = 256;
  buffer **best = NULL;
  for (buffer **at = &gpu->cached; *at; at = &(*at)->next)
    if ((*at)->bytes >= bytes && (*at)->bytes <= bytes + bytes / 4 && (!best || (*at)->bytes < (*best)->bytes))
      best = at;
  buffer *b;
  if (best) {
    b = *best;
    *best = b->next;
  } else {
    b = calloc(1, sizeof(*b));
    if (!b)
      strata_rt_fail("out of memory");
    cuda_result result = gpu->cuda->alloc(&b->device, bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && gpu->cached) {
      gpu->cuda->stream_wait(gpu->stream);
      free_buffers(gpu, gpu->cached);
      gpu->cached = NULL;
      result = gpu->cuda->alloc(&b->device, bytes);
    }
    if (result) {
      free(b);
      char what[128];
      snprintf(what, sizeof(what), "the model asked for a buffer of %llu bytes on the GPU", (unsigned long long)bytes);
      fail(gpu, result, what);
    }
    b->bytes = bytes;
  }
  b->next = gpu->live;
  gpu->live = b;
  return (void *)(uintptr_t)b->device;
}

/* The live buffer that holds the address; its place in the list. */
static buffer **holder(strata_gpu *gpu, const void *device) {
  cuda_pointer address = (cuda_pointer)(uintptr_t)device;
  for (buffer **at = &gpu->live; *at; at = &(*at)->next)
    if (address >= (*at)->device && address < (*at)->device + (*at)->bytes)
      return at;
  return NULL;
}

void strata_rt_gpu_free(void *device) {
  strata_gpu *gpu = current();
  buffer **at = holder(gpu, device);
  if (!at)
    return;
  buffer *b = *at;
  *at = b->next;
  cache(gpu, b);
}

void *strata_rt_gpu_constant(const void *constant, uint64_t bytes) {
  strata_gpu *gpu = current();
  void *known = find(&gpu->constants, constant);
  if (known)
    return known;
  cuda_pointer device;
  check(gpu, gpu->cuda->alloc(&device, bytes ? bytes : 1), "the GPU has no memory for the model's weights");
  insert(&gpu->constants, constant, (void *)(uintptr_t)device);
  if (bytes)
    check(gpu, gpu->cuda->upload(device, constant, bytes, gpu->stream), "copying the model's weights to the GPU failed");
  return (void *)(uintptr_t)device;
}

/* --- Copies */

static void wait(strata_gpu *gpu, const char *what) { check(gpu, gpu->cuda->stream_wait(gpu->stream), what); }

/* What the host has changed goes to the device before the device is asked for anything. */
static void flush(strata_gpu *gpu) {
  if (!gpu->copies)
    return;
  for (buffer *b = gpu->live; b; b = b->next)
    if (b->changed) {
      check(gpu, gpu->cuda->upload(b->device, b->host, b->bytes, gpu->stream), "copying to the GPU failed");
      b->changed = false;
    }
}

void strata_rt_gpu_upload(void *device, const void *host, uint64_t bytes) {
  strata_gpu *gpu = current();
  if (!bytes)
    return;
  flush(gpu);
  check(gpu, gpu->cuda->upload((cuda_pointer)(uintptr_t)device, host, bytes, gpu->stream), "copying to the GPU failed");
  ++gpu->writes;
}

void strata_rt_gpu_download(void *host, const void *device, uint64_t bytes) {
  strata_gpu *gpu = current();
  if (!bytes)
    return;
  flush(gpu);
  check(gpu, gpu->cuda->download(host, (cuda_pointer)(uintptr_t)device, bytes, gpu->stream),
        "copying from the GPU failed");
  wait(gpu, "a kernel before this copy from the GPU failed");
}

void strata_rt_gpu_copy(void *to, const void *from, uint64_t bytes) {
  strata_gpu *gpu = current();
  if (!bytes || to == from)
    return;
  flush(gpu);
  check(gpu, gpu->cuda->copy((cuda_pointer)(uintptr_t)to, (cuda_pointer)(uintptr_t)from, bytes, gpu->stream),
        "copying on the GPU failed");
  ++gpu->writes;
}

void *strata_rt_gpu_to_host(const void *device) {
  strata_gpu *gpu = current();
  buffer **at = holder(gpu, device);
  if (!at) {
    /* A constant's: the host has it, too. */
    for (size_t i = 0; i < gpu->constants.capacity; ++i)
      if (gpu->constants.entries[i].value == device && gpu->constants.entries[i].key)
        return (void *)(uintptr_t)gpu->constants.entries[i].key;
    strata_rt_fail("the host looks into a buffer that is not on the GPU");
  }
  buffer *b = *at;
  if (!b->host) {
    b->host = malloc(b->bytes);
    if (!b->host)
      strata_rt_fail("out of memory");
    ++gpu->copies;
    b->copied = UINT64_MAX;
  }
  if (b->copied != gpu->writes && !b->changed) {
    check(gpu, gpu->cuda->download(b->host, b->device, b->bytes, gpu->stream), "copying from the GPU failed");
    wait(gpu, "a kernel before this copy from the GPU failed");
    b->copied = gpu->writes;
  }
  return b->host + ((cuda_pointer)(uintptr_t)device - b->device);
}

void strata_rt_gpu_host_wrote(const void *device) {
  strata_gpu *gpu = current();
  buffer **at = holder(gpu, device);
  if (at && (*at)->host)
    (*at)->changed = true;
}

/* --- Kernels */

static cuda_module *module_of(strata_gpu *gpu, const strata_gpu_image *image) {
  cuda_module *module = find(&gpu->modules, image);
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
    snprintf(message, sizeof(message), "the model was compiled for another GPU than this one (%s, sm_%d%d)", name, major,
             minor);
    strata_rt_fail(message);
  }
  if (result) {
    snprintf(message, sizeof(message), "the driver cannot load the model's kernels%s%.500s", *log ? ": " : "", log);
    fail(gpu, result, message);
  }
  insert(&gpu->modules, image, module);
  return module;
}

void strata_rt_gpu_launch(const strata_gpu_kernel *kernel, const char *node, const int64_t *shape, void **arguments) {
  strata_gpu *gpu = current();
  char what[STRATA_MESSAGE / 2];
  cuda_function *function = find(&gpu->functions, kernel);
  if (!function) {
    cuda_result result = gpu->cuda->module_function(&function, module_of(gpu, kernel->image), kernel->name);
    if (result) {
      snprintf(what, sizeof(what), "%s: the driver does not find kernel '%s'", node, kernel->name);
      fail(gpu, result, what);
    }
    if (shape[6] > 48 << 10)
      check(gpu, gpu->cuda->function_set(function, CUDA_FUNCTION_MAX_DYNAMIC_SHARED, (int)shape[6]), node);
    insert(&gpu->functions, kernel, function);
  }
  if (!shape[0] || !shape[1] || !shape[2])
    return;
  flush(gpu);
  cuda_result result = shape[0] > INT32_MAX || shape[1] > 65535 || shape[2] > 65535
                           ? 1
                           : gpu->cuda->launch(function, (unsigned)shape[0], (unsigned)shape[1], (unsigned)shape[2],
                                               (unsigned)shape[3], (unsigned)shape[4], (unsigned)shape[5],
                                               (unsigned)shape[6], gpu->stream, arguments, NULL);
  ++gpu->writes;
  /* A failure inside of a kernel is seen later, unless somebody looks for it. */
  if (!result && gpu->wait_always)
    result = gpu->cuda->stream_wait(gpu->stream);
  if (result) {
    snprintf(what, sizeof(what), "%s: kernel '%s' of %lld x %lld x %lld blocks failed", node, kernel->name,
             (long long)shape[0], (long long)shape[1], (long long)shape[2]);
    fail(gpu, result, what);
  }
}
