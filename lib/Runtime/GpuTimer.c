/* The time of work on the device, by events. */
#include "Gpu.h"

static void record(strata_gpu *gpu, int event) {
  static const char what[] = "the GPU's time cannot be taken";
  if (!gpu->timer[event])
    strata_gpu_check(gpu, gpu->cuda->event_create(&gpu->timer[event], 0), what);
  strata_gpu_check(gpu, gpu->cuda->event_record(gpu->timer[event], gpu->stream), what);
}

void strata_rt_gpu_timer_start(void) {
  strata_gpu *gpu = strata_gpu_current();
  strata_gpu_flush(gpu);
  gpu->copying = NULL;
  record(gpu, STRATA_GPU_START);
}

int64_t strata_rt_gpu_timer_stop(void) {
  strata_gpu *gpu = strata_gpu_current();
  gpu->copying = NULL;
  record(gpu, STRATA_GPU_STOP);
  strata_gpu_wait(gpu, "the GPU's time cannot be taken");
  float milliseconds = 0;
  strata_gpu_check(gpu,
                   gpu->cuda->event_elapsed(&milliseconds, gpu->timer[STRATA_GPU_START], gpu->timer[STRATA_GPU_STOP]),
                   "the GPU's time cannot be taken");
  return (int64_t)((double)milliseconds * 1e6);
}

void strata_gpu_free_timer(strata_gpu *gpu) {
  for (int i = 0; i < STRATA_GPU_TIMER; ++i)
    if (gpu->timer[i])
      gpu->cuda->event_destroy(gpu->timer[i]);
}
