// A model written by hand against the entry ABI: parallel loops, failures, results that alias, memory limits.
#include "Runtime/strata.h"
#include "Runtime/strata_runtime.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, strata_last_error());                                  \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

typedef struct {
  float *allocated, *aligned;
  int64_t offset, size, stride;
} vector;

static const char *mode = "";

static _Atomic int64_t visits;

static void add_one(int64_t begin, int64_t end, void *context) {
  vector **v = context;
  visits += end - begin;
  for (int64_t i = begin; i < end; ++i) {
    if (i == 5000 && !strcmp(mode, "error in body"))
      strata_rt_set_error("element 5000 is bad");
    if (i == 5000 && !strcmp(mode, "fail in body"))
      strata_rt_fail("element 5000 failed");
    v[0]->aligned[i] = v[1]->aligned[i] + 1;
  }
}

static void nested(int64_t begin, int64_t end, void *context) {
  for (int64_t i = begin; i < end; ++i)
    strata_rt_parallel_for(add_one, i * 100, i * 100 + 100, 7, context);
}

/* Buffers of random sizes in a random order, some left to the end of the run: none overlaps another one. */
static void temporaries(void) {
  enum { slots = 40 };
  static uint32_t random = 1;
  uint64_t *buffers[slots] = {NULL}, words[slots];
  for (uint64_t step = 0; step < 2000; ++step) {
    random = random * 1664525 + 1013904223;
    uint32_t slot = random >> 16 & 63, size = random >> 8;
    if (slot >= slots)
      continue;
    if (buffers[slot]) {
      for (uint64_t i = 0; i < words[slot]; i += 512)
        if (buffers[slot][i] != buffers[slot][0] || buffers[slot][words[slot] - 1] != buffers[slot][0])
          strata_rt_fail("two temporaries overlap");
      strata_rt_free(buffers[slot]);
      buffers[slot] = NULL;
      continue;
    }
    words[slot] = 1 + size % (1 << 17);
    buffers[slot] = strata_rt_alloc_temporary(words[slot] * 8, 64);
    if ((uintptr_t)buffers[slot] % 64)
      strata_rt_fail("not aligned");
    for (uint64_t i = 0; i < words[slot]; i += 512)
      buffers[slot][i] = step;
    buffers[slot][words[slot] - 1] = step;
  }
}

/* One behind the other they take the same memory, however large they are. */
static void reuse(void) {
  char *first = strata_rt_alloc_temporary(3 << 20, 64), *last = NULL;
  strata_rt_free(first);
  for (int kilobytes = 64; kilobytes < 3072; kilobytes += 100) {
    if (strata_rt_alloc_temporary(kilobytes << 10, 64) != first)
      strata_rt_fail("a temporary is not where the last one was");
    strata_rt_free(first);
  }
  first = strata_rt_alloc_temporary(1 << 20, 64);
  last = strata_rt_alloc_temporary(1 << 20, 64);
  if (last < first + (1 << 20) || last > first + (1 << 20) + 128)
    strata_rt_fail("temporaries are not side by side");
  strata_rt_free(first);
  strata_rt_free(last);
}

static void model_main(void **args) {
  vector *r = args[0], *s = args[1], *x = args[2];
  int64_t n = x->size;
  if (!strcmp(mode, "fail"))
    strata_rt_fail("node 'n': the indices are out of range");
  if (!strcmp(mode, "huge"))
    strata_rt_alloc((uint64_t)1 << 60, 64);
  if (!strcmp(mode, "negative"))
    strata_rt_alloc((uint64_t)-4, 64);
  if (!strcmp(mode, "many"))
    for (int i = 0; i < 1000000; ++i)
      strata_rt_alloc(1 << 20, 64);
  if (!strcmp(mode, "many temporaries"))
    for (int i = 0; i < 1000000; ++i)
      strata_rt_alloc_temporary(1 << 20, 64);
  if (!strcmp(mode, "temporaries"))
    temporaries();
  if (!strcmp(mode, "reuse"))
    reuse();
  void *scratch = strata_rt_alloc(1000, 4096);
  if ((uintptr_t)scratch % 4096)
    strata_rt_fail("not aligned");
  strata_rt_alloc(10, 8); // left to the end of the run
  r->allocated = r->aligned = strata_rt_alloc(n * 4, 64);
  r->offset = 0, r->size = n, r->stride = 1;
  visits = 0;
  strata_rt_parallel_for(!strcmp(mode, "nested") ? nested : add_one, 0, !strcmp(mode, "nested") ? n / 100 : n, 16,
                         (void *[]){r, x});
  if (visits != n)
    strata_rt_fail("not each element was visited once");
  *s = *x; // the second result is the input ...
  if (!strcmp(mode, "shared"))
    *s = *r; // ... or the first one
  strata_rt_free(scratch);
}

/* What a version runs: the results are the inputs. */
static int version_runs;
static void version_main(void **args) {
  vector *r = args[0], *s = args[1], *x = args[2], *y = args[3];
  *r = *x;
  *s = *y;
  ++version_runs;
}

static const int64_t dynamic[1] = {-1}, five[1] = {5};
static const char *const names[1] = {"n"};
static const strata_value_info inputs[2] = {{"x", STRATA_FLOAT, 1, dynamic, names}, {"y", STRATA_FLOAT, 1, dynamic, names}};
static const strata_value_info outputs[2] = {{"r", STRATA_FLOAT, 1, dynamic, names}, {"s", STRATA_FLOAT, 1, dynamic, names}};
static const strata_model_descriptor model_descriptor = {
    .abi_version = STRATA_ABI_VERSION, .num_inputs = 2, .num_outputs = 2, .name = "test", .metadata = "",
    .inputs = inputs, .outputs = outputs, .main = model_main};

static const strata_value_info inputs_of_five[2] = {{"x", STRATA_FLOAT, 1, five, names}, {"y", STRATA_FLOAT, 1, dynamic, names}};
static const strata_model_descriptor version_of_five = {
    .abi_version = STRATA_ABI_VERSION, .num_inputs = 2, .num_outputs = 2, .name = "test", .metadata = "",
    .inputs = inputs_of_five, .outputs = outputs, .main = version_main};

static strata_session *session;
static strata_tensor in[2], out[2];

static bool run(const char *how) {
  mode = how;
  return strata_session_run(session, in, 2, out, 2) == 0;
}

static void check_and_release(const float *x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    CHECK(((float *)out[0].data)[i] == x[i] + 1);
    CHECK(((float *)out[1].data)[i] == (strcmp(mode, "shared") ? x[i] : x[i] + 1));
  }
  CHECK(out[0].shape[0] == n && out[0].rank == 1 && out[0].dtype == STRATA_FLOAT);
  CHECK(out[1].data != out[0].data && out[1].data != x);
  out[0].release(&out[0]);
  out[1].release(&out[1]);
}

int main(int argc, char **argv) {
  enum { n = 10000 };
  static float x[2 * n];
  for (int i = 0; i < 2 * n; ++i)
    x[i] = i;
  int64_t shape[1] = {n}, other_shape[1] = {n - 1}, two[2] = {n, 1};
  strata_model *model;
  CHECK(strata_model_from_descriptor(&model_descriptor, &model) == 0);
  for (int threads = 1; threads <= 8; ++threads) {
    strata_session_options options = {.threads = threads, .memory_limit = 64 << 20};
    CHECK(strata_session_create(model, &options, &session) == 0);
    CHECK(strata_session_threads(session) == threads);
    in[0] = in[1] = (strata_tensor){.data = x, .dtype = STRATA_FLOAT, .rank = 1, .shape = shape};
    static const char *const modes[] = {"", "nested", "shared", "temporaries", "reuse"};
    for (int i = 0; i < 300; ++i) {
      CHECK(run(modes[i % (i < 50 ? 5 : 3)]));
      check_and_release(x, n);
    }
    static const char *const failures[][2] = {
        {"fail", "node 'n': the indices are out of range"}, {"error in body", "element 5000 is bad"},
        {"fail in body", "element 5000 failed"},            {"huge", "out of memory"},
        {"negative", "out of memory"},                      {"many", "out of memory"},
        {"many temporaries", "out of memory"}};
    for (int i = 0; i < 7; ++i) {
      CHECK(!run(failures[i][0]) && strstr(strata_last_error(), failures[i][1]));
      CHECK(run("")); // the session goes on
      check_and_release(x, n);
    }
    if (threads == 2) {
      printf("%s\n", (run("many"), strata_last_error()));
      // Strided and misaligned inputs are copied.
      static float every_second[n];
      static char shifted[n * 4 + 1];
      for (int i = 0; i < n; ++i)
        every_second[i] = x[2 * i];
      int64_t strides[1] = {2};
      in[0].strides = strides;
      CHECK(run(""));
      check_and_release(every_second, n);
      in[0].strides = NULL;
      memcpy(shifted + 1, x, n * 4);
      in[0].data = shifted + 1;
      CHECK(run(""));
      check_and_release(x, n);
      in[0].data = x;
      in[1].shape = other_shape;
      CHECK(!run(""));
      printf("%s\n", strata_last_error());
      in[1].shape = two, in[1].rank = 2;
      CHECK(!run(""));
      printf("%s\n", strata_last_error());
      in[1] = in[0], in[1].dtype = STRATA_DOUBLE;
      CHECK(!run(""));
      printf("%s\n", strata_last_error());
      CHECK(strata_session_run(session, in, 1, out, 2) != 0);
      printf("%s\n", strata_last_error());
      in[1] = in[0];
    }
    // Results outlive their session.
    CHECK(run(""));
    strata_session_free(session);
    check_and_release(x, n);
  }
  // Latency of an empty-ish parallel region and of a whole run.
  strata_session_options options = {.threads = argc > 1 ? atoi(argv[1]) : 0};
  CHECK(strata_session_create(model, &options, &session) == 0);
  shape[0] = 64;
  struct timespec a, b;
  enum { runs = 20000 };
  clock_gettime(CLOCK_MONOTONIC, &a);
  for (int i = 0; i < runs; ++i) {
    CHECK(run(""));
    out[0].release(&out[0]), out[1].release(&out[1]);
  }
  clock_gettime(CLOCK_MONOTONIC, &b);
  fprintf(stderr, "run with one region: %.0f ns\n", ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / runs);
  // Versions: of the descriptor, taken away, given to the session.
  const strata_model_descriptor *versions[1] = {&version_of_five};
  strata_model_descriptor with_version = model_descriptor;
  with_version.num_versions = 1;
  with_version.versions = versions;
  strata_session_free(session);
  strata_model_free(model);
  CHECK(strata_model_from_descriptor(&with_version, &model) == 0 && strata_session_create(model, NULL, &session) == 0);
  int64_t sizes[2][1] = {{5}, {6}};
  for (int given = 1; given >= -1; --given) {
    if (given < 1)
      CHECK(strata_session_set_versions(session, versions, given < 0) == 0);
    for (int i = 0; i < 2; ++i) {
      in[0].shape = in[1].shape = sizes[i];
      version_runs = 0;
      CHECK(run(""));
      CHECK(version_runs == (given && i == 0));
      CHECK(out[0].shape[0] == sizes[i][0] && ((float *)out[0].data)[1] == x[1] + (version_runs ? 0 : 1));
      out[0].release(&out[0]), out[1].release(&out[1]);
    }
  }
  strata_model_descriptor other = version_of_five;
  other.num_inputs = 1;
  versions[0] = &other;
  CHECK(strata_session_set_versions(session, versions, 1) != 0);
  printf("%s\n", strata_last_error());
  strata_session_free(session);
  strata_model_free(model);
  CHECK(strata_model_load("/nonexistent.so", &model) != 0);
  printf("%s\n", strata_last_error());
  // Instruction sets: known ones are checked, on x86-64 at least; AMX-FP16 and the like are taken for granted.
  strata_model_descriptor demanding = model_descriptor;
  demanding.metadata = "cpu: x\nneeds: sse3,no-such-set\n";
  CHECK(strata_model_from_descriptor(&demanding, &model) == 0);
  strata_model_free(model);
  demanding.abi_version = 99;
  CHECK(strata_model_from_descriptor(&demanding, &model) != 0);
  printf("%s\n", strata_last_error());
  puts("sessions: ok");
}
