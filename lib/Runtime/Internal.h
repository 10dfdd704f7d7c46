/* What the files of the runtime share: the heap, the thread pool, and the run that a thread belongs to. */
#ifndef STRATA_LIB_RUNTIME_INTERNAL_H
#define STRATA_LIB_RUNTIME_INTERNAL_H

#include "Runtime/strata.h"
#include "Runtime/strata_runtime.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>

/* --- Memory.c: the buffers of a session. Freed blocks are kept for the next run, which asks for the same sizes. */
typedef struct strata_heap strata_heap;
typedef struct strata_block {
  struct strata_block *previous, *next; /* the run's live blocks, or the heap's cache */
  strata_heap *heap;
  void *base;      /* what malloc or mmap gave */
  size_t mapped;   /* bytes of the mapping; 0: malloc */
  size_t capacity; /* usable bytes from strata_block_data on */
  uint64_t stamp;  /* the run that used it last */
  bool in_run, in_arena;
  uint32_t freed_by; /* the thread that freed it last, by its number */
} strata_block;
typedef struct strata_block_list {
  strata_block *first;
} strata_block_list;

#define STRATA_BLOCK_HEADER 64
static inline void *strata_block_data(strata_block *block) { return (char *)block + STRATA_BLOCK_HEADER; }

strata_heap *strata_heap_create(uint64_t limit);
void strata_heap_release(strata_heap *heap); /* drops one reference; results that are still out hold others */
/* Null with a message in error (of size STRATA_MESSAGE) if there is not enough memory. A temporary is freed in the run,
 * and by the thread that asked for it. */
strata_block *strata_heap_alloc(strata_heap *heap, strata_block_list *run, uint64_t bytes, uint64_t alignment,
                                bool temporary, char *error);
void strata_heap_free(strata_block_list *run, strata_block *block);
strata_block *strata_heap_find(strata_heap *heap, strata_block_list *run, const void *pointer);
/* Takes a block out of the run: it lives until strata_heap_give_back, and holds a reference to the heap. */
void strata_heap_hand_over(strata_block_list *run, strata_block *block);
void strata_heap_give_back(strata_block *block);
/* Frees all blocks of the run and drops cached blocks that the last runs had no use for. */
void strata_heap_end_run(strata_heap *heap, strata_block_list *run);

/* --- ThreadPool.c */
typedef struct strata_pool strata_pool;
strata_pool *strata_pool_create(int threads);
void strata_pool_destroy(strata_pool *pool);
/* Whether a parallel loop has been run. */
bool strata_pool_is_used(const strata_pool *pool);
int strata_available_cores(void);
uint64_t strata_now_ns(void); /* of a clock that only goes forward */

/* --- Pace.c: whether threads share a run, by what runs took before. */
typedef struct {
  uint64_t sizes; /* of the inputs, as a number */
  int state, runs, slow;
  uint64_t shared_ns, alone_ns; /* what runs take */
} strata_pace;
/* Asked before each run. `sizes`: a number for the sizes of the inputs; others begin anew. */
bool strata_pace_shares(strata_pace *pace, uint64_t sizes);
/* Told after each run. */
void strata_pace_took(strata_pace *pace, uint64_t ns);

/* --- Run.c */
#define STRATA_MESSAGE 1024
struct strata_profiler;
struct strata_gpu;
typedef struct strata_run {
  strata_heap *heap;
  strata_block_list blocks;
  strata_pool *pool;
  struct strata_profiler *profiler; /* null: off */
  struct strata_gpu *gpu;           /* null: no kernel yet */
  int32_t gpu_device;               /* which; -1: the default */
  bool device_results;              /* results stay on the GPU */
  uint64_t seed, number;
  bool advance_seeds;
  uint32_t *draws; /* evaluations of each random node in this run */
  size_t num_draws;
  atomic_int failed; /* 0: no, 1: message being written, 2: message complete */
  char message[STRATA_MESSAGE];
  char *objects, *objects_end; /* what is left of the buffer that small objects are cut from */
} strata_run;

/* MLIR's memref descriptor of a rank: two pointers, offset, sizes, strides. */
typedef struct {
  char *allocated, *aligned;
  int64_t offset;
  int64_t sizes[]; /* rank sizes, then rank strides */
} strata_memref;

/* The run of this thread, the place where a failure continues, and whether it is inside of a parallel body. */
extern _Thread_local strata_run *strata_current_run __attribute__((tls_model("initial-exec")));
extern _Thread_local jmp_buf *strata_current_escape __attribute__((tls_model("initial-exec")));
extern _Thread_local bool strata_in_parallel __attribute__((tls_model("initial-exec")));

/* Calls function(args) as a run; the buffers stay in run->blocks. False: it failed, run->message says why. */
bool strata_run_call(strata_run *run, void (*function)(void **), void **args);
/* Leaves the current body or run; an error has been recorded. */
__attribute__((noreturn)) void strata_escape(void);

/* --- Gpu.c, GpuMemory.c */
typedef struct strata_gpu strata_gpu;
typedef struct strata_gpu_buffer strata_gpu_buffer;
void strata_gpu_end_run(strata_gpu *gpu); /* may be null, as may the next one's */
void strata_gpu_release(strata_gpu *gpu); /* drops one reference; results that are still out hold others */
/* In a run: says that an input lies on the session's device, which is opened. */
void strata_gpu_borrow(const void *device, uint64_t bytes);
int strata_gpu_ordinal(const strata_gpu *gpu);
/* The buffer of a result that lies on the device, from now on the caller's; null if it does not. */
strata_gpu_buffer *strata_gpu_take(strata_gpu *gpu, const void *device);
void strata_gpu_give_back(strata_gpu_buffer *buffer);
/* Copies it to the host, outside of runs: 0, or 1 with the last error set. */
int strata_gpu_read(const strata_gpu_buffer *buffer, void *to, uint64_t bytes);

/* --- Random.c: counts of the random nodes' evaluations */
void strata_random_begin_run(strata_run *run);
void strata_random_end(strata_run *run);

/* --- Tensors.c */
/* The number of elements; at most 2^60, which no memory holds. */
uint64_t strata_element_count(const int64_t *sizes, int32_t rank);
/* Row-major strides into `result` (may be null); false if `strides` (may be null) are others where it matters. */
bool strata_row_major(const int64_t *sizes, const int64_t *strides, int32_t rank, int64_t *result);
/* Copies between tensors of equal sizes; strides in elements, null: row-major. */
void strata_copy(char *to, const int64_t *to_strides, const char *from, const int64_t *from_strides, size_t element,
                 int32_t rank, const int64_t *sizes);
/* How far the integers below a byte are to be shifted left and back; 0 for the other types. */
unsigned strata_narrow_shift(int32_t dtype);
void strata_extend_narrow(uint8_t *data, uint64_t count, int32_t dtype);
/* Bytes of an element inside of a run, where strings are handles. */
size_t strata_inner_size(int32_t dtype);

/* --- Objects.c */
/* Memory of the current run, aligned to 16 bytes, for small objects; ends the run where there is none left. */
void *strata_object_alloc(size_t bytes);
/* A sequence (or, of keys and values, a map) of these elements. */
const strata_tensor *strata_sequence_of(int32_t dtype, const strata_tensor **items, int64_t length);

/* --- Values.c: what callers pass and get, and what runs work on (strata_runtime.h), into each other. */
/* 0, or 1 with the last error set, which begins with `label`. */
int strata_check_value(const strata_value_info *info, const strata_tensor *value, const char *label);
/* The object of a value that has been checked; needs a current run, which it may end. */
const strata_tensor *strata_value_to_object(const strata_tensor *value);
/* The elements of a string tensor as handles. */
void strata_strings_to_handles(const strata_tensor *tensor, int64_t *handles);
/* Bytes that the caller's copy of an object takes, and the copy in memory of that size. */
uint64_t strata_object_bytes(const strata_tensor *object);
strata_tensor strata_object_to_value(const strata_tensor *object, char *memory);
uint64_t strata_string_bytes(const int64_t *handles, uint64_t count);
void strata_handles_to_strings(const int64_t *handles, uint64_t count, char *memory);

/* --- Model.c */
struct strata_model {
  const strata_model_descriptor *descriptor;
  void *library;
  atomic_int references;
};
void strata_model_retain(strata_model *model);

/* --- Cpu.c */
/* 0, or 1 with the last error set, if the model may not run here. */
int strata_check_cpu(const strata_model_descriptor *descriptor);
/* Whether there are AVX2's instructions; on x86-64 alone. */
bool strata_cpu_has_avx2(void);

/* --- Error.c */
/* Sets the message that strata_last_error returns; returns 1. */
int strata_set_last_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
