/* Whether this CPU has what a model was compiled for: without the check, the first missing instruction would end the
 * process. The line "needs: avx2,fma,..." of the model's metadata uses LLVM's names; those that are not in the table
 * are taken for granted. */
#include "Internal.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { eax, ebx, ecx, edx };
/* The registers that the operating system must save: ymm, zmm with masks, tiles. */
enum { none = 0, ymm = 0x6, zmm = 0xe6, tile = 0x60000 };

static const struct {
  const char *name;
  uint8_t leaf, subleaf, reg, bit;
  uint32_t state;
} features[] = {
    {"sse3", 1, 0, ecx, 0, none},         {"ssse3", 1, 0, ecx, 9, none},
    {"fma", 1, 0, ecx, 12, ymm},          {"sse4.1", 1, 0, ecx, 19, none},
    {"sse4.2", 1, 0, ecx, 20, none},      {"movbe", 1, 0, ecx, 22, none},
    {"popcnt", 1, 0, ecx, 23, none},      {"avx", 1, 0, ecx, 28, ymm},
    {"f16c", 1, 0, ecx, 29, ymm},         {"bmi", 7, 0, ebx, 3, none},
    {"avx2", 7, 0, ebx, 5, ymm},          {"bmi2", 7, 0, ebx, 8, none},
    {"avx512f", 7, 0, ebx, 16, zmm},      {"avx512dq", 7, 0, ebx, 17, zmm},
    {"avx512ifma", 7, 0, ebx, 21, zmm},   {"avx512cd", 7, 0, ebx, 28, zmm},
    {"avx512bw", 7, 0, ebx, 30, zmm},     {"avx512vl", 7, 0, ebx, 31, zmm},
    {"avx512vbmi", 7, 0, ecx, 1, zmm},    {"avx512vbmi2", 7, 0, ecx, 6, zmm},
    {"gfni", 7, 0, ecx, 8, none},         {"avx512vnni", 7, 0, ecx, 11, zmm},
    {"avx512bitalg", 7, 0, ecx, 12, zmm}, {"avx512vpopcntdq", 7, 0, ecx, 14, zmm},
    {"amx-bf16", 7, 0, edx, 22, tile},    {"avx512fp16", 7, 0, edx, 23, zmm},
    {"amx-tile", 7, 0, edx, 24, tile},    {"amx-int8", 7, 0, edx, 25, tile},
    {"avxvnni", 7, 1, eax, 4, ymm},       {"avx512bf16", 7, 1, eax, 5, zmm},
};

static uint64_t saved_state(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 27)))
    return 0;
  __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return ((uint64_t)d << 32) | a;
}

static bool has_feature(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); ++i) {
    if (strlen(features[i].name) != length || memcmp(features[i].name, name, length))
      continue;
    unsigned regs[4];
    if (!__get_cpuid_count(features[i].leaf, features[i].subleaf, &regs[eax], &regs[ebx], &regs[ecx], &regs[edx]) ||
        !(regs[features[i].reg] >> features[i].bit & 1))
      return false;
    return (saved_state() & features[i].state) == features[i].state;
  }
  return true;
}

/* Virtual machines leave for each question to the CPU. */
bool strata_cpu_has_avx2(void) {
  enum { unknown, no, yes };
  static atomic_int answer = unknown;
  int known = atomic_load_explicit(&answer, memory_order_relaxed);
  if (known == unknown) {
    known = has_feature("avx2", strlen("avx2")) ? yes : no;
    atomic_store_explicit(&answer, known, memory_order_relaxed);
  }
  return known == yes;
}

/* Linux gives the tile registers only to processes that ask. */
static bool request_tiles(void) {
  enum { request_permission = 0x1023, tile_data = 18 };
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}
#else
static bool has_feature(const char *name, size_t length) { return true; }
static bool request_tiles(void) { return true; }
#endif

int strata_check_cpu(const strata_model_descriptor *descriptor) {
  const char *line = strstr(descriptor->metadata, "needs: ");
  if (!line)
    return 0;
  const char *at = line + strlen("needs: ");
  while (*at && *at != '\n') {
    size_t length = strcspn(at, ",\n");
    if (!has_feature(at, length))
      return strata_set_last_error("model '%s' was compiled for a CPU with %.*s, which this one does not have; compile "
                                   "it for this machine, or for an older one with --mcpu",
                                   descriptor->name, (int)length, at);
    if (length == strlen("amx-tile") && !memcmp(at, "amx-tile", length) && !request_tiles())
      return strata_set_last_error("model '%s' uses AMX, which the operating system does not allow", descriptor->name);
    at += length;
    at += *at == ',';
  }
  return 0;
}
