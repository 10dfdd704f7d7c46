/* A pool of persistent worker threads that run parallel loops with little latency.
 *
 * The pool has one word: the epoch of the current region (upper half), whether it is open (one bit), and how many
 * workers are inside of it. Opening a region is one store and, if workers sleep, one futex call; a worker enters by
 * compare-and-swap, so a worker that wakes up too late finds the region closed and costs nothing. Idle workers spin
 * for a short time before they sleep.
 *
 * Each participant starts with its own contiguous share of the range (the same in every run, for the caches' sake)
 * and helps the others when it is done. */
#include "Internal.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { open_bit = 1 << 15, count_mask = open_bit - 1, epoch_unit = 1 << 16, max_threads = 1024 };

typedef struct {
  _Alignas(64) _Atomic int64_t next; /* next unit of this share */
  int64_t end;
} share;

typedef struct {
  strata_pool *pool;
  pthread_t thread;
  int index;
} worker;

struct strata_pool {
  _Alignas(64) _Atomic uint32_t word;
  _Alignas(64) _Atomic uint32_t sleepers;
  atomic_bool stop;
  int threads; /* with the calling thread */
  int started; /* workers */
  bool spin;
  int caller;      /* the CPU on which the last region was opened, which workers keep off; -1: none */
  cpu_set_t *cpus; /* those of the thread that created the pool; NULL if they are not known */
  worker *workers;
  share *shares;
  /* The open region; written only while it is closed and empty. */
  void (*body)(int64_t, int64_t, void *);
  void *context;
  strata_run *run;
  int64_t begin, end, grain;
  int64_t least; /* units of a piece */
  int active;
};

/* The CPUs that this thread may use, or NULL. */
static cpu_set_t *available_cpus(void) {
  cpu_set_t *set = CPU_ALLOC(max_threads);
  if (set && sched_getaffinity(0, CPU_ALLOC_SIZE(max_threads), set) == 0)
    return set;
  CPU_FREE(set);
  return NULL;
}

int strata_available_cores(void) {
  cpu_set_t *set = available_cpus();
  int cores = set ? CPU_COUNT_S(CPU_ALLOC_SIZE(max_threads), set) : 0;
  CPU_FREE(set);
  if (cores < 1)
    cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
  return cores < 1 ? 1 : cores > max_threads ? max_threads : cores;
}

static void futex_wait(_Atomic uint32_t *word, uint32_t expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static inline void pause_cpu(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

uint64_t strata_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Waits until *word differs from `value` under `mask`: for `spin_ns` awake, then asleep. */
static void wait_change(strata_pool *pool, uint32_t mask, uint32_t value, uint64_t spin_ns) {
  _Atomic uint32_t *word = &pool->word;
  uint64_t deadline = 0;
  while (pool->spin) {
    for (int i = 0; i < 64; ++i) {
      if ((atomic_load_explicit(word, memory_order_acquire) & mask) != value)
        return;
      pause_cpu();
    }
    uint64_t now = strata_now_ns();
    if (deadline == 0)
      deadline = now + spin_ns;
    else if (now > deadline)
      break;
  }
  atomic_fetch_add(&pool->sleepers, 1);
  uint32_t current;
  while (((current = atomic_load(word)) & mask) == value)
    futex_wait(word, current);
  atomic_fetch_sub(&pool->sleepers, 1);
}

/* Takes units until none is left or the run has failed. A piece is half of what is left of a share: long at first, so
 * that bodies are, and short at the end, where threads of unequal speed would wait for each other. */
static void work(strata_pool *pool, int self) {
  for (int i = 0; i < pool->active; ++i) {
    share *s = &pool->shares[(self + i) % pool->active];
    int64_t unit = atomic_load_explicit(&s->next, memory_order_relaxed);
    while (unit < s->end) {
      int64_t left = s->end - unit, piece = left / 2 > pool->least ? left / 2 : pool->least;
      int64_t last = piece < left ? unit + piece : s->end;
      if (!atomic_compare_exchange_weak_explicit(&s->next, &unit, last, memory_order_relaxed, memory_order_relaxed))
        continue;
      if (atomic_load_explicit(&pool->run->failed, memory_order_relaxed))
        return;
      int64_t from = pool->begin + unit * pool->grain;
      /* The last unit may be short, and begin + last * grain may pass the end of the integers. */
      int64_t to = last > (pool->end - 1 - pool->begin) / pool->grain ? pool->end : pool->begin + last * pool->grain;
      pool->body(from, to, pool->context);
      unit = atomic_load_explicit(&s->next, memory_order_relaxed);
    }
  }
}

/* Works with the thread's state set up; a failure inside of a body lands here. */
static void participate(strata_pool *pool, int self) {
  jmp_buf escape, *outer = strata_current_escape;
  strata_in_parallel = true;
  strata_current_escape = &escape;
  if (_setjmp(escape) == 0)
    work(pool, self);
  strata_current_escape = outer;
  strata_in_parallel = false;
}

static void *worker_main(void *argument) {
  worker *self = argument;
  strata_pool *pool = self->pool;
  uint32_t seen = 0; /* epoch of the last region this worker was in, or looked at */
  for (;;) {
    uint32_t word = atomic_load_explicit(&pool->word, memory_order_acquire);
    if (atomic_load_explicit(&pool->stop, memory_order_acquire))
      return NULL;
    uint32_t epoch = word & ~(uint32_t)(epoch_unit - 1);
    if (epoch == seen) {
      wait_change(pool, ~(uint32_t)(epoch_unit - 1), seen, 100000);
      continue;
    }
    if (!(word & open_bit)) {
      seen = epoch;
      continue;
    }
    if (!atomic_compare_exchange_weak(&pool->word, &word, word + 1))
      continue;
    seen = epoch;
    if (self->index < pool->active) {
      strata_current_run = pool->run;
      participate(pool, self->index);
      strata_current_run = NULL;
    }
    word = atomic_fetch_sub(&pool->word, 1) - 1;
    if (!(word & open_bit) && (word & count_mask) == 0 && atomic_load(&pool->sleepers))
      futex_wake(&pool->word, INT32_MAX);
  }
}

strata_pool *strata_pool_create(int threads) {
  int cores = strata_available_cores();
  if (threads <= 0)
    threads = cores;
  if (threads > max_threads)
    threads = max_threads;
  strata_pool *pool = aligned_alloc(64, (sizeof(*pool) + 63) & ~(size_t)63);
  if (!pool)
    return NULL;
  *pool = (strata_pool){.threads = threads, .spin = threads <= cores, .caller = -1, .cpus = available_cpus()};
  pool->workers = calloc((size_t)threads, sizeof(worker));
  pool->shares = aligned_alloc(64, sizeof(share) * (size_t)threads);
  if (!pool->workers || !pool->shares) {
    strata_pool_destroy(pool);
    return NULL;
  }
  return pool;
}

bool strata_pool_is_used(const strata_pool *pool) { return pool->started > 0; }

/* Workers start with the first parallel region: small models never need them. */
static void start_workers(strata_pool *pool) {
  while (pool->started < pool->threads - 1) {
    worker *w = &pool->workers[pool->started];
    *w = (worker){.pool = pool, .index = pool->started + 1};
    if (pthread_create(&w->thread, NULL, worker_main, w)) {
      pool->threads = pool->started + 1; /* go on with those there are */
      break;
    }
    ++pool->started;
    pool->caller = -1;
  }
}

void strata_pool_destroy(strata_pool *pool) {
  if (!pool)
    return;
  atomic_store(&pool->stop, true);
  atomic_fetch_add(&pool->word, epoch_unit);
  futex_wake(&pool->word, INT32_MAX);
  for (int i = 0; i < pool->started; ++i)
    pthread_join(pool->workers[i].thread, NULL);
  free(pool->workers);
  free(pool->shares);
  CPU_FREE(pool->cpus);
  free(pool);
}

/* A worker that wakes up may be queued on the CPU of the thread that woke it, and wait there while others are idle:
 * systems take idle CPUs of virtual machines for occupied, and move a waiting thread only after milliseconds. So
 * workers keep off the CPU on which the region is opened. */
static void keep_off_caller(strata_pool *pool) {
  int cpu = sched_getcpu();
  size_t size = CPU_ALLOC_SIZE(max_threads);
  if (cpu == pool->caller || !pool->spin || !pool->cpus || !CPU_ISSET_S(cpu, size, pool->cpus))
    return;
  pool->caller = cpu;
  CPU_CLR_S(cpu, size, pool->cpus);
  if (CPU_COUNT_S(size, pool->cpus))
    for (int i = 0; i < pool->started; ++i)
      pthread_setaffinity_np(pool->workers[i].thread, size, pool->cpus);
  CPU_SET_S(cpu, size, pool->cpus);
}

/* Runs the region of `units` units on `active` threads. */
static void run_region(strata_pool *pool, int64_t units, int active) {
  int64_t least = units / active / 32;
  pool->least = least > 0 ? least : 1;
  pool->active = active;
  int64_t rest = units % active, at = 0;
  for (int i = 0; i < active; ++i) {
    atomic_store_explicit(&pool->shares[i].next, at, memory_order_relaxed);
    at += units / active + (i < rest);
    pool->shares[i].end = at;
  }
  keep_off_caller(pool);
  /* Closed and empty: only this thread writes the word now. */
  uint32_t epoch = (atomic_load_explicit(&pool->word, memory_order_relaxed) & ~(uint32_t)(epoch_unit - 1)) + epoch_unit;
  atomic_store(&pool->word, epoch | open_bit);
  if (atomic_load(&pool->sleepers))
    futex_wake(&pool->word, INT32_MAX);
  participate(pool, 0);
  uint32_t word = atomic_fetch_and(&pool->word, ~(uint32_t)open_bit) & ~(uint32_t)open_bit;
  while (word & count_mask) {
    wait_change(pool, ~(uint32_t)0, word, 1000000);
    word = atomic_load(&pool->word);
  }
}

void strata_rt_parallel_for(void (*body)(int64_t, int64_t, void *), int64_t begin, int64_t end, int64_t grain,
                            void *context) {
  if (begin >= end)
    return;
  strata_run *run = strata_current_run;
  strata_pool *pool = run ? run->pool : NULL;
  if (grain < 1)
    grain = 1;
  int64_t units = (end - 1 - begin) / grain + 1;
  if (!pool || strata_in_parallel || pool->threads == 1 || units == 1) {
    body(begin, end, context);
  } else {
    if (pool->started < pool->threads - 1)
      start_workers(pool);
    pool->body = body;
    pool->context = context;
    pool->run = run;
    pool->begin = begin;
    pool->end = end;
    pool->grain = grain;
    run_region(pool, units, units < pool->threads ? (int)units : pool->threads);
  }
  if (run && atomic_load_explicit(&run->failed, memory_order_acquire))
    strata_escape();
}
