/* What the files of the GPU's runtime share: the device of one session.
 *
 * All work is on one stream, so whoever gets a buffer comes after whoever gave it back. */
#ifndef STRATA_LIB_RUNTIME_GPU_H
#define STRATA_LIB_RUNTIME_GPU_H

#include "CudaDriver.h"
#include "Internal.h"

struct strata_gpu_buffer {
  struct strata_gpu_buffer *next;
  cuda_pointer device;
  uint64_t bytes;
  uint64_t stamp; /* the run that used it last */
  bool borrowed;  /* an input that the caller has on the device */
  bool result;    /* becomes the caller's when the run ends */
  strata_gpu *gpu;
  /* The host's copy, for operations that run there. */
  char *host;
  uint64_t copied;    /* gpu->writes when it was made */
  bool changed;       /* by the host */
  const char *writer; /* for messages: the nodes that have changed it */
};

/* Addresses of records and constants of the model to what the device has for them. */
typedef struct {
  const void *key;
  void *value;
} strata_gpu_entry;
typedef struct {
  strata_gpu_entry *entries;
  size_t count, capacity; /* a power of two */
} strata_gpu_table;

/* Memory that the device reads and writes by itself: what the caller passes goes through it in pieces. */
enum { STRATA_GPU_STAGES = 2 };
typedef struct {
  void *memory;
  cuda_event *done; /* the last copy from or to it */
} strata_gpu_stage;

typedef struct strata_gpu_recording strata_gpu_recording;

enum { STRATA_GPU_START, STRATA_GPU_STOP, STRATA_GPU_TIMER };

struct strata_gpu {
  const strata_cuda *cuda;
  int device, ordinal;
  cuda_context *context;
  cuda_stream *stream;
  strata_gpu_table modules, functions, constants;
  strata_gpu_buffer *live, *cached;
  uint64_t run;    /* number of runs ended */
  uint64_t writes; /* launches and copies to the device so far */
  size_t copies;   /* live buffers with a copy on the host */
  bool wait_always;
  const char *last_kernel, *last_node; /* launched since the host waited; for messages */
  const char *copying;                 /* the nodes of the present copy, likewise */
  strata_gpu_stage stages[STRATA_GPU_STAGES];
  int next_stage;
  cuda_event *timer[STRATA_GPU_TIMER];
  strata_gpu_recording *recordings;
  strata_gpu_recording *capturing; /* the one that launches go into */
  pthread_mutex_t mutex;           /* of what follows: results are released on any thread */
  strata_gpu_buffer *returned;
  int references; /* the session's, and one for each result that is out */
};

/* --- Gpu.c */
/* Ends the run with what the driver says. */
__attribute__((noreturn)) void strata_gpu_fail(strata_gpu *gpu, cuda_result result, const char *what);
static inline void strata_gpu_check(strata_gpu *gpu, cuda_result result, const char *what) {
  if (result)
    strata_gpu_fail(gpu, result, what);
}
/* Waits for all that was asked for; what failed of it ends the run. */
void strata_gpu_wait(strata_gpu *gpu, const char *what);
void *strata_gpu_find(const strata_gpu_table *table, const void *key);
void strata_gpu_insert(strata_gpu_table *table, const void *key, void *value);
/* The device of this run's session, opened where it is not yet; its context is current. */
strata_gpu *strata_gpu_current(void);

/* --- GpuMemory.c */
/* What the host has changed goes to the device before the device is asked for anything. */
void strata_gpu_flush(strata_gpu *gpu);
void strata_gpu_free_buffers(strata_gpu *gpu, strata_gpu_buffer *list);

/* --- GpuStaging.c: both return when the host's side may be used again. */
void strata_gpu_upload(strata_gpu *gpu, cuda_pointer device, const void *host, uint64_t bytes, const char *what);
void strata_gpu_download(strata_gpu *gpu, void *host, cuda_pointer device, uint64_t bytes, const char *what);
void strata_gpu_free_stages(strata_gpu *gpu);

/* --- GpuTimer.c */
void strata_gpu_free_timer(strata_gpu *gpu);

/* --- GpuGraph.c */
void strata_gpu_abandon_recording(strata_gpu *gpu);
void strata_gpu_free_recordings(strata_gpu *gpu);

#endif
