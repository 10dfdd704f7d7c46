/* The functions that generated code may call, besides libc and libm (docs/architecture.md, "The entry ABI").
 *
 * All of them work on the run that the calling thread belongs to: the one that strata_session_run (strata.h) started,
 * or, on a worker thread, the one whose parallel region it helps. Outside of a run (somebody called NAME_main by
 * hand) allocation is plain, parallel loops are sequential, and a failure prints its message and aborts. */
#ifndef STRATA_RUNTIME_STRATA_RUNTIME_H
#define STRATA_RUNTIME_STRATA_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef STRATA_API
#define STRATA_API __attribute__((visibility("default")))
#endif

/* A buffer of the current run; alignment is a power of two (at least 64 is given). Never returns null: a request that
 * the machine cannot meet ends the run with an error. Buffers of zero bytes are valid and distinct. */
STRATA_API void *strata_rt_alloc(uint64_t bytes, uint64_t alignment);
/* The same, of a buffer that the run gives back itself: such buffers share memory more closely. */
STRATA_API void *strata_rt_alloc_temporary(uint64_t bytes, uint64_t alignment);
/* Gives a buffer back early; null is ignored. What is not freed is released when the run ends. */
STRATA_API void strata_rt_free(void *buffer);

/* Calls body(b, e, context) on disjoint ranges that cover [begin, end), possibly on several threads at once. The
 * ranges start at begin + k * grain and are a multiple of grain long, but for the last. Nested calls run inline. */
STRATA_API void strata_rt_parallel_for(void (*body)(int64_t begin, int64_t end, void *context), int64_t begin,
                                       int64_t end, int64_t grain, void *context);

/* Ends the current run with an error. Does not return. Inside of a parallel body the thread leaves the body at once
 * and the run ends when the region does. */
STRATA_API __attribute__((noreturn)) void strata_rt_fail(const char *message);
/* Records the error (the first one wins) and returns; the run ends when the parallel region does. */
STRATA_API void strata_rt_set_error(const char *message);

/* Called by NAME_init when bytes [begin, end) of the constant of a slot have been read for the last time: nothing needs
 * them any more. */
STRATA_API void strata_rt_constant_done(int64_t slot, int64_t begin, int64_t end);
/* For loaders: the hook is called by strata_rt_constant_done on this thread from now on; null ends that. */
STRATA_API void strata_rt_on_constant_done(void (*hook)(void *context, int64_t slot, int64_t begin, int64_t end),
                                           void *context);

/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3. SC 2011). Generated code
 * computes it inline; docs/random-numbers.md defines what it makes of the words. */
STRATA_API void strata_rt_philox_4x32_10(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);
/* The first output word of an element's block: the 128-bit counter is the element's index in its two low words and zero
 * above, the 64-bit key is the seed. */
STRATA_API uint32_t strata_rt_philox_bits(uint64_t seed, uint64_t index);
/* Uniform on [0, 1): the top 53 bits of the block, times 2^-53. */
STRATA_API double strata_rt_philox_uniform_f64(uint64_t seed, uint64_t index);
/* The key of a random node (the node-th of the model) that was given no seed: made of the session's seed, the number of
 * this run in the session, the node and how often it was evaluated in this run. */
STRATA_API uint64_t strata_rt_random_seed(uint64_t node);
/* The key of a random node with a seed: the seed, unless the session lets seeds advance; then every evaluation after
 * the first one of the session has a key of its own, made of the seed, the run and the evaluation. */
STRATA_API uint64_t strata_rt_random_advance(uint64_t node, uint64_t seed);

/* --- Kernels of a GPU (models compiled with --target=cuda). The driver is loaded when the first of these functions is
 * called in a session; without one, or if it refuses something, the run ends with an error that says what.
 *
 * One stream, one context of the process: everything is done in the order in which it is asked for. */

/* What the compiler made of the kernels: PTX, or machine code. */
typedef struct strata_gpu_image {
  const void *data;
  uint64_t bytes;
} strata_gpu_image;
typedef struct strata_gpu_kernel {
  const strata_gpu_image *image;
  const char *name;
} strata_gpu_kernel;

/* Starts a kernel: `shape` is the grid's sizes x, y, z, the block's, and the bytes of dynamic shared memory;
 * `arguments` points to the kernel's parameters. `node` names the ONNX nodes that it computes. A grid without blocks is
 * no error. */
STRATA_API void strata_rt_gpu_launch(const strata_gpu_kernel *kernel, const char *node, const int64_t *shape,
                                     void **arguments);
/* Describes to a kernel a tensor in device memory of which it copies boxes: fills the 128 bytes at `map` (aligned to
 * 64), a parameter of the kernel. `description` is CUDA's numbers of the element type and of the swizzle, the bytes of
 * an element, the rank, and for each dimension, the one of neighbours first, its size, stride in elements, the box's
 * extent and step. */
STRATA_API void strata_rt_gpu_tensor_map(void *map, const void *address, const int64_t *description, const char *node);
/* The time of work on the device, for who measures kernels: from all that was asked for before `start` to all that was
 * asked for before `stop`, which waits for it; in nanoseconds. */
STRATA_API void strata_rt_gpu_timer_start(void);
STRATA_API int64_t strata_rt_gpu_timer_stop(void);
/* What there is without a session. `device` -1: which STRATA_CUDA_DEVICE says, or the first. Not 0 where there is no
 * driver or no such GPU: `error` (of `size` bytes) says what is missing. */
typedef struct strata_gpu_facts {
  char name[128];
  int32_t major, minor; /* the compute capability */
} strata_gpu_facts;
STRATA_API int strata_rt_gpu_describe(int32_t device, strata_gpu_facts *facts, char *error, uint64_t size);
/* How many blocks the device runs at least at once. */
STRATA_API int64_t strata_rt_gpu_multiprocessors(void);
/* A buffer in device memory, for this run. */
STRATA_API void *strata_rt_gpu_alloc(uint64_t bytes, uint64_t alignment);
STRATA_API void strata_rt_gpu_free(void *buffer);
/* Of all copies, `node` says in messages for which ONNX nodes, input or result of the model they are. */
/* The device's copy of a constant; made once in a session. */
STRATA_API void *strata_rt_gpu_constant(const void *constant, uint64_t bytes, const char *node);
STRATA_API void strata_rt_gpu_upload(void *device, const void *host, uint64_t bytes, const char *node);
/* The data are there when it returns. */
STRATA_API void strata_rt_gpu_download(void *host, const void *device, uint64_t bytes, const char *node);
STRATA_API void strata_rt_gpu_copy(void *to, const void *from, uint64_t bytes, const char *node);
/* The device's copy of an input: the caller's own buffer where that is on the device. And the host's copy of one. */
STRATA_API void *strata_rt_gpu_input(const void *input, uint64_t bytes, const char *node);
STRATA_API void *strata_rt_gpu_host_input(const void *input, uint64_t bytes, const char *node);
/* What the session's caller gets of a result: a copy on the host, or, where the session says so, the buffer itself. */
STRATA_API void *strata_rt_gpu_result(void *device, uint64_t bytes, const char *node);
/* Around launches and copies on the device at one place of the model: what they do depends on nothing but `key`, the
 * addresses and sizes that they are given. Zero says that they are not to be called: a recorded graph does the same. */
STRATA_API int32_t strata_rt_gpu_graph_begin(const void *place, const int64_t *key, int64_t count);
STRATA_API void strata_rt_gpu_graph_end(void);
/* The host's copy of the buffer that `device` points into, up to date, at the same place in it; valid until the next of
 * these calls. `host_wrote` says that the copy was changed. */
STRATA_API void *strata_rt_gpu_to_host(const void *device, const char *node);
STRATA_API void strata_rt_gpu_host_wrote(const void *device, const char *node);

/* --- Strings, sequences, optionals, maps (docs/architecture.md, "Values that are no numbers").
 *
 * A handle is an int64_t that holds the address of an immutable object: of a strata_string (null: the empty string), or
 * of a strata_tensor for everything else, where elements of string tensors are handles, the empty optional is null, and
 * a sequence has an array of pointers to its elements. Objects live as long as the run, or the model if they are its
 * constants. Tensors are passed as MLIR's memref descriptors with identity strides; `dtype` and `rank` say which.
 * `node` is the address of the node's name for messages. */

/* Fills `out` (one dimension) with handles of the strings in `table`: count, count + 1 offsets of 8 bytes each, bytes.
 */
STRATA_API void strata_rt_string_constants(const void *table, void *out);
/* The handle of a table for the functions below. The tensor must outlive it. */
STRATA_API int64_t strata_rt_address(const void *tensor);
STRATA_API int64_t strata_rt_string_equal(int64_t a, int64_t b);
/* Negative, zero or positive: by bytes, which is by code points. */
STRATA_API int64_t strata_rt_string_compare(int64_t a, int64_t b);
STRATA_API int64_t strata_rt_string_length(int64_t string);
STRATA_API int64_t strata_rt_string_concat(int64_t a, int64_t b);
/* The position of a string in a table, or -1; `order` is how many positions are searched, then these, sorted by bytes.
 */
STRATA_API int64_t strata_rt_string_find(int64_t table, int64_t order, int64_t string);
/* ASCII and the letters of Latin, Greek and Cyrillic; action 1: lower, 2: upper. */
STRATA_API int64_t strata_rt_string_change_case(int64_t string, int64_t action);
/* How often `delimiter` (empty: runs of white space) splits the string, at most `limit` times (-1: no limit), plus one;
 * and part i of those. */
STRATA_API int64_t strata_rt_string_split_count(int64_t string, int64_t delimiter, int64_t limit);
STRATA_API int64_t strata_rt_string_split_part(int64_t string, int64_t delimiter, int64_t limit, int64_t i);
/* The shortest decimal number that reads back as the same element; "nan", "inf", "-inf"; "True" and "False" of bool. */
STRATA_API int64_t strata_rt_string_from_float(double value, int64_t dtype);
STRATA_API int64_t strata_rt_string_from_integer(int64_t value, int64_t dtype);
STRATA_API double strata_rt_string_to_float(int64_t string, int64_t node);
STRATA_API int64_t strata_rt_string_to_integer(int64_t string, int64_t dtype, int64_t node);
/* Counts n-grams of `least` to `most` words in each row of `ids` (2 dimensions of int64_t: numbers of words, -1: none).
 * Words lead to nodes: first[word] (or -1) from the root, from node n the child beside the key n * words + word in
 * `edges`, pairs at or behind strata_gram_place(key) modulo their number, a power of two; empty ones have the key -1.
 * grams[node] is the n-gram that ends there, or -1. The k-th counts at indexes[k] of its row in `out` (2 dimensions of
 * float). mode 0: counts, 1: the weight of the last n-gram that occurs, 2: counts times weights. */
STRATA_API void strata_rt_tfidf(const void *ids, const void *first, const void *edges, const void *grams,
                                const void *indexes, const void *weights, int64_t least, int64_t most, int64_t skips,
                                int64_t mode, void *out);
static inline uint64_t strata_gram_place(int64_t key) { return (uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 20; }
/* In libstrata_regex, which links RE2: whether all of the string matches. */
STRATA_API int64_t strata_rt_regex_compile(int64_t pattern, int64_t node);
STRATA_API int64_t strata_rt_regex_full_match(int64_t regex, int64_t string);
/* In libstrata_image, which links the codecs: an encoded image (one dimension of bytes), decoded; its height and width
 * (dimensions 0 and 1; both zero if it cannot be decoded), and its pixels into `out` of height, width and channels,
 * which is the end of it. */
enum { STRATA_IMAGE_RGB = 0, STRATA_IMAGE_BGR = 1, STRATA_IMAGE_GRAY = 2 };
STRATA_API int64_t strata_rt_image_open(const void *stream);
STRATA_API int64_t strata_rt_image_size(int64_t image, int64_t dimension);
STRATA_API void strata_rt_image_pixels(int64_t image, int64_t format, void *out);

/* A copy of the tensor as an object, and its bytes back. */
STRATA_API int64_t strata_rt_tensor_make(const void *tensor, int64_t dtype, int64_t rank);
STRATA_API int64_t strata_rt_tensor_rank(int64_t object);
STRATA_API int64_t strata_rt_tensor_size(int64_t object, int64_t dimension);
STRATA_API void strata_rt_tensor_read(int64_t object, void *out, int64_t rank);

STRATA_API int64_t strata_rt_seq_empty(void);
STRATA_API int64_t strata_rt_seq_length(int64_t sequence);
/* Positions are in range: [0, length], [0, length). */
STRATA_API int64_t strata_rt_seq_insert(int64_t sequence, int64_t object, int64_t position);
STRATA_API int64_t strata_rt_seq_erase(int64_t sequence, int64_t position);
STRATA_API int64_t strata_rt_seq_at(int64_t sequence, int64_t position);
/* Parts of a tensor along `axis`, of the sizes in `sizes` (a tensor of int64_t, one dimension); without `keep_dims` the
 * axis is taken out. */
STRATA_API int64_t strata_rt_seq_split(const void *tensor, int64_t dtype, int64_t rank, int64_t axis, const void *sizes,
                                       int64_t keep_dims);
/* Checks that the elements have `rank` and equal sizes but along `axis` (-1: all equal), and gives the sum of these. */
STRATA_API int64_t strata_rt_seq_concat_size(int64_t sequence, int64_t rank, int64_t axis, int64_t node);
/* Writes them side by side along `axis`, a new one if `new_axis`. */
STRATA_API void strata_rt_seq_concat(int64_t sequence, int64_t rank, int64_t axis, int64_t new_axis, void *out);

/* A sequence of maps from the labels (one dimension, of int64_t or handles) to each row's values. */
STRATA_API int64_t strata_rt_zip_map(const void *rows, const void *labels, int64_t dtype);
STRATA_API int64_t strata_rt_map_size(int64_t map);
/* Into `out`, one row: the values of these keys, zero where there is none; all values in the order of their keys
 * (integers), or, with a width, each at the place that its key says (between strings, the handle `none`). */
STRATA_API void strata_rt_map_values(int64_t map, const void *labels, void *out);
STRATA_API void strata_rt_map_list(int64_t map, int64_t width, int64_t none, void *out, int64_t node);

/* The probabilities of k classes in each row of `out` (2 dimensions of double) from the decisions between each two of
 * them (0, 1), (0, 2), ..., (1, 2), ... and the factors `a` and terms `b` of these, all of them double. */
STRATA_API void strata_rt_svm_probabilities(const void *decisions, const void *a, const void *b, void *out);

/* Into each row of `positions` [rows, k] of int64_t, where the k lowest numbers of that row of `keys` [rows, count]
 * are, k <= count: in their order, of equal ones the first one first. */
STRATA_API void strata_rt_first_of_rows(const void *keys, void *positions);
/* NonMaxSuppression: of `boxes` [batches, count, 4] and `scores` [batches, classes, count], both float, at most `limit`
 * boxes of each class, with scores above `least` if `has_least`, none of which has an intersection over union above
 * `overlap` with one of a better score. Into the first rows of `selected` [batches * classes * limit, 3] of int64_t:
 * batch entry, class, box. Gives their number. */
STRATA_API int64_t strata_rt_non_max_suppression(const void *boxes, const void *scores, int64_t limit, float overlap,
                                                 int64_t has_least, float least, int64_t centers, void *selected);

/* Profiling hooks around the code of one node; cheap when the session does not profile. `name` is copied. */
STRATA_API void strata_rt_profile_begin(int64_t node, const char *name);
STRATA_API void strata_rt_profile_end(int64_t node);
/* The code that follows computes `operations` on numbers, and reads and writes `bytes`. */
STRATA_API void strata_rt_profile_work(int64_t node, int64_t operations, int64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
