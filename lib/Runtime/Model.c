/* Models: opened from a shared object or linked in; computed constants are filled once. */
#include "Internal.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t init_mutex = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local void (*done_hook)(void *context, int64_t slot, int64_t begin, int64_t end);
static _Thread_local void *done_context;

void strata_rt_on_constant_done(void (*hook)(void *context, int64_t slot, int64_t begin, int64_t end), void *context) {
  done_hook = hook;
  done_context = context;
}

void strata_rt_constant_done(int64_t slot, int64_t begin, int64_t end) {
  if (done_hook)
    done_hook(done_context, slot, begin, end);
}

/* Runs the model's init in a run of its own. Its buffers are scratch: constants live in the table. */
static int fill_constants(const strata_model_descriptor *descriptor) {
  if (!descriptor->init)
    return 0;
  int failed = 0;
  pthread_mutex_lock(&init_mutex);
  if (!*descriptor->init_done) {
    strata_run run = {.heap = strata_heap_create(0), .pool = strata_pool_create(0)};
    if (!run.heap || !run.pool)
      failed = strata_set_last_error("model '%s': out of memory", descriptor->name);
    else if (!strata_run_call(&run, descriptor->init, NULL))
      failed = strata_set_last_error("model '%s': computing the constants failed: %s", descriptor->name, run.message);
    else
      *descriptor->init_done = 1;
    strata_pool_destroy(run.pool);
    if (run.heap) {
      strata_heap_end_run(run.heap, &run.blocks);
      strata_heap_release(run.heap);
    }
  }
  pthread_mutex_unlock(&init_mutex);
  return failed;
}

int strata_model_from_descriptor(const strata_model_descriptor *descriptor, strata_model **model) {
  *model = NULL;
  if (descriptor->abi_version != STRATA_ABI_VERSION)
    return strata_set_last_error("the model was compiled for version %u of the runtime's interface, this is version %d",
                                 descriptor->abi_version, STRATA_ABI_VERSION);
  /* Versions may read what the model's own init has computed. */
  if (strata_check_cpu(descriptor) || fill_constants(descriptor))
    return 1;
  for (uint32_t i = 0; i < descriptor->num_versions; ++i)
    if (fill_constants(descriptor->versions[i]))
      return 1;
  strata_model *result = calloc(1, sizeof(*result));
  if (!result)
    return strata_set_last_error("out of memory");
  result->descriptor = descriptor;
  result->references = 1;
  *model = result;
  return 0;
}

int strata_model_load(const char *path, strata_model **model) {
  *model = NULL;
  /* dlopen searches for what has no slash; a path is always meant here. */
  char *file = realpath(path, NULL);
  if (!file)
    return strata_set_last_error("cannot open '%s': no such file", path);
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  free(file);
  if (!library)
    return strata_set_last_error("cannot load '%s': %s", path, dlerror());
  const strata_model_descriptor *const *entry = dlsym(library, "strata_model_entry");
  if (!entry) {
    dlclose(library);
    return strata_set_last_error("'%s' is not a model compiled by strata-compile --emit=lib", path);
  }
  if (strata_model_from_descriptor(*entry, model)) {
    dlclose(library);
    return 1;
  }
  (*model)->library = library;
  return 0;
}

void strata_model_retain(strata_model *model) { atomic_fetch_add(&model->references, 1); }

void strata_model_free(strata_model *model) {
  if (!model || atomic_fetch_sub(&model->references, 1) != 1)
    return;
  if (model->library)
    dlclose(model->library);
  free(model);
}

const strata_model_descriptor *strata_model_get_descriptor(const strata_model *model) { return model->descriptor; }
size_t strata_model_num_inputs(const strata_model *model) { return model->descriptor->num_inputs; }
size_t strata_model_num_outputs(const strata_model *model) { return model->descriptor->num_outputs; }
const strata_value_info *strata_model_input(const strata_model *model, size_t index) {
  return index < model->descriptor->num_inputs ? &model->descriptor->inputs[index] : NULL;
}
const strata_value_info *strata_model_output(const strata_model *model, size_t index) {
  return index < model->descriptor->num_outputs ? &model->descriptor->outputs[index] : NULL;
}
