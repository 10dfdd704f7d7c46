//===- Driver.cpp - CUDA's driver, of the emulated device -----------------===//
#include "Emulator.h"
#include "TensorMap.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <sys/mman.h>

using namespace strata::emulator;

namespace {

enum Result {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  InvalidImage = 200,
  NotFound = 500,
  InvalidHandle = 400,
  StreamCapture = 900,
  IllegalAddress = 700,
  OutOfResources = 701,
  LaunchFailed = 719
};

struct {
  Result result;
  const char *name, *text;
} const results[] = {
    {Success, "CUDA_SUCCESS", "no error"},
    {InvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {InvalidImage, "CUDA_ERROR_INVALID_IMAGE",
     "the emulator takes kernels as LLVM's bitcode only (--gpu-format=bitcode)"},
    {InvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {NotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {OutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
    {StreamCapture, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "operation not permitted when stream is capturing"},
    {LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

std::mutex mutex;

//===----------------------------------------------------------------------===//
// Device memory: pages that only kernels and copies may touch, each allocation
// at the end of its pages, before one that nobody may.
//===----------------------------------------------------------------------===//

constexpr size_t page = 4096;

struct Allocation {
  char *pages;
  size_t mapped, bytes; ///< without the guard; of these, the last ones
  int device;
};
std::map<uint64_t, Allocation> memory; // by address

constexpr int maxDevices = 16;
int contexts[maxDevices]; // a context is the address of the place that is its device's
thread_local int current = 0;

/// STRATA_EMULATOR_DEVICES, of which there is one where it does not say.
int countDevices() {
  const char *text = std::getenv("STRATA_EMULATOR_DEVICES");
  return text ? std::clamp(std::atoi(text), 0, maxDevices) : 1;
}

Result allocate(uint64_t &address, size_t bytes) {
  if (bytes == 0)
    return InvalidValue;
  if (bytes > (size_t(16) << 30))
    return OutOfMemory;
  size_t mapped = (bytes + 255 + page) / page * page;
  void *pages = mmap(nullptr, mapped + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return OutOfMemory;
  char *base = static_cast<char *>(pages);
  address = reinterpret_cast<uint64_t>(base + mapped - bytes) & ~uint64_t(255);
  std::memset(base, 0xff, mapped); // not a number
  mprotect(base, mapped + page, PROT_NONE);
  memory[address] = {base, mapped, bytes, current};
  return Success;
}

/// Opens the current device's memory as long as it lives.
struct Access {
  Access() { protect(PROT_READ | PROT_WRITE); }
  ~Access() { protect(PROT_NONE); }
  static void protect(int protection) {
    for (auto &[address, allocation] : memory)
      if (allocation.device == current)
        mprotect(allocation.pages, allocation.mapped, protection);
  }
};

/// The allocation that begins at the address or last before it.
const std::pair<const uint64_t, Allocation> *findAllocation(uint64_t address) {
  auto next = memory.upper_bound(address);
  return next == memory.begin() ? nullptr : &*std::prev(next);
}

/// Whether [address, address + bytes) is one allocation's.
bool isAllocated(uint64_t address, size_t bytes) {
  const auto *found = findAllocation(address);
  return found && found->second.device == current && address + bytes <= found->first + found->second.bytes;
}

/// Where an address lies, for whoever looks for what a kernel did wrong.
std::string describe(uint64_t address) {
  const auto *found = findAllocation(address);
  if (!found)
    return "before all memory of the device";
  const auto &[begin, allocation] = *found;
  uint64_t offset = address - begin;
  return llvm::formatv("{0} bytes {1} {2} bytes of device {3}",
                       offset < allocation.bytes ? offset : offset - allocation.bytes,
                       offset < allocation.bytes ? "into" : "behind", allocation.bytes, allocation.device);
}

/// STRATA_EMULATOR_FAIL=upload, download, copy or "tensor map": such copies fail, or the descriptions for them.
bool shallFail(llvm::StringRef what) {
  const char *text = std::getenv("STRATA_EMULATOR_FAIL");
  return text && what == text;
}

int report(llvm::Error error, Result result) {
  std::fprintf(stderr, "emulator: %s\n", llvm::toString(std::move(error)).c_str());
  return result;
}

//===----------------------------------------------------------------------===//
// Streams: work is done when it is asked for, or kept while a graph is recorded.
//===----------------------------------------------------------------------===//

using Graph = std::vector<std::function<int()>>;
struct Stream {
  bool capturing = false;
  Graph graph;
};
long launchedGraphs = 0, launchedKernels = 0;

//===----------------------------------------------------------------------===//
// Time: the device's clock goes on with each kernel, by so much as the
// environment says.
//===----------------------------------------------------------------------===//

struct Event {
  enum { WithoutTime = 2 };
  std::optional<int64_t> nanoseconds;
  bool withoutTime;
};
int64_t clockNanoseconds = 0;

/// STRATA_EMULATOR_TIMES=BLOCKSxTHREADSxBYTES:MICROSECONDS,...: of launches of so many blocks and threads, whose blocks
/// have so many bytes of shared memory; "fails" in the place of a number: they are refused. Others take a millisecond.
std::optional<int64_t> nanosecondsOf(const Kernel &kernel, const Grid &grid) {
  constexpr int64_t millisecond = 1000000;
  const char *text = std::getenv("STRATA_EMULATOR_TIMES");
  if (!text)
    return millisecond;
  llvm::SmallVector<llvm::StringRef> entries;
  llvm::StringRef(text).split(entries, ',');
  std::string shape = llvm::formatv("{0}x{1}x{2}", grid.blocks[0], grid.threads[0], grid.shared + kernel.ownShared);
  for (llvm::StringRef entry : entries) {
    auto [name, time] = entry.split(':');
    double microseconds;
    if (name != shape)
      continue;
    if (time == "fails")
      return std::nullopt;
    if (!time.getAsDouble(microseconds))
      return int64_t(microseconds * 1e3);
  }
  return millisecond;
}

/// Does the work, or adds it to the graph that is being recorded.
int submit(void *stream, std::function<int()> work) {
  auto *s = static_cast<Stream *>(stream);
  if (!s || !s->capturing)
    return work();
  s->graph.push_back(std::move(work));
  return Success;
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default"))) int

EXPORT cuInit(unsigned) { return Success; }
EXPORT cuDeviceGetCount(int *count) { return *count = countDevices(), Success; }
EXPORT cuDeviceGet(int *device, int ordinal) {
  return *device = ordinal, ordinal < 0 || ordinal >= countDevices() ? InvalidValue : Success;
}
EXPORT cuDeviceGetAttribute(int *value, int attribute, int) {
  // STRATA_EMULATOR_CAPABILITY, or 9.0; so few multiprocessors that blocks of a small product have several tiles.
  const char *text = std::getenv("STRATA_EMULATOR_CAPABILITY");
  int capability = text ? std::atoi(text) : 90;
  *value = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : attribute == 16 ? 3 : 0;
  return Success;
}
EXPORT cuDeviceGetName(char *name, int length, int) {
  std::snprintf(name, length, "Strata's emulator");
  return Success;
}
EXPORT cuDevicePrimaryCtxRetain(void **context, int device) { return *context = &contexts[device], Success; }
EXPORT cuDevicePrimaryCtxRelease_v2(int) { return Success; }
EXPORT cuCtxSetCurrent(void *context) { return current = static_cast<int *>(context) - contexts, Success; }
EXPORT cuStreamCreate(void **stream, unsigned) { return *stream = new Stream, Success; }
EXPORT cuStreamDestroy_v2(void *stream) { return delete static_cast<Stream *>(stream), Success; }
EXPORT cuStreamSynchronize(void *stream) {
  return stream && static_cast<Stream *>(stream)->capturing ? StreamCapture : Success;
}
EXPORT cuEventCreate(void **event, unsigned flags) {
  return *event = new Event{std::nullopt, (flags & Event::WithoutTime) != 0}, Success;
}
EXPORT cuEventDestroy_v2(void *event) { return delete static_cast<Event *>(event), Success; }
EXPORT cuEventRecord(void *event, void *) {
  std::lock_guard<std::mutex> lock(mutex);
  return static_cast<Event *>(event)->nanoseconds = clockNanoseconds, Success;
}
EXPORT cuEventSynchronize(void *) { return Success; }
EXPORT cuEventElapsedTime(float *milliseconds, void *from, void *to) {
  auto *first = static_cast<Event *>(from), *last = static_cast<Event *>(to);
  for (const Event *event : {first, last})
    if (!event->nanoseconds || event->withoutTime)
      return InvalidHandle;
  return *milliseconds = float(double(*last->nanoseconds - *first->nanoseconds) / 1e6), Success;
}
EXPORT cuMemHostAlloc(void **pointer, size_t bytes, unsigned) {
  return *pointer = std::malloc(bytes), *pointer ? Success : OutOfMemory;
}
EXPORT cuMemFreeHost(void *pointer) { return std::free(pointer), Success; }

EXPORT cuStreamBeginCapture_v2(void *stream, int) {
  auto *s = static_cast<Stream *>(stream);
  if (s->capturing)
    return StreamCapture;
  s->capturing = true;
  return Success;
}
EXPORT cuStreamEndCapture(void *stream, void **graph) {
  auto *s = static_cast<Stream *>(stream);
  if (!s->capturing)
    return InvalidValue;
  *graph = new Graph(std::move(s->graph));
  s->graph.clear();
  s->capturing = false;
  return Success;
}
EXPORT cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long) {
  return *exec = new Graph(*static_cast<Graph *>(graph)), Success;
}
EXPORT cuGraphLaunch(void *exec, void *) {
  ++launchedGraphs;
  for (const auto &work : *static_cast<Graph *>(exec))
    if (int result = work())
      return result;
  return Success;
}
EXPORT cuGraphDestroy(void *graph) { return delete static_cast<Graph *>(graph), Success; }
EXPORT cuGraphExecDestroy(void *exec) { return delete static_cast<Graph *>(exec), Success; }
/// For tests: how many graphs were started so far.
extern "C" __attribute__((visibility("default"))) long strata_emulator_graphs() { return launchedGraphs; }
/// And how many kernels.
extern "C" __attribute__((visibility("default"))) long strata_emulator_kernels() { return launchedKernels; }
EXPORT cuFuncSetAttribute(void *function, int attribute, int value) {
  if (attribute == 8) // dynamic shared memory
    static_cast<Kernel *>(function)->mostShared = value;
  return Success;
}

EXPORT cuTensorMapEncodeTiled(void *result, int type, unsigned rank, void *address, const uint64_t *sizes,
                              const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                              int swizzle, int, int) {
  if (shallFail("tensor map"))
    return InvalidValue;
  TensorMap map = {};
  map.magic = TensorMap::expectedMagic;
  map.type = uint8_t(type);
  map.rank = uint8_t(rank);
  map.swizzle = uint8_t(swizzle);
  switch (type) {
  case TensorMap::Byte:
    map.elementBytes = 1;
    break;
  case TensorMap::Half:
  case TensorMap::BFloat:
    map.elementBytes = 2;
    break;
  case TensorMap::TensorFloat:
    map.elementBytes = 4;
    break;
  default:
    return InvalidValue;
  }
  auto aligned = [](const void *pointer, unsigned to) { return reinterpret_cast<uintptr_t>(pointer) % to == 0; };
  static const unsigned widths[] = {256 * 8, 32, 64, 128};
  if (rank < 1 || rank > 5 || !aligned(result, 64) || !aligned(address, 16) || interleave != 0 || swizzle < 0 ||
      swizzle > 3 || box[0] * map.elementBytes % 16 || box[0] * map.elementBytes > widths[swizzle])
    return InvalidValue;
  map.address = static_cast<const char *>(address);
  for (unsigned d = 0; d < rank; ++d) {
    if (sizes[d] == 0 || sizes[d] > uint64_t(1) << 32 || box[d] == 0 || box[d] > 256 || steps[d] == 0 || steps[d] > 8)
      return InvalidValue;
    if (d > 0 && (strides[d - 1] % 16 || strides[d - 1] >= uint64_t(1) << 40))
      return InvalidValue;
    map.sizes[d] = sizes[d];
    if (d > 0)
      map.strides[d - 1] = strides[d - 1];
    map.box[d] = box[d];
    map.steps[d] = d == 0 ? 1 : steps[d]; // there is none along the elements
  }
  std::memcpy(result, &map, sizeof(map));
  return Success;
}

EXPORT cuGetErrorName(int result, const char **name) {
  for (const auto &known : results)
    if (known.result == result)
      return *name = known.name, Success;
  return InvalidValue;
}
EXPORT cuGetErrorString(int result, const char **text) {
  for (const auto &known : results)
    if (known.result == result)
      return *text = known.text, Success;
  return InvalidValue;
}

EXPORT cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  return allocate(*address, bytes);
}
EXPORT cuMemFree_v2(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = memory.find(address);
  if (found == memory.end())
    return InvalidValue;
  munmap(found->second.pages, found->second.mapped + page);
  memory.erase(found);
  return Success;
}
static bool isCapturing(void *stream) { return stream && static_cast<Stream *>(stream)->capturing; }

EXPORT cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
  if (isCapturing(stream))
    return StreamCapture; // the runtime records none
  std::lock_guard<std::mutex> lock(mutex);
  if (!isAllocated(to, bytes) || shallFail("upload"))
    return InvalidValue;
  Access access;
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return Success;
}
EXPORT cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
  if (isCapturing(stream))
    return StreamCapture;
  std::lock_guard<std::mutex> lock(mutex);
  if (!isAllocated(from, bytes) || shallFail("download"))
    return InvalidValue;
  Access access;
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return Success;
}
EXPORT cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  return submit(stream, [=]() -> int {
    std::lock_guard<std::mutex> lock(mutex);
    if (!isAllocated(to, bytes) || !isAllocated(from, bytes) || shallFail("copy"))
      return InvalidValue;
    Access access;
    std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
    return Success;
  });
}

// The size of an image is not passed: bitcode says itself how long it is.
EXPORT cuModuleLoadDataEx(void **module, const void *image, unsigned, int *, void **) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto *bytes = static_cast<const unsigned char *>(image);
  if (bytes[0] != 0xDE || bytes[1] != 0xC0 || bytes[2] != 0x17 || bytes[3] != 0x0B)
    return InvalidImage;
  uint32_t offset, size;
  std::memcpy(&offset, bytes + 8, 4);
  std::memcpy(&size, bytes + 12, 4);
  auto loaded = KernelModule::load(llvm::StringRef(static_cast<const char *>(image) + offset, size));
  if (!loaded)
    return report(loaded.takeError(), InvalidImage);
  *module = loaded->release();
  return Success;
}
EXPORT cuModuleUnload(void *module) {
  std::lock_guard<std::mutex> lock(mutex);
  delete static_cast<KernelModule *>(module);
  return Success;
}
EXPORT cuModuleGetFunction(void **function, void *module, const char *name) {
  std::lock_guard<std::mutex> lock(mutex);
  *function = const_cast<Kernel *>(static_cast<KernelModule *>(module)->find(name));
  return *function ? Success : NotFound;
}

static int launch(const Kernel &kernel, const Grid &grid, void **arguments) {
  std::lock_guard<std::mutex> lock(mutex);
  ++launchedKernels;
  std::optional<int64_t> time = nanosecondsOf(kernel, grid);
  if (!time)
    return OutOfResources;
  clockNanoseconds += *time;
  Access access;
  llvm::Error error = run(kernel, grid, arguments);
  if (!error)
    return Success;
  Result result = LaunchFailed;
  error = llvm::handleErrors(std::move(error), [&](const Fault &fault) {
    result = IllegalAddress;
    return llvm::createStringError(fault.message() + ": " + describe(fault.address) + fault.registers);
  });
  return report(std::move(error), result);
}

EXPORT cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void *stream, void **arguments, void **) {
  if (gx == 0 || gy == 0 || gz == 0 || gy > 65535 || gz > 65535 || bx * by * bz > 1024 || shared > 232448)
    return InvalidValue;
  const auto &kernel = *static_cast<Kernel *>(function);
  Grid grid{{gx, gy, gz}, {bx, by, bz}, shared};
  // More than 48 KiB must have been asked for.
  if (shared > 48 << 10 && shared > kernel.mostShared)
    return InvalidValue;
  if (!isCapturing(stream))
    return launch(kernel, grid, arguments);
  // A graph keeps the arguments' values.
  std::vector<std::vector<char>> values;
  for (auto [i, bytes] : llvm::enumerate(kernel.parameters)) {
    const char *value = static_cast<const char *>(arguments[i]);
    values.emplace_back(value, value + bytes);
  }
  return submit(stream, [&kernel, grid, values]() mutable {
    std::vector<void *> pointers;
    for (std::vector<char> &value : values)
      pointers.push_back(value.data());
    return launch(kernel, grid, pointers.data());
  });
}
