/* Buffers of a GPU, and copies between them and the host.
 *
 * Freed buffers are kept for the next one of nearly that size. What a run leaves is free again when it ends. */
#include "Gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { runs_kept = 4, alignment_of_buffers = 256 };

static void *as_pointer(cuda_pointer device) { return (void *)(uintptr_t)device; }
static cuda_pointer as_device(const void *pointer) { return (cuda_pointer)(uintptr_t)pointer; }

/* The session's device, which copies for these nodes. */
static strata_gpu *current_for(const char *node) {
  strata_gpu *gpu = strata_gpu_current();
  gpu->copying = node;
  return gpu;
}

/* --- Buffers */

static void forget_copy(strata_gpu *gpu, strata_gpu_buffer *b) {
  if (!b->host)
    return;
  free(b->host);
  b->host = NULL;
  b->changed = false;
  --gpu->copies;
}

static void cache(strata_gpu *gpu, strata_gpu_buffer *b) {
  forget_copy(gpu, b);
  if (b->borrowed) {
    free(b);
    return;
  }
  b->result = false;
  b->stamp = gpu->run;
  b->next = gpu->cached;
  gpu->cached = b;
}

void strata_gpu_free_buffers(strata_gpu *gpu, strata_gpu_buffer *list) {
  while (list) {
    strata_gpu_buffer *next = list->next;
    if (!list->borrowed)
      gpu->cuda->free(list->device);
    free(list->host);
    free(list);
    list = next;
  }
}

void strata_gpu_end_run(strata_gpu *gpu) {
  if (!gpu || !gpu->context)
    return;
  gpu->cuda->context_set(gpu->context);
  strata_gpu_abandon_recording(gpu);
  while (gpu->live) {
    strata_gpu_buffer *b = gpu->live;
    gpu->live = b->next;
    cache(gpu, b);
  }
  gpu->copying = NULL;
  ++gpu->run;
  for (strata_gpu_buffer **at = &gpu->cached; *at;) {
    strata_gpu_buffer *b = *at;
    if (b->stamp + runs_kept >= gpu->run) {
      at = &b->next;
      continue;
    }
    *at = b->next;
    b->next = NULL;
    strata_gpu_free_buffers(gpu, b);
  }
}

/* Results that callers have released may be used again, when whatever they have asked the GPU to do with them is done.
 */
static void take_back(strata_gpu *gpu) {
  pthread_mutex_lock(&gpu->mutex);
  strata_gpu_buffer *list = gpu->returned;
  gpu->returned = NULL;
  pthread_mutex_unlock(&gpu->mutex);
  if (list)
    gpu->cuda->stream_wait(NULL);
  while (list) {
    strata_gpu_buffer *b = list;
    list = b->next;
    cache(gpu, b);
  }
}

static strata_gpu_buffer *allocate(strata_gpu *gpu, uint64_t bytes) {
  uint64_t mask = alignment_of_buffers - 1;
  bytes = bytes > UINT64_MAX - mask ? bytes : (bytes + mask) & ~mask;
  if (!bytes)
    bytes = alignment_of_buffers;
  take_back(gpu);
  /* The smallest, of equal ones the first in memory: runs that ask for the same get the same, as recorded graphs want.
   */
  strata_gpu_buffer **best = NULL;
  for (strata_gpu_buffer **at = &gpu->cached; *at; at = &(*at)->next)
    if ((*at)->bytes >= bytes && (*at)->bytes <= bytes + bytes / 4 &&
        (!best || (*at)->bytes < (*best)->bytes || ((*at)->bytes == (*best)->bytes && (*at)->device < (*best)->device)))
      best = at;
  strata_gpu_buffer *b;
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
      strata_gpu_free_buffers(gpu, gpu->cached);
      gpu->cached = NULL;
      result = gpu->cuda->alloc(&b->device, bytes);
    }
    if (result) {
      free(b);
      char what[128];
      snprintf(what, sizeof(what), "the model asked for a buffer of %llu bytes on the GPU", (unsigned long long)bytes);
      strata_gpu_fail(gpu, result, what);
    }
    b->bytes = bytes;
    b->gpu = gpu;
  }
  b->next = gpu->live;
  gpu->live = b;
  return b;
}

void *strata_rt_gpu_alloc(uint64_t bytes, uint64_t alignment) {
  (void)alignment; /* the driver's are aligned to 256 bytes */
  return as_pointer(allocate(current_for(NULL), bytes)->device);
}

/* The live buffer that holds the address; its place in the list. */
static strata_gpu_buffer **holder(strata_gpu *gpu, const void *device) {
  cuda_pointer address = as_device(device);
  for (strata_gpu_buffer **at = &gpu->live; *at; at = &(*at)->next)
    if (address >= (*at)->device && address < (*at)->device + (*at)->bytes)
      return at;
  return NULL;
}

void strata_rt_gpu_free(void *device) {
  strata_gpu *gpu = strata_gpu_current();
  strata_gpu_buffer **at = holder(gpu, device);
  if (!at || (*at)->result)
    return;
  strata_gpu_buffer *b = *at;
  *at = b->next;
  cache(gpu, b);
}

void *strata_rt_gpu_constant(const void *constant, uint64_t bytes, const char *node) {
  strata_gpu *gpu = current_for(node);
  void *known = strata_gpu_find(&gpu->constants, constant);
  if (known)
    return known;
  cuda_pointer device;
  strata_gpu_check(gpu, gpu->cuda->alloc(&device, bytes ? bytes : 1), "the GPU has no memory for the model's weights");
  strata_gpu_insert(&gpu->constants, constant, as_pointer(device));
  strata_gpu_upload(gpu, device, constant, bytes, "copying the model's weights to the GPU failed");
  return as_pointer(device);
}

/* --- Copies */

void strata_gpu_flush(strata_gpu *gpu) {
  if (!gpu->copies)
    return;
  const char *copying = gpu->copying;
  for (strata_gpu_buffer *b = gpu->live; b; b = b->next)
    if (b->changed) {
      gpu->copying = b->writer;
      strata_gpu_upload(gpu, b->device, b->host, b->bytes, "copying to the GPU failed");
      b->changed = false;
    }
  gpu->copying = copying;
}

void strata_rt_gpu_upload(void *device, const void *host, uint64_t bytes, const char *node) {
  strata_gpu *gpu = current_for(node);
  strata_gpu_flush(gpu);
  strata_gpu_upload(gpu, as_device(device), host, bytes, "copying to the GPU failed");
  ++gpu->writes;
}

void strata_rt_gpu_download(void *host, const void *device, uint64_t bytes, const char *node) {
  strata_gpu *gpu = current_for(node);
  strata_gpu_flush(gpu);
  strata_gpu_download(gpu, host, as_device(device), bytes, "copying from the GPU failed");
}

void strata_rt_gpu_copy(void *to, const void *from, uint64_t bytes, const char *node) {
  strata_gpu *gpu = current_for(node);
  if (!bytes || to == from)
    return;
  strata_gpu_flush(gpu);
  strata_gpu_check(gpu, gpu->cuda->copy(as_device(to), as_device(from), bytes, gpu->stream),
                   "copying on the GPU failed");
  ++gpu->writes;
}

void *strata_rt_gpu_to_host(const void *device, const char *node) {
  strata_gpu *gpu = current_for(node);
  strata_gpu_buffer **at = holder(gpu, device);
  if (!at) {
    /* A constant's: the host has it, too. */
    for (size_t i = 0; i < gpu->constants.capacity; ++i)
      if (gpu->constants.entries[i].value == device && gpu->constants.entries[i].key)
        return (void *)(uintptr_t)gpu->constants.entries[i].key;
    strata_rt_fail("the host looks into a buffer that is not on the GPU");
  }
  strata_gpu_buffer *b = *at;
  if (!b->host) {
    b->host = malloc(b->bytes);
    if (!b->host)
      strata_rt_fail("out of memory");
    ++gpu->copies;
    b->copied = UINT64_MAX;
  }
  if (b->copied != gpu->writes && !b->changed) {
    strata_gpu_download(gpu, b->host, b->device, b->bytes, "copying from the GPU failed");
    b->copied = gpu->writes;
  }
  return b->host + (as_device(device) - b->device);
}

void strata_rt_gpu_host_wrote(const void *device, const char *node) {
  strata_gpu_buffer **at = holder(strata_gpu_current(), device);
  if (!at || !(*at)->host)
    return;
  (*at)->changed = true;
  (*at)->writer = node;
}

/* --- What callers pass and get */

void strata_gpu_borrow(const void *device, uint64_t bytes) {
  strata_gpu *gpu = strata_gpu_current();
  /* Whoever wrote it may have done so on the default stream. */
  strata_gpu_check(gpu, gpu->cuda->stream_wait(NULL), "waiting for an input on the GPU failed");
  strata_gpu_buffer *b = calloc(1, sizeof(*b));
  if (!b)
    strata_rt_fail("out of memory");
  b->device = as_device(device);
  b->bytes = bytes ? bytes : 1;
  b->borrowed = true;
  b->next = gpu->live;
  gpu->live = b;
}

static bool is_borrowed(strata_gpu *gpu, const void *input) {
  strata_gpu_buffer **at = holder(gpu, input);
  return at && (*at)->borrowed;
}

void *strata_rt_gpu_input(const void *input, uint64_t bytes, const char *node) {
  strata_gpu *gpu = current_for(node);
  bool borrowed = is_borrowed(gpu, input);
  /* Kernels are told that their buffers are aligned. */
  if (borrowed && as_device(input) % alignment_of_buffers == 0)
    return (void *)(uintptr_t)input;
  void *device = as_pointer(allocate(gpu, bytes)->device);
  if (borrowed)
    strata_rt_gpu_copy(device, input, bytes, node);
  else
    strata_rt_gpu_upload(device, input, bytes, node);
  return device;
}

void *strata_rt_gpu_host_input(const void *input, uint64_t bytes, const char *node) {
  strata_run *run = strata_current_run;
  if (!run || !run->gpu || !is_borrowed(strata_gpu_current(), input))
    return (void *)(uintptr_t)input;
  void *host = strata_rt_alloc(bytes, 64);
  strata_rt_gpu_download(host, input, bytes, node);
  return host;
}

void *strata_rt_gpu_result(void *device, uint64_t bytes, const char *node) {
  strata_gpu *gpu = current_for(node);
  if (!strata_current_run->device_results) {
    void *host = strata_rt_alloc(bytes, 64);
    strata_rt_gpu_download(host, device, bytes, node);
    return host;
  }
  strata_gpu_flush(gpu);
  strata_gpu_buffer **at = holder(gpu, device), *b = at ? *at : NULL;
  /* A constant, an input, an earlier result, or a part of a much larger buffer. */
  if (!b || b->borrowed || b->result || b->device != as_device(device) || b->bytes > 2 * bytes + 4096) {
    b = allocate(gpu, bytes);
    strata_rt_gpu_copy(as_pointer(b->device), device, bytes, node);
  }
  b->result = true;
  strata_gpu_wait(gpu, "a kernel failed");
  return as_pointer(b->device);
}

strata_gpu_buffer *strata_gpu_take(strata_gpu *gpu, const void *device) {
  strata_gpu_buffer **at = gpu ? holder(gpu, device) : NULL;
  if (!at || !(*at)->result)
    return NULL;
  strata_gpu_buffer *b = *at;
  *at = b->next;
  forget_copy(gpu, b);
  pthread_mutex_lock(&gpu->mutex);
  ++gpu->references;
  pthread_mutex_unlock(&gpu->mutex);
  return b;
}

void strata_gpu_give_back(strata_gpu_buffer *b) {
  strata_gpu *gpu = b->gpu;
  pthread_mutex_lock(&gpu->mutex);
  b->next = gpu->returned;
  gpu->returned = b;
  pthread_mutex_unlock(&gpu->mutex);
  strata_gpu_release(gpu);
}

int strata_gpu_read(const strata_gpu_buffer *b, void *to, uint64_t bytes) {
  const strata_cuda *cuda = b->gpu->cuda;
  cuda_result result = cuda->context_set(b->gpu->context);
  if (!result && bytes)
    result = cuda->download(to, b->device, bytes, NULL);
  if (!result)
    result = cuda->stream_wait(NULL);
  const char *text = NULL;
  if (!result)
    return 0;
  cuda->error_text(result, &text);
  return strata_set_last_error("copying a result from the GPU failed: %s", text ? text : "unknown error");
}
