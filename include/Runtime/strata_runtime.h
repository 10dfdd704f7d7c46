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

/* Called by NAME_init when the constant of a slot has been read for the last time: nothing needs its bytes any more. */
STRATA_API void strata_rt_constant_done(int64_t slot);
/* For loaders: the hook is called by strata_rt_constant_done on this thread from now on; null ends that. */
STRATA_API void strata_rt_on_constant_done(void (*hook)(void *context, int64_t slot), void *context);

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
/* The key of a random node with a seed: the seed, unless the session lets seeds advance; then every evaluation after the
 * first one of the session has a key of its own, made of the seed, the run and the evaluation. */
STRATA_API uint64_t strata_rt_random_advance(uint64_t node, uint64_t seed);

/* Profiling hooks around the code of one node; cheap when the session does not profile. `name` outlives the model. */
STRATA_API void strata_rt_profile_begin(int64_t node, const char *name);
STRATA_API void strata_rt_profile_end(int64_t node);

#ifdef __cplusplus
}
#endif
#endif
