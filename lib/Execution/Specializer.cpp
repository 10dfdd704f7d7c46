//===- Specializer.cpp - versions that are made while a model runs --------===//

#include "Specializer.h"
#include "mlir/IR/Diagnostics.h"
#include <sys/resource.h>
#include <unistd.h>

using namespace mlir;

namespace strata {

/// Shapes that are only counted: more than these are forgotten, the longest unused first.
static constexpr size_t kCounted = 64;

Specializer::Specializer(std::shared_ptr<MLIRContext> context, OwningOpRef<ModuleOp> module,
                         const CompileOptions &options, const SpecializeOptions &specialize, ConstantPool pool,
                         ArrayRef<const strata_model_descriptor *> fixed, strata_session *session)
    : context(std::move(context)), module(std::move(module)), options(options), specialize(specialize),
      pool(std::move(pool)), fixed(fixed), session(session) {
  // Beside runs nothing can be measured.
  if (this->options.tuning.mode == Tuning::Measure)
    this->options.tuning.mode = Tuning::Known;
  thread = std::thread([this] { work(); });
}

Specializer::~Specializer() {
  stop();
  strata_session_set_versions(session, fixed.data(), fixed.size());
}

void Specializer::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  if (thread.joinable())
    thread.join();
  settled.notify_all();
}

/// Whether a version has all sizes of a run, which it then serves: nothing is left to know.
static bool isComplete(const strata_model_descriptor *version, ArrayRef<Tensor> inputs) {
  for (uint32_t i = 0; i < version->num_inputs; ++i)
    for (int32_t j = 0; j < version->inputs[i].rank; ++j)
      if (version->inputs[i].dims[j] != inputs[i].shape[j])
        return false;
  return true;
}

/// Containers have no shape that code could be made for.
static bool hasShape(const std::vector<int64_t> &shape, const Tensor &tensor) {
  return tensor.isContainer() ? shape.empty() : shape == tensor.shape;
}

Specializer::Entry &Specializer::entryFor(ArrayRef<Tensor> inputs) {
  auto found = llvm::find_if(entries, [&](const Entry &entry) { return llvm::equal(entry.shapes, inputs, hasShape); });
  if (found != entries.end()) {
    entries.splice(entries.begin(), entries, found);
    return entries.front();
  }
  Entry &entry = entries.emplace_front();
  for (const Tensor &tensor : inputs)
    entry.shapes.push_back(tensor.isContainer() ? std::vector<int64_t>() : tensor.shape);
  entry.since = runs;
  auto isCounted = [](const Entry &entry) { return entry.state == ModelVersion::Counted || !entry.why.empty(); };
  if (static_cast<size_t>(llvm::count_if(entries, isCounted)) > kCounted)
    entries.erase(std::prev(llvm::find_if(llvm::reverse(entries), isCounted).base()));
  return entry;
}

/// Where there is no room, a version goes only if it was not run all the while: more shapes in turns than there may be
/// versions would be compiled for ever.
bool Specializer::isWorthwhile(const Entry &entry) const {
  return countInUse() < specialize.limit ||
         llvm::any_of(
             entries,
             [&](const Entry &other) { return other.state == ModelVersion::InUse && other.lastRun < entry.since; });
}

void Specializer::ran(ArrayRef<Tensor> inputs) {
  if (llvm::any_of(fixed, [&](const auto *version) { return isComplete(version, inputs); }))
    return;
  std::lock_guard<std::mutex> lock(mutex);
  Entry &entry = entryFor(inputs);
  entry.lastRun = ++runs;
  if (entry.state != ModelVersion::Counted || ++entry.calls < specialize.after || wanted || stopping)
    return;
  if (!isWorthwhile(entry)) {
    entry.calls = 0;
    entry.since = runs;
    return;
  }
  entry.state = ModelVersion::Compiling;
  wanted = &entry;
  wake.notify_all();
}

void Specializer::settle() {
  std::unique_lock<std::mutex> lock(mutex);
  settled.wait(lock, [&] { return !wanted || stopping; });
}

std::vector<ModelVersion> Specializer::versions() {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<ModelVersion> result;
  for (const Entry &entry : entries)
    if (entry.state != ModelVersion::Counted)
      result.push_back({entry.shapes, entry.state, entry.why, entry.code ? entry.code->bytes() : 0});
  return result;
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

void Specializer::work() {
  // Runs come first. A thread has a priority of its own on Linux, which those that it starts inherit.
  setpriority(PRIO_PROCESS, gettid(), 10);
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    wake.wait(lock, [&] { return wanted || stopping; });
    if (stopping)
      return;
    Entry &entry = *wanted;
    InputShapes shapes = entry.shapes;
    lock.unlock();
    std::string why;
    FailureOr<std::unique_ptr<JitCode>> code = compile(shapes, why);
    lock.lock();
    if (stopping)
      return;
    if (succeeded(code)) {
      install(entry, std::move(*code), lock);
    } else {
      entry.state = ModelVersion::Failed;
      entry.why = llvm::StringRef(why).rtrim().str();
      if (entry.why.empty())
        entry.why = "error: compiling failed";
    }
    wanted = nullptr;
    settled.notify_all();
  }
}

FailureOr<std::unique_ptr<JitCode>> Specializer::compile(const InputShapes &shapes, std::string &why) {
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    llvm::raw_string_ostream os(why);
    printDiagnostic(os, diagnostic);
    return success();
  });
  OwningOpRef<ModuleOp> version = module->clone();
  specializeInputs(*version, shapes);
  auto known = [&](llvm::StringRef key) { return pool.has(key); };
  auto stop = [&] { return stopping.load(); };
  if (failed(lowerVersion(*version, options, known, {}, stop)))
    return failure();
  return JitCode::compile(*version, options, &pool, &stopping);
}

uint64_t Specializer::bytesInUse() const {
  uint64_t bytes = 0;
  for (const Entry &entry : entries)
    bytes += entry.code ? entry.code->bytes() : 0;
  return bytes;
}

size_t Specializer::countInUse() const {
  return llvm::count_if(entries, [](const Entry &entry) { return entry.state == ModelVersion::InUse; });
}

Specializer::Entry *Specializer::leastRecentlyUsed() {
  auto found = llvm::find_if(llvm::reverse(entries), [](const Entry &entry) { return entry.code != nullptr; });
  return found == entries.rend() ? nullptr : &*found;
}

/// Makes room, then tells the session. What had to go is freed when no run uses it any more.
void Specializer::install(Entry &entry, std::unique_ptr<JitCode> code, std::unique_lock<std::mutex> &lock) {
  if (specialize.memory && code->bytes() > specialize.memory) {
    entry.state = ModelVersion::Failed;
    entry.why = "takes " + std::to_string(code->bytes()) + " bytes, more than all versions together may";
    return;
  }
  std::vector<std::unique_ptr<JitCode>> gone;
  while (countInUse() >= specialize.limit || (specialize.memory && bytesInUse() + code->bytes() > specialize.memory)) {
    Entry *oldest = leastRecentlyUsed();
    gone.push_back(std::move(oldest->code));
    oldest->state = ModelVersion::Counted;
    oldest->calls = 0;
    oldest->since = runs;
  }
  entry.code = std::move(code);
  entry.state = ModelVersion::InUse;
  std::vector<const strata_model_descriptor *> list;
  for (const Entry &other : entries)
    if (other.code)
      list.push_back(&other.code->descriptor());
  // They say all sizes: before those that were compiled with the model, and perhaps say fewer.
  llvm::append_range(list, fixed);
  // Waits for the current run, and other runs shall not wait for that to be counted.
  lock.unlock();
  strata_session_set_versions(session, list.data(), list.size());
  gone.clear();
  lock.lock();
}

} // namespace strata
