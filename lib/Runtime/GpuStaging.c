/* Copies between the GPU and memory of the caller's, in pieces through memory that the GPU reaches by itself: while it
 * copies one piece, the host fills or empties the other. Small copies go directly. */
#include "Gpu.h"

#include <string.h>

enum { stage_bytes = 4 << 20, small_bytes = 64 << 10 };

/* Whether there is such memory; without, the driver has its own way. */
static bool prepare(strata_gpu *gpu) {
  for (int i = 0; i < STRATA_GPU_STAGES; ++i) {
    strata_gpu_stage *stage = &gpu->stages[i];
    if (!stage->done && gpu->cuda->event_create(&stage->done, CUDA_EVENT_DISABLE_TIMING))
      return false;
    if (!stage->memory && gpu->cuda->host_alloc(&stage->memory, stage_bytes, 0))
      return false;
  }
  return true;
}

static uint64_t piece(uint64_t bytes) { return bytes < stage_bytes ? bytes : stage_bytes; }

void strata_gpu_upload(strata_gpu *gpu, cuda_pointer device, const void *host, uint64_t bytes, const char *what) {
  if (bytes <= small_bytes || !prepare(gpu)) {
    if (bytes)
      strata_gpu_check(gpu, gpu->cuda->upload(device, host, bytes, gpu->stream), what);
    return;
  }
  for (uint64_t begin = 0; begin < bytes; begin += stage_bytes) {
    strata_gpu_stage *stage = &gpu->stages[gpu->next_stage++ % STRATA_GPU_STAGES];
    uint64_t size = piece(bytes - begin);
    strata_gpu_check(gpu, gpu->cuda->event_wait(stage->done), what);
    memcpy(stage->memory, (const char *)host + begin, size);
    strata_gpu_check(gpu, gpu->cuda->upload(device + begin, stage->memory, size, gpu->stream), what);
    strata_gpu_check(gpu, gpu->cuda->event_record(stage->done, gpu->stream), what);
  }
}

void strata_gpu_download(strata_gpu *gpu, void *host, cuda_pointer device, uint64_t bytes, const char *what) {
  if (bytes <= small_bytes || !prepare(gpu)) {
    if (bytes)
      strata_gpu_check(gpu, gpu->cuda->download(host, device, bytes, gpu->stream), what);
    strata_gpu_wait(gpu, what);
    return;
  }
  /* What failed before is reported by the name of its kernel. */
  strata_gpu_wait(gpu, what);
  strata_gpu_stage *before = NULL;
  for (uint64_t begin = 0; begin < bytes + stage_bytes; begin += stage_bytes) {
    strata_gpu_stage *stage = &gpu->stages[gpu->next_stage % STRATA_GPU_STAGES];
    if (begin < bytes) {
      ++gpu->next_stage;
      strata_gpu_check(gpu, gpu->cuda->download(stage->memory, device + begin, piece(bytes - begin), gpu->stream), what);
      strata_gpu_check(gpu, gpu->cuda->event_record(stage->done, gpu->stream), what);
    }
    if (before) {
      strata_gpu_check(gpu, gpu->cuda->event_wait(before->done), what);
      uint64_t start = begin - stage_bytes;
      memcpy((char *)host + start, before->memory, piece(bytes - start));
    }
    before = stage;
  }
}

void strata_gpu_free_stages(strata_gpu *gpu) {
  for (int i = 0; i < STRATA_GPU_STAGES; ++i) {
    if (gpu->stages[i].memory)
      gpu->cuda->host_free(gpu->stages[i].memory);
    if (gpu->stages[i].done)
      gpu->cuda->event_destroy(gpu->stages[i].done);
  }
}
