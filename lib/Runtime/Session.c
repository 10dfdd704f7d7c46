/* Sessions: check the inputs, build the descriptors of the entry ABI, run, hand the results over. */
#include "Internal.h"
#include "Profiler.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* MLIR's memref descriptor of a rank: two pointers, offset, sizes, strides. */
typedef struct {
  char *allocated, *aligned;
  int64_t offset;
  int64_t sizes[]; /* rank sizes, then rank strides */
} memref;

struct strata_session {
  strata_model *model;
  pthread_mutex_t mutex;
  strata_run run;
  strata_profiler *profiler;
  int32_t threads;
  void **args;       /* results, then inputs */
  int32_t *symbols;  /* of each dimension of each input: which symbolic dimension it is, or -1 */
  int64_t *sizes;    /* of each symbolic dimension in this run, -1: not seen yet */
  int32_t *seen_in;  /* the input it was seen in */
  int32_t num_symbols;
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
  strata_session *session = calloc(1, sizeof(*session));
  if (!session)
    return strata_set_last_error("out of memory");
  strata_model_retain(model);
  session->model = model;
  pthread_mutex_init(&session->mutex, NULL);
  session->threads = options->threads ? options->threads : strata_available_cores();
  session->run.seed = options->seed;
  session->run.advance_seeds = options->advance_seeds != 0;
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
  session->symbols = malloc((dims + 1) * sizeof(int32_t));
  session->sizes = malloc((dims + 1) * sizeof(int64_t));
  session->seen_in = malloc((dims + 1) * sizeof(int32_t));
  session->run.heap = strata_heap_create(options->memory_limit);
  session->run.pool = strata_pool_create(session->threads);
  if (options->profile)
    session->profiler = session->run.profiler = strata_profiler_create();
  if (!session->args || !session->symbols || !session->sizes || !session->seen_in || !session->run.heap ||
      !session->run.pool || (options->profile && !session->profiler)) {
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
  strata_pool_destroy(session->run.pool);
  if (session->run.heap)
    strata_heap_release(session->run.heap);
  strata_profiler_destroy(session->profiler);
  strata_random_end(&session->run);
  free(session->args);
  free(session->symbols);
  free(session->sizes);
  free(session->seen_in);
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
      used += (size_t)snprintf(buffer + used, size - used, "%s%.60s", separator, names[i] && *names[i] ? names[i] : "?");
  }
  if (used < size)
    snprintf(buffer + used, size - used, "]");
}

static int check_input(strata_session *session, uint32_t index, const strata_tensor *tensor, const int32_t *symbols) {
  const strata_model_descriptor *d = session->model->descriptor;
  const strata_value_info *info = &d->inputs[index];
  char label[256], want[512], got[512], other[256];
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

/* Copies a strided tensor to a row-major one; strides in elements. */
static void copy_strided(char *to, const char *from, size_t element, int32_t rank, const int64_t *sizes,
                         const int64_t *strides) {
  if (rank == 0) {
    memcpy(to, from, element);
    return;
  }
  int64_t inner = 1;
  for (int32_t i = 1; i < rank; ++i)
    inner *= sizes[i];
  bool contiguous = true;
  int64_t expected = 1;
  for (int32_t i = rank - 1; i >= 0; --i) {
    contiguous &= sizes[i] == 1 || strides[i] == expected;
    expected *= sizes[i];
  }
  if (contiguous) {
    memcpy(to, from, (size_t)expected * element);
    return;
  }
  for (int64_t i = 0; i < sizes[0]; ++i)
    copy_strided(to + (size_t)(i * inner) * element, from + i * strides[0] * (int64_t)element, element, rank - 1,
                 sizes + 1, strides + 1);
}

static uint64_t element_count(const int64_t *sizes, int32_t rank) {
  uint64_t count = 1;
  for (int32_t i = 0; i < rank; ++i)
    if (sizes[i] == 0)
      return 0;
  for (int32_t i = 0; i < rank; ++i)
    if (__builtin_mul_overflow(count, (uint64_t)sizes[i], &count))
      return UINT64_MAX / 16; /* no memory holds so much: the allocation says so */
  return count;
}

/* Row-major strides; false if `strides` (may be null) says something else for a dimension that matters. */
static bool row_major(const int64_t *sizes, const int64_t *strides, int32_t rank, int64_t *result) {
  bool same = true;
  int64_t stride = 1;
  for (int32_t i = rank - 1; i >= 0; --i) {
    result[i] = stride;
    same &= !strides || sizes[i] == 1 || strides[i] == stride;
    stride *= sizes[i];
  }
  return same;
}

/* How far the integers below a byte are to be shifted left and back; 0 for the other types. */
static unsigned narrow_shift(int32_t dtype) {
  return dtype == STRATA_INT4 || dtype == STRATA_UINT4 ? 4 : dtype == STRATA_INT2 || dtype == STRATA_UINT2 ? 6 : 0;
}

static void extend_narrow(uint8_t *data, uint64_t count, int32_t dtype) {
  unsigned shift = narrow_shift(dtype);
  bool is_signed = dtype == STRATA_INT4 || dtype == STRATA_INT2;
  for (uint64_t i = 0; i < count; ++i) {
    uint8_t high = (uint8_t)(data[i] << shift);
    data[i] = is_signed ? (uint8_t)((int8_t)high >> shift) : (uint8_t)(high >> shift);
  }
}

static int bind_input(strata_session *session, uint32_t index, const strata_tensor *tensor) {
  const strata_model_descriptor *d = session->model->descriptor;
  memref *m = session->args[d->num_outputs + index];
  int32_t rank = tensor->rank;
  size_t element = strata_dtype_size(tensor->dtype);
  m->offset = 0;
  memcpy(m->sizes, tensor->shape, (size_t)rank * sizeof(int64_t));
  uint64_t count = element_count(tensor->shape, rank);
  size_t alignment = element > 8 ? 8 : element; /* complex numbers are pairs */
  bool direct = row_major(tensor->shape, tensor->strides, rank, m->sizes + rank) || count == 0;
  m->allocated = m->aligned = tensor->data;
  if (direct && (uintptr_t)tensor->data % alignment == 0 && !narrow_shift(tensor->dtype))
    return 0;
  char label[256], error[STRATA_MESSAGE];
  strata_block *block = strata_heap_alloc(session->run.heap, &session->run.blocks, count * element, 64, error);
  if (!block)
    return strata_set_last_error("%s: %s", input_label(d, index, label, sizeof(label)), error);
  m->allocated = m->aligned = strata_block_data(block);
  if (count)
    copy_strided(m->aligned, tensor->data, element, rank, tensor->shape,
                 tensor->strides ? tensor->strides : m->sizes + rank);
  if (narrow_shift(tensor->dtype))
    extend_narrow((uint8_t *)m->aligned, count, tensor->dtype);
  return 0;
}

/* What `owner` of a result points to. */
typedef struct {
  strata_block *block;
  int64_t shape[];
} result_owner;

static void release_result(strata_tensor *tensor) {
  result_owner *owner = tensor->owner;
  if (!owner)
    return;
  strata_heap_give_back(owner->block);
  free(owner);
  memset(tensor, 0, sizeof(*tensor));
}

static int take_result(strata_session *session, uint32_t index, strata_tensor *tensor) {
  const strata_value_info *info = &session->model->descriptor->outputs[index];
  strata_run *run = &session->run;
  const memref *m = session->args[index];
  int32_t rank = info->rank;
  size_t element = strata_dtype_size(info->dtype);
  result_owner *owner = malloc(sizeof(*owner) + (size_t)(rank ? rank : 1) * 2 * sizeof(int64_t));
  if (!owner)
    return strata_set_last_error("out of memory");
  int64_t *strides = owner->shape + rank;
  memcpy(owner->shape, m->sizes, (size_t)rank * sizeof(int64_t));
  uint64_t bytes = element_count(m->sizes, rank) * element;
  char *data = m->aligned + m->offset * (int64_t)element;
  bool direct = row_major(m->sizes, m->sizes + rank, rank, strides) || bytes == 0;
  strata_block *block = strata_heap_find(run->heap, &run->blocks, data);
  /* An input, a constant, a part of a much larger buffer, or a buffer that was handed over as an earlier result. */
  if (!block || !direct || block->capacity > 2 * bytes + 4096) {
    char error[STRATA_MESSAGE];
    block = strata_heap_alloc(run->heap, &run->blocks, bytes, 64, error);
    if (!block) {
      free(owner);
      return strata_set_last_error("output '%s': %s", info->name, error);
    }
    if (bytes)
      copy_strided(strata_block_data(block), data, element, rank, m->sizes, m->sizes + rank);
    data = strata_block_data(block);
  }
  strata_heap_hand_over(&run->blocks, block);
  owner->block = block;
  *tensor = (strata_tensor){.data = data,
                            .dtype = info->dtype,
                            .rank = rank,
                            .shape = owner->shape,
                            .release = release_result,
                            .owner = owner};
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

static int run_locked(strata_session *session, const strata_tensor *inputs, strata_tensor *outputs) {
  const strata_model_descriptor *d = session->model->descriptor;
  strata_run *run = &session->run;
  for (int32_t i = 0; i < session->num_symbols; ++i)
    session->sizes[i] = -1;
  const int32_t *symbols = session->symbols;
  for (uint32_t i = 0; i < d->num_inputs; symbols += d->inputs[i++].rank)
    if (check_input(session, i, &inputs[i], symbols))
      return 1;
  for (uint32_t i = 0; i < d->num_inputs; ++i)
    if (bind_input(session, i, &inputs[i]))
      return 1;
  atomic_store_explicit(&run->failed, 0, memory_order_relaxed);
  strata_random_begin_run(run);
  bool done = strata_run_call(run, d->main, session->args);
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
  strata_heap_end_run(session->run.heap, &session->run.blocks);
  pthread_mutex_unlock(&session->mutex);
  return failed;
}
