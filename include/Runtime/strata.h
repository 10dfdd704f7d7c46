/* Strata's public C API: run compiled models. Needs libstrata_runtime only.
 *
 *   strata_model *model;
 *   strata_session *session;
 *   if (strata_model_load("resnet50.so", &model) || strata_session_create(model, NULL, &session))
 *     die(strata_last_error());
 *   strata_tensor in = {.data = pixels, .dtype = STRATA_FLOAT, .rank = 4, .shape = (int64_t[]){1, 3, 224, 224}};
 *   strata_tensor out;
 *   if (strata_session_run(session, &in, 1, &out, 1))
 *     die(strata_last_error());
 *   use(out.data); out.release(&out);
 *
 * Functions that return int give 0, or non-zero with a message in strata_last_error(). */
#ifndef STRATA_RUNTIME_STRATA_H
#define STRATA_RUNTIME_STRATA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef STRATA_API
#define STRATA_API __attribute__((visibility("default")))
#endif

/* Element types, numbered as ONNX's TensorProto.DataType. In memory every element takes whole bytes: the 2-, 4- and
 * 6-bit types take one byte each, bool one byte holding 0 or 1. Integers come out sign- or zero-extended; of those that
 * are passed in only the low bits count. Elements of string tensors are strata_string.
 *
 * Beyond the element types: what a value is that is no tensor (strata_tensor says how it lies in memory). */
typedef enum strata_dtype {
  STRATA_UNDEFINED = 0,
  STRATA_FLOAT = 1,
  STRATA_UINT8 = 2,
  STRATA_INT8 = 3,
  STRATA_UINT16 = 4,
  STRATA_INT16 = 5,
  STRATA_INT32 = 6,
  STRATA_INT64 = 7,
  STRATA_STRING = 8,
  STRATA_BOOL = 9,
  STRATA_FLOAT16 = 10,
  STRATA_DOUBLE = 11,
  STRATA_UINT32 = 12,
  STRATA_UINT64 = 13,
  STRATA_COMPLEX64 = 14,
  STRATA_COMPLEX128 = 15,
  STRATA_BFLOAT16 = 16,
  STRATA_FLOAT8E4M3FN = 17,
  STRATA_FLOAT8E4M3FNUZ = 18,
  STRATA_FLOAT8E5M2 = 19,
  STRATA_FLOAT8E5M2FNUZ = 20,
  STRATA_UINT4 = 21,
  STRATA_INT4 = 22,
  STRATA_FLOAT4E2M1 = 23,
  STRATA_FLOAT8E8M0 = 24,
  STRATA_UINT2 = 25,
  STRATA_INT2 = 26,
  STRATA_FLOAT6E2M3 = 27,
  STRATA_FLOAT6E3M2 = 28,
  STRATA_SEQUENCE = 64,
  STRATA_OPTIONAL = 65,
  STRATA_MAP = 66
} strata_dtype;

/* A string: `length` bytes of UTF-8, which need not end with a zero and may contain some. */
typedef struct strata_string {
  const char *bytes;
  size_t length;
} strata_string;

/* ONNX's name of the type ("float", "bfloat16", ...), or null if there is none. */
STRATA_API const char *strata_dtype_name(int32_t dtype);
/* The type of that name, or STRATA_UNDEFINED. */
STRATA_API strata_dtype strata_dtype_from_name(const char *name);
/* Bytes that one element takes in memory; 0 for no such type. */
STRATA_API size_t strata_dtype_size(int32_t dtype);

/* A tensor in memory, after DLPack. The caller owns what it passes in and need not set release and owner; a tensor
 * that comes out of a run is released by its `release`, which may be called on any thread, after the session and the
 * model are gone too.
 *
 * It may also hold what is no tensor. A sequence has dtype STRATA_SEQUENCE, rank 1, its length as shape, and its
 * elements as data, an array of strata_tensor; a map has dtype STRATA_MAP, rank 1, shape {2}, and an array of two
 * tensors of rank 1, keys and values; an optional is its element, or, empty, has dtype STRATA_OPTIONAL and no data.
 * What a container that comes out of a run holds is released with it. */
typedef struct strata_tensor {
  void *data;
  int32_t dtype;
  int32_t rank;
  const int64_t *shape;
  const int64_t *strides; /* in elements; null: row-major without gaps */
  void (*release)(struct strata_tensor *);
  void *owner;
  int32_t device_type; /* where `data` is, as DLPack numbers it: STRATA_CPU (also 0), STRATA_CUDA */
  int32_t device_id;   /* which of the GPUs */
} strata_tensor;

enum { STRATA_CPU = 1, STRATA_CUDA = 2 };

/* An input or output of a model. dims[i] is -1 where the size is only known at run time; dim_names[i] is the symbolic
 * name of dimension i, or "" (equal names must have equal sizes in one run). Of a sequence or an optional, rank is 0
 * and `element` tells what is in it; of a map, `element` is an array of two, keys and values. The rank of a tensor in a
 * container is -1 where only the run tells it. */
typedef struct strata_value_info {
  const char *name;
  int32_t dtype;
  int32_t rank;
  const int64_t *dims;
  const char *const *dim_names;
  const struct strata_value_info *element; /* null for tensors */
} strata_value_info;

/* What a compiled model exports as NAME_model (its generated header declares it).
 *
 * A version is the same model compiled for known sizes of some symbolic dimensions: a descriptor of its own with the
 * same inputs and outputs, whose dims say the sizes. A run takes the first version whose inputs' dims are what it is
 * given, and the model's own code where there is none. */
#define STRATA_ABI_VERSION 3
typedef struct strata_model_descriptor {
  uint32_t abi_version;
  uint32_t num_inputs, num_outputs, num_constants;
  const char *name;
  const char *metadata; /* lines "key: value": compiler, triple, cpu, needs (instruction sets), ... */
  const strata_value_info *inputs, *outputs;
  void (*main)(void **args);
  void (*init)(void **args); /* fills computed constants at load; null if there are none left to fill */
  void **constants;
  uint32_t *init_done; /* set when init has run */
  uint32_t num_versions;
  const struct strata_model_descriptor *const *versions;
} strata_model_descriptor;

typedef struct strata_model strata_model;
typedef struct strata_session strata_session;

/* Opens a compiled model (a .so made by strata-compile --emit=lib). */
STRATA_API int strata_model_load(const char *path, strata_model **model);
/* Wraps a model that is linked into the program (strata-compile --emit=obj or staticlib). The descriptor stays the
 * caller's and must outlive the model. */
STRATA_API int strata_model_from_descriptor(const strata_model_descriptor *descriptor, strata_model **model);
/* Releases the model when its last session is gone. */
STRATA_API void strata_model_free(strata_model *model);
STRATA_API const strata_model_descriptor *strata_model_get_descriptor(const strata_model *model);
STRATA_API size_t strata_model_num_inputs(const strata_model *model);
STRATA_API size_t strata_model_num_outputs(const strata_model *model);
STRATA_API const strata_value_info *strata_model_input(const strata_model *model, size_t index);
STRATA_API const strata_value_info *strata_model_output(const strata_model *model, size_t index);

typedef struct strata_session_options {
  int32_t threads;  /* 0: all cores this process may use */
  int32_t has_seed; /* of the random operators without a seed of their own; 0: a new one for every session */
  uint64_t seed;
  uint64_t memory_limit; /* bytes that a run may hold at once; 0: the machine's memory */
  int32_t profile;       /* measure each node (if the model was compiled with profiling) */
  int32_t advance_seeds; /* random operators with a seed of their own give new values in every run, not the same ones */
  int32_t has_device;    /* of models that were compiled for a GPU; 0: STRATA_CUDA_DEVICE, or the first */
  int32_t device;        /* which GPU */
  int32_t device_results; /* results that kernels of a GPU have computed stay in its memory */
} strata_session_options;

/* A session owns threads and buffers that are reused from run to run. One run at a time: concurrent calls wait.
 * options may be null. */
STRATA_API int strata_session_create(strata_model *model, const strata_session_options *options,
                                     strata_session **session);
STRATA_API void strata_session_free(strata_session *session);
STRATA_API int32_t strata_session_threads(const strata_session *session);

/* Runs the model once, inputs and outputs in the order of the model. Contiguous inputs are not copied, and neither
 * are outputs. On failure no output is filled. A model for a GPU also takes contiguous tensors in the memory of its
 * device; they must be complete, or be written by work on the device's default stream. */
STRATA_API int strata_session_run(strata_session *session, const strata_tensor *inputs, size_t num_inputs,
                                  strata_tensor *outputs, size_t num_outputs);

/* Gives the session other versions of its model, instead of those that the descriptor lists; the array is copied. Waits
 * for the current run: when this returns, the session uses nothing of the earlier ones any more. The descriptors are
 * the caller's, have filled constants, and outlive the session or the next call. */
STRATA_API int strata_session_set_versions(strata_session *session, const strata_model_descriptor *const *versions,
                                           size_t count);

/* Copies the elements of a result, which may be in a GPU's memory, to `to` on the host. */
STRATA_API int strata_result_read(const strata_tensor *result, void *to);

typedef struct strata_profile_entry {
  const char *name;
  uint64_t calls;
  uint64_t nanoseconds;
  uint64_t operations, bytes; /* of all calls, as far as they are known */
} strata_profile_entry;
/* What was measured per node since the session was made or the profile was reset; the array belongs to the session
 * until its next run. */
STRATA_API size_t strata_session_profile(strata_session *session, const strata_profile_entry **entries);
STRATA_API void strata_session_profile_reset(strata_session *session);

/* The message of the last failure on this thread; never null. */
STRATA_API const char *strata_last_error(void);
STRATA_API const char *strata_version(void);

#ifdef __cplusplus
}
#endif
#endif
