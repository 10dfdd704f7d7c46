/* Graphs: what the device is asked for between two points of the model is recorded, and started as one thing when the
 * model comes there again with the same buffers and sizes. */
#include "Gpu.h"

#include <stdlib.h>
#include <string.h>

struct strata_gpu_recording {
  strata_gpu_recording *next;
  const void *place; /* in the model */
  int64_t *key;      /* all that kernels are given and the model does not fix */
  int64_t count;
  uint64_t used; /* the run that came here last */
  cuda_graph_exec *graph;
  bool refused; /* by the driver */
  const char *last_kernel, *last_node;
};

enum { graphs_of_a_place = 8 };

static void drop(strata_gpu *gpu, strata_gpu_recording *r) {
  if (r->graph)
    gpu->cuda->exec_destroy(r->graph);
  free(r->key);
  free(r);
}

static strata_gpu_recording *find(strata_gpu *gpu, const void *place, const int64_t *key, int64_t count) {
  for (strata_gpu_recording *r = gpu->recordings; r; r = r->next)
    if (r->place == place && r->count == count && !memcmp(r->key, key, (size_t)count * sizeof(*key)))
      return r;
  return NULL;
}

/* Makes room for one more: where there are too many of a place, the one that was not used for longest goes. */
static void make_room(strata_gpu *gpu, const void *place) {
  strata_gpu_recording **oldest = NULL;
  int found = 0;
  for (strata_gpu_recording **at = &gpu->recordings; *at; at = &(*at)->next)
    if ((*at)->place == place) {
      ++found;
      if (!oldest || (*at)->used < (*oldest)->used)
        oldest = at;
    }
  if (found < graphs_of_a_place)
    return;
  strata_gpu_recording *r = *oldest;
  *oldest = r->next;
  /* It may still be running. */
  gpu->cuda->stream_wait(gpu->stream);
  drop(gpu, r);
}

int32_t strata_rt_gpu_graph_begin(const void *place, const int64_t *key, int64_t count) {
  strata_gpu *gpu = strata_gpu_current();
  if (gpu->wait_always)
    return 1;
  strata_gpu_flush(gpu);
  strata_gpu_recording *r = find(gpu, place, key, count);
  if (!r) {
    /* The first time loads the kernels, and what does not come again is not worth recording. */
    make_room(gpu, place);
    r = calloc(1, sizeof(*r));
    int64_t *copy = malloc(((size_t)count + 1) * sizeof(*key));
    if (!r || !copy) {
      free(r);
      free(copy);
      return 1;
    }
    memcpy(copy, key, (size_t)count * sizeof(*key));
    *r = (strata_gpu_recording){.next = gpu->recordings, .place = place, .key = copy, .count = count, .used = gpu->run};
    gpu->recordings = r;
    return 1;
  }
  r->used = gpu->run;
  if (r->graph) {
    strata_gpu_check(gpu, gpu->cuda->graph_launch(r->graph, gpu->stream), "starting the recorded kernels failed");
    gpu->last_kernel = r->last_kernel;
    gpu->last_node = r->last_node;
    ++gpu->writes;
    return 0;
  }
  if (!r->refused && gpu->cuda->capture_begin(gpu->stream, CUDA_CAPTURE_THREAD_LOCAL))
    r->refused = true;
  gpu->capturing = r->refused ? NULL : r;
  return 1;
}

void strata_rt_gpu_graph_end(void) {
  strata_gpu *gpu = strata_gpu_current();
  strata_gpu_recording *r = gpu->capturing;
  if (!r)
    return;
  gpu->capturing = NULL;
  cuda_graph *graph = NULL;
  strata_gpu_check(gpu, gpu->cuda->capture_end(gpu->stream, &graph), "recording the kernels failed");
  cuda_result result = gpu->cuda->graph_instantiate(&r->graph, graph, 0);
  gpu->cuda->graph_destroy(graph);
  if (result)
    r->graph = NULL;
  strata_gpu_check(gpu, result, "recording the kernels failed");
  r->last_kernel = gpu->last_kernel;
  r->last_node = gpu->last_node;
  strata_gpu_check(gpu, gpu->cuda->graph_launch(r->graph, gpu->stream), "starting the recorded kernels failed");
}

void strata_gpu_abandon_recording(strata_gpu *gpu) {
  cuda_graph *graph = NULL;
  if (gpu->capturing && !gpu->cuda->capture_end(gpu->stream, &graph) && graph)
    gpu->cuda->graph_destroy(graph);
  gpu->capturing = NULL;
}

void strata_gpu_free_recordings(strata_gpu *gpu) {
  strata_gpu_abandon_recording(gpu);
  while (gpu->recordings) {
    strata_gpu_recording *next = gpu->recordings->next;
    drop(gpu, gpu->recordings);
    gpu->recordings = next;
  }
}
