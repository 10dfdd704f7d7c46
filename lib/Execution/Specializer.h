//===- Specializer.h - versions that are made while a model runs -*- C++ -*-===//
#ifndef STRATA_LIB_EXECUTION_SPECIALIZER_H
#define STRATA_LIB_EXECUTION_SPECIALIZER_H

#include "Execution/Specialize.h"
#include "JitCode.h"
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

namespace strata {

/// Counts the runs of a session by their inputs' shapes, and compiles versions for frequent ones on a thread of its
/// own. The session's list of versions is changed here alone; which of them runs is the runtime's decision.
class Specializer {
public:
  /// `session` outlives this. `module` is as it was imported; `pool` has the constants of the model itself, if they are
  /// of this process. `fixed` are the versions that were compiled with the model.
  Specializer(std::shared_ptr<mlir::MLIRContext> context, mlir::OwningOpRef<mlir::ModuleOp> module,
              const CompileOptions &options, const SpecializeOptions &specialize, ConstantPool pool,
              llvm::ArrayRef<const strata_model_descriptor *> fixed, strata_session *session);
  /// Waits for the thread, which gives up what it compiles at the next opportunity.
  ~Specializer();

  /// A run with these inputs has succeeded.
  void ran(llvm::ArrayRef<Tensor> inputs);
  /// Waits until nothing is being compiled.
  void settle();
  /// Ends the thread; the versions that there are stay.
  void stop();
  std::vector<ModelVersion> versions();

private:
  struct Entry {
    InputShapes shapes;
    ModelVersion::State state = ModelVersion::Counted;
    uint64_t calls = 0;   ///< since counting began
    uint64_t since = 0;   ///< the run in which it did
    uint64_t lastRun = 0; ///< the last run with these shapes
    std::unique_ptr<JitCode> code;
    std::string why; ///< it failed
  };

  Entry &entryFor(llvm::ArrayRef<Tensor> inputs);
  bool isWorthwhile(const Entry &entry) const;
  void work();
  mlir::FailureOr<std::unique_ptr<JitCode>> compile(const InputShapes &shapes, std::string &why);
  void install(Entry &entry, std::unique_ptr<JitCode> code, std::unique_lock<std::mutex> &lock);
  Entry *leastRecentlyUsed();
  uint64_t bytesInUse() const;
  size_t countInUse() const;

  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  CompileOptions options;
  SpecializeOptions specialize;
  ConstantPool pool;
  std::vector<const strata_model_descriptor *> fixed;
  strata_session *session;

  std::mutex mutex; ///< of all that follows
  std::condition_variable wake, settled;
  std::list<Entry> entries; ///< the most recently used first
  uint64_t runs = 0;
  Entry *wanted = nullptr; ///< what the thread compiles next, or now
  std::atomic<bool> stopping = false;
  std::thread thread;
};

} // namespace strata

#endif // STRATA_LIB_EXECUTION_SPECIALIZER_H
