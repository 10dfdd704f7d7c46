/* Sessions: check the inputs, build the descriptors of the entry ABI, run, hand the results over. */
#include "Internal.h"
#include "Profiler.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

typedef strata_memref memref;

struct strata_session {
  strata_model *model;
  pthread_mutex_t mutex;
  strata_run run;
  strata_pool *pool;
  strata_pace pace;
  strata_profiler *profiler;
  int32_t threads;
  void **args;      /* results, then inputs */
  int64_t *handles; /* of those of them that are no tensors */
  int32_t *symbols; /* of each dimension of each input: which symbolic dimension it is, or -1 */
  int64_t *sizes;   /* of each symbolic dimension in this run, -1: not seen yet */
  int32_t *seen_in; /* the input it was seen in */
  int32_t num_symbols;
  const strata_model_descriptor **versions; /* null: those of the model */
  size_t num_versions;
};

static size_t memref_bytes(int32_t rank) { return sizeof(memref) + 2 * (size_t)rank * sizeof(int64_t); }

/* Gives equal names of dynamic dimensions equal numbers. */
static void number_symbols(strata_session *session) {
  const strata_model_descriptor *d = session->model->descriptor;
  int32_t *at = session->symbols;
  for (uint32_t i = 0; i < d->num_inputs; ++i)
    for (int32_t j = 0; j < d->inputs[i].rank; ++j, ++at) {
      const char *name = d->inputs[i].dim_names ? d->inputs[i].dim_names[j] : "";
      *at = -1;
      if (d->inputs[i].dims[j] >= 0 || !name || !*name)
        continue;
      int32_t *earlier = session->symbols;
      for (uint32_t k = 0; k <= i && *at < 0; ++k)
        for (int32_t l = 0; l < d->inputs[k].rank && earlier < at; ++l, ++earlier)
          if (*earlier >= 0 && strcmp(d->inputs[k].dim_names[l], name) == 0) {
            *at = *earlier;
            break;
          }
      if (*at < 0)
        *at = session->num_symbols++;
    }
}

int strata_session_create(strata_model *model, const strata_session_options *options, strata_session **result) {
  const strata_session_options defaults = {0};
  if (!options)
    options = &defaults;
  *result = NULL;
  if (options->threads < 0)
    return strata_set_last_error("the number of threads is negative");
  if (options->has_device && options->device < 0)
    return strata_set_last_error("the number of the device is negative");
  strata_session *session = calloc(1, sizeof(*session));
  if (!session)
    return strata_set_last_error("out of memory");
  strata_model_retain(model);
  session->model = model;
  pthread_mutex_init(&session->mutex, NULL);
  session->threads = options->threads ? options->threads : strata_available_cores();
  session->run.seed = options->seed;
  session->run.advance_seeds = options->advance_seeds != 0;
  session->run.gpu_device = options->has_device ? options->device : -1;
  session->run.device_results = options->device_results != 0;
  if (!options->has_seed && getrandom(&session->run.seed, sizeof(uint64_t), 0) != sizeof(uint64_t))
    session->run.seed = (uint64_t)time(NULL);
  const strata_model_descriptor *d = model->descriptor;
  size_t dims = 0, bytes = 0, values = (size_t)d->num_outputs + d->num_inputs;
  for (size_t i = 0; i < values; ++i) {
    const strata_value_info *info = i < d->num_outputs ? &d->outputs[i] : &d->inputs[i - d->num_outputs];
    bytes += memref_bytes(info->rank);
    if (i >= d->num_outputs)
      dims += (size_t)info->rank;
  }
  session->args = malloc(values * sizeof(void *) + bytes + 1);
  session->handles = calloc(values + 1, sizeof(int64_t));
  session->symbols = malloc((dims + 1) * sizeof(int32_t));
  session->sizes = malloc((dims + 1) * sizeof(int64_t));
  session->seen_in = malloc((dims + 1) * sizeof(int32_t));
  session->run.heap = strata_heap_create(options->memory_limit);
  session->pool = session->run.pool = strata_pool_create(session->threads);
  if (options->profile)
    session->profiler = session->run.profiler = strata_profiler_create();
  if (!session->args || !session->handles || !session->symbols || !session->sizes || !session->seen_in ||
      !session->run.heap || !session->pool || (options->profile && !session->profiler)) {
    strata_session_free(session);
    return strata_set_last_error("out of memory");
  }
  char *at = (char *)(session->args + values);
  for (size_t i = 0; i < values; ++i) {
    session->args[i] = at;
    at += memref_bytes(i < d->num_outputs ? d->outputs[i].rank : d->inputs[i - d->num_outputs].rank);
  }
  number_symbols(session);
  *result = session;
  return 0;
}

void strata_session_free(strata_session *session) {
  if (!session)
    return;
  strata_pool_destroy(session->pool);
  strata_gpu_release(session->run.gpu);
  if (session->run.heap)
    strata_heap_release(session->run.heap);
  strata_profiler_destroy(session->profiler);
  strata_random_end(&session->run);
  free(session->args);
  free(session->handles);
  free(session->symbols);
  free(session->sizes);
  free(session->seen_in);
  free(session->versions);
  pthread_mutex_destroy(&session->mutex);
  strata_model_free(session->model);
  free(session);
}

int32_t strata_session_threads(const strata_session *session) { return session->threads; }

size_t strata_session_profile(strata_session *session, const strata_profile_entry **entries) {
  return strata_profiler_entries(session->profiler, entries);
}

void strata_session_profile_reset(strata_session *session) { strata_profiler_reset(session->profiler); }

static const char *type_name(int32_t dtype) {
  const char *name = strata_dtype_name(dtype);
  return name ? name : "an unknown type";
}

/* "input 'x'" with its position where it has no name. */
static const char *input_label(const strata_model_descriptor *d, uint32_t index, char *buffer, size_t size) {
  if (d->inputs[index].name && *d->inputs[index].name)
    snprintf(buffer, size, "input '%.200s'", d->inputs[index].name);
  else
    snprintf(buffer, size, "input %u", index);
  return buffer;
}

static void format_shape(char *buffer, size_t size, const int64_t *dims, const char *const *names, int32_t rank) {
  size_t used = (size_t)snprintf(buffer, size, "[");
  for (int32_t i = 0; i < rank && used < size; ++i) {
    const char *separator = i ? ", " : "";
    if (dims[i] >= 0 || !names)
      used += (size_t)snprintf(buffer + used, size - used, "%s%" PRId64, separator, dims[i]);
    else
      used +=
          (size_t)snprintf(buffer + used, size - used, "%s%.60s", separator, names[i] && *names[i] ? names[i] : "?");
  }
  if (used < size)
    snprintf(buffer + used, size - used, "]");
}

static int check_input(strata_session *session, uint32_t index, const strata_tensor *tensor, const int32_t *symbols) {
  const strata_model_descriptor *d = session->model->descriptor;
  const strata_value_info *info = &d->inputs[index];
  char label[256], want[512], got[512], other[256];
  if (info->element)
    return strata_check_value(info, tensor, input_label(d, index, label, sizeof(label)));
  if (tensor->dtype != info->dtype)
    return strata_set_last_error("%s has element type %s, the model expects %s",
                                 input_label(d, index, label, sizeof(label)), type_name(tensor->dtype),
                                 type_name(info->dtype));
  if (tensor->rank != info->rank) {
    format_shape(want, sizeof(want), info->dims, info->dim_names, info->rank);
    format_shape(got, sizeof(got), tensor->shape, NULL, tensor->rank);
    return strata_set_last_error("%s has rank %d (shape %s), the model expects rank %d (shape %s)",
                                 input_label(d, index, label, sizeof(label)), tensor->rank, got, info->rank, want);
  }
  bool empty = false;
  for (int32_t j = 0; j < info->rank; ++j) {
    int64_t size = tensor->shape[j];
    empty |= size == 0;
    if (size < 0 || (info->dims[j] >= 0 && size != info->dims[j])) {
      format_shape(want, sizeof(want), info->dims, info->dim_names, info->rank);
      format_shape(got, sizeof(got), tensor->shape, NULL, tensor->rank);
      return strata_set_last_error("%s has shape %s, the model expects %s: dimension %d differs",
                                   input_label(d, index, label, sizeof(label)), got, want, j);
    }
    int32_t symbol = symbols[j];
    if (symbol < 0)
      continue;
    if (session->sizes[symbol] < 0) {
      session->sizes[symbol] = size;
      session->seen_in[symbol] = (int32_t)index;
    } else if (session->sizes[symbol] != size) {
      return strata_set_last_error("dimension '%s' is %" PRId64 " in %s, but %" PRId64 " in %s", info->dim_names[j],
                                   session->sizes[symbol],
                                   input_label(d, (uint32_t)session->seen_in[symbol], other, sizeof(other)), size,
                                   input_label(d, index, label, sizeof(label)));
    }
  }
  if (!tensor->data && !empty)
    return strata_set_last_error("%s has no data", input_label(d, index, label, sizeof(label)));
  return 0;
}

/* Whether the model has kernels of a GPU: a line "gpu: ..." of its metadata. */
static bool is_for_gpu(const strata_model_descriptor *d) {
  return d->metadata && (strncmp(d->metadata, "gpu: ", 5) == 0 || strstr(d->metadata, "\ngpu: "));
}

/* An input in the memory of a GPU: a contiguous one of the session's device, which stays where it is. */
static int bind_device_input(strata_session *session, uint32_t index, const strata_tensor *tensor, bool direct,
                             uint64_t bytes) {
  const strata_model_descriptor *d = session->model->descriptor;
  char name[256];
  input_label(d, index, name, sizeof(name));
  if (tensor->device_type != STRATA_CUDA)
    return strata_set_last_error("%s is on a device of type %d, which Strata does not know", name, tensor->device_type);
  if (!is_for_gpu(d))
    return strata_set_last_error("%s is on a GPU, and the model was compiled for the CPU", name);
  if (!direct)
    return strata_set_last_error("%s is on the GPU and not contiguous", name);
  if (strata_narrow_shift(tensor->dtype) || tensor->dtype == STRATA_STRING)
    return strata_set_last_error("%s of %s must be in the host's memory", name, type_name(tensor->dtype));
  strata_gpu_borrow(tensor->data, bytes);
  int ordinal = strata_gpu_ordinal(session->run.gpu);
  if (tensor->device_id != ordinal)
    return strata_set_last_error("%s is on GPU %d, and the session runs on GPU %d", name, tensor->device_id, ordinal);
  return 0;
}

static int bind_input(strata_session *session, uint32_t index, const strata_tensor *tensor) {
  const strata_model_descriptor *d = session->model->descriptor;
  memref *m = session->args[d->num_outputs + index];
  int32_t rank = tensor->rank;
  size_t element = strata_inner_size(tensor->dtype);
  if (d->inputs[index].element) {
    session->handles[d->num_outputs + index] = (int64_t)(intptr_t)strata_value_to_object(tensor);
    m->allocated = m->aligned = (char *)&session->handles[d->num_outputs + index];
    m->offset = 0;
    return 0;
  }
  m->offset = 0;
  memcpy(m->sizes, tensor->shape, (size_t)rank * sizeof(int64_t));
  uint64_t count = strata_element_count(tensor->shape, rank);
  size_t alignment = element > 8 ? 8 : element; /* complex numbers are pairs */
  bool direct = strata_row_major(tensor->shape, tensor->strides, rank, m->sizes + rank) || count == 0;
  m->allocated = m->aligned = tensor->data;
  bool strings = tensor->dtype == STRATA_STRING;
  if (tensor->device_type && tensor->device_type != STRATA_CPU)
    return bind_device_input(session, index, tensor, direct, count * element);
  if (direct && (uintptr_t)tensor->data % alignment == 0 && !strata_narrow_shift(tensor->dtype) && !strings)
    return 0;
  char label[256], error[STRATA_MESSAGE];
  strata_block *block = strata_heap_alloc(session->run.heap, &session->run.blocks, count * element, 64, false, error);
  if (!block)
    return strata_set_last_error("%s: %s", input_label(d, index, label, sizeof(label)), error);
  m->allocated = m->aligned = strata_block_data(block);
  if (strings)
    strata_strings_to_handles(tensor, (int64_t *)m->aligned);
  else
    strata_copy(m->aligned, NULL, tensor->data, tensor->strides, element, rank, tensor->shape);
  if (strata_narrow_shift(tensor->dtype))
    strata_extend_narrow((uint8_t *)m->aligned, count, tensor->dtype);
  return 0;
}

/* Binding allocates as runs do, so it is a run too. */
typedef struct {
  strata_session *session;
  const strata_tensor *inputs;
  int failed;
} binding;

static void bind_inputs(void **args) {
  binding *work = args[0];
  for (uint32_t i = 0; i < work->session->model->descriptor->num_inputs && !work->failed; ++i)
    work->failed = bind_input(work->session, i, &work->inputs[i]);
}

/* What `owner` of a result points to. */
typedef struct {
  strata_block *block; /* on the host, or */
  strata_gpu_buffer *buffer;
  int64_t shape[];
} result_owner;

static void release_result(strata_tensor *tensor) {
  result_owner *owner = tensor->owner;
  if (!owner)
    return;
  if (owner->buffer)
    strata_gpu_give_back(owner->buffer);
  else
    strata_heap_give_back(owner->block);
  free(owner);
  memset(tensor, 0, sizeof(*tensor));
}

/* A block of the run that becomes the caller's. */
static strata_block *result_block(strata_session *session, uint32_t index, uint64_t bytes, result_owner *owner) {
  char error[STRATA_MESSAGE];
  strata_block *block = strata_heap_alloc(session->run.heap, &session->run.blocks, bytes, 64, false, error);
  if (!block) {
    strata_set_last_error("output '%s': %s", session->model->descriptor->outputs[index].name, error);
    free(owner);
  }
  return block;
}

/* Sequences, optionals, maps: a copy in one block. */
static int take_container(strata_session *session, uint32_t index, strata_tensor *tensor) {
  const memref *m = session->args[index];
  const strata_tensor *object = (const strata_tensor *)(intptr_t)((const int64_t *)m->aligned)[m->offset];
  result_owner *owner = malloc(sizeof(*owner));
  if (!owner)
    return strata_set_last_error("out of memory");
  owner->buffer = NULL;
  owner->block = result_block(session, index, strata_object_bytes(object), owner);
  if (!owner->block)
    return 1;
  *tensor = strata_object_to_value(object, strata_block_data(owner->block));
  tensor->release = release_result;
  tensor->owner = owner;
  strata_heap_hand_over(&session->run.blocks, owner->block);
  return 0;
}

static int take_result(strata_session *session, uint32_t index, strata_tensor *tensor) {
  const strata_value_info *info = &session->model->descriptor->outputs[index];
  if (info->element)
    return take_container(session, index, tensor);
  strata_run *run = &session->run;
  const memref *m = session->args[index];
  int32_t rank = info->rank;
  size_t element = strata_inner_size(info->dtype);
  result_owner *owner = malloc(sizeof(*owner) + (size_t)(rank ? rank : 1) * 2 * sizeof(int64_t));
  if (!owner)
    return strata_set_last_error("out of memory");
  int64_t *strides = owner->shape + rank;
  memcpy(owner->shape, m->sizes, (size_t)rank * sizeof(int64_t));
  uint64_t count = strata_element_count(m->sizes, rank), bytes = count * element;
  char *data = m->aligned + m->offset * (int64_t)element;
  bool direct = strata_row_major(m->sizes, m->sizes + rank, rank, strides) || bytes == 0;
  strata_tensor result = {
      .dtype = info->dtype, .rank = rank, .shape = owner->shape, .release = release_result, .owner = owner};
  owner->buffer = run->device_results ? strata_gpu_take(run->gpu, data) : NULL;
  if (owner->buffer) {
    result.data = data;
    result.device_type = STRATA_CUDA;
    result.device_id = strata_gpu_ordinal(run->gpu);
    *tensor = result;
    return 0;
  }
  strata_block *block = strata_heap_find(run->heap, &run->blocks, data);
  /* An input, a constant, a part of a much larger buffer, or a buffer that was handed over as an earlier result. */
  if (!block || !direct || block->capacity > 2 * bytes + 4096) {
    block = result_block(session, index, bytes, owner);
    if (!block)
      return 1;
    strata_copy(strata_block_data(block), NULL, data, m->sizes + rank, element, rank, m->sizes);
    data = strata_block_data(block);
  }
  if (info->dtype == STRATA_STRING) {
    const int64_t *handles = (const int64_t *)data;
    block = result_block(session, index, strata_string_bytes(handles, count), owner);
    if (!block)
      return 1;
    data = strata_block_data(block);
    strata_handles_to_strings(handles, count, data);
  }
  strata_heap_hand_over(&run->blocks, block);
  owner->block = block;
  result.data = data;
  *tensor = result;
  return 0;
}

int strata_result_read(const strata_tensor *result, void *to) {
  const result_owner *owner = result->owner;
  uint64_t bytes = strata_element_count(result->shape, result->rank) * strata_dtype_size(result->dtype);
  if (result->device_type == STRATA_CUDA)
    return strata_gpu_read(owner->buffer, to, bytes);
  memcpy(to, result->data, bytes);
  return 0;
}

/* Results may share a buffer: whoever comes later copies, so nobody may copy from what is already the caller's. The
 * buffers stay valid until the caller releases them, which cannot be before this returns. */
static int take_results(strata_session *session, strata_tensor *outputs, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    if (take_result(session, i, &outputs[i])) {
      while (i-- > 0)
        outputs[i].release(&outputs[i]);
      return 1;
    }
  return 0;
}

static bool fits(const strata_model_descriptor *version, const strata_tensor *inputs) {
  for (uint32_t i = 0; i < version->num_inputs; ++i)
    for (int32_t j = 0; j < version->inputs[i].rank; ++j)
      if (version->inputs[i].dims[j] >= 0 && version->inputs[i].dims[j] != inputs[i].shape[j])
        return false;
  return true;
}

/* The one place that decides which code runs. The inputs have been checked. */
static void (*choose_code(const strata_session *session, const strata_tensor *inputs))(void **) {
  const strata_model_descriptor *d = session->model->descriptor;
  const strata_model_descriptor *const *versions = session->versions ? session->versions : d->versions;
  size_t count = session->versions ? session->num_versions : d->num_versions;
  for (size_t i = 0; i < count; ++i)
    if (fits(versions[i], inputs))
      return versions[i]->main;
  return d->main;
}

int strata_session_set_versions(strata_session *session, const strata_model_descriptor *const *versions, size_t count) {
  const strata_model_descriptor *d = session->model->descriptor;
  for (size_t i = 0; i < count; ++i)
    if (versions[i]->num_inputs != d->num_inputs || versions[i]->num_outputs != d->num_outputs)
      return strata_set_last_error("a version of '%s' has other inputs or outputs", d->name);
  const strata_model_descriptor **copy = malloc((count + 1) * sizeof(*copy));
  if (!copy)
    return strata_set_last_error("out of memory");
  if (count)
    memcpy(copy, versions, count * sizeof(*copy));
  pthread_mutex_lock(&session->mutex);
  const strata_model_descriptor **old = session->versions;
  session->versions = copy;
  session->num_versions = count;
  pthread_mutex_unlock(&session->mutex);
  free(old);
  return 0;
}

/* A number for the sizes of the inputs. */
static uint64_t sizes_of(const strata_session *session, const strata_tensor *inputs) {
  const strata_model_descriptor *d = session->model->descriptor;
  uint64_t hash = 0;
  for (uint32_t i = 0; i < d->num_inputs; ++i)
    for (int32_t j = 0; !d->inputs[i].element && j < inputs[i].rank; ++j) {
      hash = (hash ^ (uint64_t)inputs[i].shape[j]) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 32;
    }
  return hash;
}

/* Runs the code on as many threads as pays. */
static bool run_code(strata_session *session, const strata_tensor *inputs) {
  strata_run *run = &session->run;
  void (*code)(void **) = choose_code(session, inputs);
  if (session->profiler || run->gpu || !strata_pool_is_used(session->pool))
    return strata_run_call(run, code, session->args);
  if (!strata_pace_shares(&session->pace, sizes_of(session, inputs)))
    run->pool = NULL;
  uint64_t begin = strata_now_ns();
  bool done = strata_run_call(run, code, session->args);
  if (done)
    strata_pace_took(&session->pace, strata_now_ns() - begin);
  run->pool = session->pool;
  return done;
}

static int run_locked(strata_session *session, const strata_tensor *inputs, strata_tensor *outputs) {
  const strata_model_descriptor *d = session->model->descriptor;
  strata_run *run = &session->run;
  for (int32_t i = 0; i < session->num_symbols; ++i)
    session->sizes[i] = -1;
  const int32_t *symbols = session->symbols;
  for (uint32_t i = 0; i < d->num_inputs; symbols += d->inputs[i++].rank)
    if (check_input(session, i, &inputs[i], symbols))
      return 1;
  atomic_store_explicit(&run->failed, 0, memory_order_relaxed);
  strata_random_begin_run(run);
  run->objects = run->objects_end = NULL;
  binding work = {session, inputs, 0};
  void *work_args[] = {&work};
  if (!strata_run_call(run, bind_inputs, work_args))
    return strata_set_last_error("%s", run->message);
  if (work.failed)
    return 1;
  bool done = run_code(session, inputs);
  ++run->number;
  if (!done)
    return strata_set_last_error("%s", run->message);
  return take_results(session, outputs, d->num_outputs);
}

int strata_session_run(strata_session *session, const strata_tensor *inputs, size_t num_inputs, strata_tensor *outputs,
                       size_t num_outputs) {
  const strata_model_descriptor *d = session->model->descriptor;
  if (num_inputs != d->num_inputs)
    return strata_set_last_error("the model has %u input%s, %zu given", d->num_inputs, d->num_inputs == 1 ? "" : "s",
                                 num_inputs);
  if (num_outputs != d->num_outputs)
    return strata_set_last_error("the model has %u output%s, %zu asked for", d->num_outputs,
                                 d->num_outputs == 1 ? "" : "s", num_outputs);
  pthread_mutex_lock(&session->mutex);
  int failed = run_locked(session, inputs, outputs);
  strata_gpu_end_run(session->run.gpu);
  strata_heap_end_run(session->run.heap, &session->run.blocks);
  pthread_mutex_unlock(&session->mutex);
  return failed;
}
