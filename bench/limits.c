/* What this machine can do at most: `limits KIND THREADS [BYTES [SECONDS]]` prints 1e9 operations or bytes per second.
 *
 * KIND is f32 (fused multiply-adds in registers), int8 and bf16 (the matrix or dot-product instructions, where there are
 * any: otherwise it prints nothing), read or copy (BYTES of memory in each thread; a copy counts what it reads and what
 * it writes). `limits distance` prints how many nanoseconds a line that one core has written takes to another one. Built
 * by limits.py with -march=native, so the vectors are as wide as the machine's. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
enum { accumulators = 12, lanes = 16 };
#elif defined(__AVX__)
enum { accumulators = 12, lanes = 8 };
#else
enum { accumulators = 12, lanes = 4 };
#endif
typedef float vec __attribute__((vector_size(lanes * 4)));

static double seconds = 0.1;
static volatile float opaque = 0.999f;
static volatile float sink;
static size_t bytes;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Repeats STATEMENT, which is WORK units, for a while; units per second. */
#define RATE(WORK, STATEMENT)                                                                                          \
  ({                                                                                                                   \
    double start = now(), end, units = 0;                                                                              \
    do {                                                                                                               \
      STATEMENT;                                                                                                       \
      units += (WORK);                                                                                                 \
    } while ((end = now()) < start + seconds);                                                                         \
    units / (end - start);                                                                                             \
  })

/* The rate of STEP, which is WORK operations on `sum` of TYPE, a vector, in as many registers as it takes. */
#define REGISTER_RATE(TYPE, STEP, WORK)                                                                                \
  ({                                                                                                                   \
    TYPE sums[accumulators];                                                                                           \
    for (int i = 0; i < accumulators; ++i)                                                                             \
      sums[i] = (TYPE){} + (short)i;                                                                                   \
    double rate = RATE(20000.0 * accumulators * (WORK), {                                                              \
      for (int repeat = 0; repeat < 20000; ++repeat)                                                                   \
        for (int i = 0; i < accumulators; ++i) {                                                                       \
          TYPE sum = sums[i];                                                                                          \
          sums[i] = STEP;                                                                                              \
        }                                                                                                              \
    });                                                                                                                \
    for (int i = 1; i < accumulators; ++i)                                                                             \
      sums[0] += sums[i];                                                                                              \
    sink = (float)sums[0][0];                                                                                          \
    rate;                                                                                                              \
  })

static double rate_f32(void) {
  vec x = (vec){} + opaque, y = (vec){} + (1 - opaque);
  return REGISTER_RATE(vec, sum * x + y, lanes * 2);
}

#if defined(__AMX_TILE__)
/* Eight tiles of 16 rows of 64 bytes: four sums, two left and two right operands. */
static void configure_tiles(void) {
  struct {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  } config = {.palette = 1};
  syscall(SYS_arch_prctl, 0x1023 /* ARCH_REQ_XCOMP_PERM */, 18 /* tile data */);
  for (int i = 0; i < 8; ++i) {
    config.row_bytes[i] = 64;
    config.rows[i] = 16;
  }
  _tile_loadconfig(&config);
  _tile_zero(0), _tile_zero(1), _tile_zero(2), _tile_zero(3), _tile_zero(4), _tile_zero(5), _tile_zero(6), _tile_zero(7);
}
#define TILE_RATE(DOT, DEPTH)                                                                                          \
  (configure_tiles(), RATE(20000.0 * 4 * 2 * 16 * 16 * (DEPTH), for (int i = 0; i < 20000; ++i) {                      \
     DOT(0, 4, 6);                                                                                                     \
     DOT(1, 4, 7);                                                                                                     \
     DOT(2, 5, 6);                                                                                                     \
     DOT(3, 5, 7);                                                                                                     \
   }))
#endif

static double rate_bf16(void) {
#if defined(__AMX_BF16__)
  return TILE_RATE(_tile_dpbf16ps, 32);
#elif defined(__AVX512BF16__)
  __m512bh x = _mm512_cvtne2ps_pbh(_mm512_set1_ps(opaque), _mm512_set1_ps(opaque)), y = x;
  return REGISTER_RATE(__m512, _mm512_dpbf16_ps(sum, x, y), 32 * 2);
#else
  return 0;
#endif
}

static double rate_int8(void) {
#if defined(__AMX_INT8__)
  return TILE_RATE(_tile_dpbusd, 64);
#elif defined(__AVX512VNNI__)
  __m512i x = _mm512_set1_epi8((char)(opaque * 3)), y = x;
  return REGISTER_RATE(__m512i, _mm512_dpbusd_epi32(sum, x, y), 64 * 2);
#else
  return 0;
#endif
}

/* COUNT vectors of zeros, which the compiler does not know to be zeros: of a copy it would make a memset. */
static vec *zeros(size_t count) {
  vec *data = aligned_alloc(64, count * sizeof(vec));
  memset(data, 0, count * sizeof(vec));
  __asm__ volatile("" : "+r"(data) : : "memory");
  return data;
}

static double rate_read(void) {
  size_t count = bytes / sizeof(vec) / 8 * 8;
  vec *data = zeros(count), sum[8] = {};
  double rate = RATE((double)(count * sizeof(vec)), {
    for (size_t at = 0; at < count; at += 8)
      for (int i = 0; i < 8; ++i)
        sum[i] += data[at + i];
  });
  for (int i = 1; i < 8; ++i)
    sum[0] += sum[i];
  sink = sum[0][0];
  free(data);
  return rate;
}

/* The better of plain stores and of memcpy, which may go around the caches. */
static double rate_copy(void) {
  size_t count = bytes / 2 / sizeof(vec);
  vec *from = zeros(count), *to = zeros(count);
  double whole = (double)(2 * count * sizeof(vec));
  double plain = RATE(whole, {
    for (size_t i = 0; i < count; ++i)
      to[i] = from[i] + (vec){};
  });
  double library = RATE(whole, {
    memcpy(to, from, count * sizeof(vec));
    sink = to[count / 2][0];
  });
  sink = to[0][0];
  free(from);
  free(to);
  return plain > library ? plain : library;
}

static double (*measure)(void);
static pthread_barrier_t together;

static void *work(void *rate) {
  pthread_barrier_wait(&together);
  *(double *)rate = measure();
  return NULL;
}

/* A number that two threads count up by turns, on the first and the last CPU that there is for them. */
static _Alignas(128) atomic_int turn;
enum { turns = 100000 };

static bool use_cpu(bool last) {
  cpu_set_t all, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof(all), &all) || CPU_COUNT(&all) < 2)
    return false;
  int cpu = last ? CPU_SETSIZE - 1 : 0;
  while (!CPU_ISSET(cpu, &all))
    cpu += last ? -1 : 1;
  CPU_SET(cpu, &one);
  return sched_setaffinity(0, sizeof(one), &one) == 0;
}

static void count_up(int from) {
  for (int i = from; i < turns; i += 2) {
    while (atomic_load_explicit(&turn, memory_order_acquire) != i)
      ;
    atomic_store_explicit(&turn, i + 1, memory_order_release);
  }
}

static void *count_odd(void *unused) {
  use_cpu(true);
  count_up(1);
  return unused;
}

static int print_distance(void) {
  pthread_t other;
  if (pthread_create(&other, NULL, count_odd, NULL))
    return 1;
  if (!use_cpu(false)) {
    fprintf(stderr, "there is one CPU\n");
    _exit(1);
  }
  double start = now();
  count_up(0);
  pthread_join(other, NULL);
  printf("%.1f\n", (now() - start) / turns * 1e9);
  return 0;
}

int main(int count, char **arguments) {
  static const struct {
    const char *name;
    double (*rate)(void);
  } kinds[] = {{"f32", rate_f32}, {"bf16", rate_bf16}, {"int8", rate_int8}, {"read", rate_read}, {"copy", rate_copy}};
  if (count > 1 && !strcmp(arguments[1], "distance"))
    return print_distance();
  int threads = count > 2 ? atoi(arguments[2]) : 0;
  bytes = count > 3 ? (size_t)atoll(arguments[3]) : 1 << 20;
  if (count > 4)
    seconds = atof(arguments[4]);
  for (size_t i = 0; count > 1 && i < sizeof(kinds) / sizeof(*kinds); ++i)
    if (!strcmp(arguments[1], kinds[i].name))
      measure = kinds[i].rate;
  if (!measure || threads < 1) {
    fprintf(stderr, "usage: limits f32|bf16|int8|read|copy THREADS [BYTES [SECONDS]], limits distance\n");
    return 1;
  }
  pthread_t *workers = calloc((size_t)threads, sizeof(*workers));
  double *rates = calloc((size_t)threads, sizeof(*rates)), sum = 0;
  pthread_barrier_init(&together, NULL, (unsigned)threads);
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&workers[i], NULL, work, &rates[i]))
      return 1;
  for (int i = 0; i < threads; ++i) {
    pthread_join(workers[i], NULL);
    sum += rates[i];
  }
  if (sum > 0)
    printf("%.3f\n", sum * 1e-9);
  return 0;
}
