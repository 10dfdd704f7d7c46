//===- MeasureKernel.cpp - which form of a kernel is the fastest ----------===//
//
// All forms are functions of one module, whose @main takes the number of a form,
// a number of calls, and the buffers. It is compiled and run as a model is, on
// the threads of a session, or on its GPU: then @main gives the time that the GPU
// has taken, in nanoseconds.
//
//===----------------------------------------------------------------------===//

#include "MeasureKernel.h"
#include "Codegen/TileChoice.h"
#include "Execution/Driver.h"
#include "Execution/Elements.h"
#include "JitCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

using namespace mlir;

namespace strata {

/// Elements from the first to the last one.
static int64_t spanOf(MemRefType type, ArrayRef<int64_t> strides, int64_t offset) {
  int64_t span = offset + 1;
  for (auto [size, stride] : llvm::zip(type.getShape(), strides))
    span += (size - 1) * stride;
  return span;
}

/// Memory that holds a buffer of the type, as an input of @main.
static FailureOr<MemRefType> storageFor(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(getStridesAndOffset(type, strides, offset)) || llvm::is_contained(strides, ShapedType::kDynamic))
    return failure();
  return MemRefType::get({spanOf(type, strides, ShapedType::isDynamic(offset) ? 0 : offset)}, type.getElementType());
}

/// The buffer in its storage.
static Value viewOf(OpBuilder &b, Location loc, Value storage, MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)getStridesAndOffset(type, strides, offset);
  offset = ShapedType::isDynamic(offset) ? 0 : offset;
  auto layout = StridedLayoutAttr::get(b.getContext(), offset, strides);
  auto known = MemRefType::get(type.getShape(), type.getElementType(), layout);
  Value view = b.create<memref::ReinterpretCastOp>(loc, known, storage, offset, type.getShape(), strides);
  return known == type ? view : b.create<memref::CastOp>(loc, type, view).getResult();
}

/// Calls form number `form` so many times.
static void emitCalls(OpBuilder &b, Location loc, size_t forms, Value form, Value calls, ValueRange buffers) {
  OpBuilder::InsertionGuard guard(b);
  auto loop = b.create<scf::ForOp>(loc, b.create<arith::ConstantIndexOp>(loc, 0), calls,
                                   b.create<arith::ConstantIndexOp>(loc, 1));
  b.setInsertionPointToStart(loop.getBody());
  auto cases = llvm::to_vector(llvm::seq<int64_t>(1, forms));
  auto choice = b.create<scf::IndexSwitchOp>(loc, TypeRange(), form, cases, cases.size());
  for (size_t i = 0; i < forms; ++i) {
    Region &region = i ? choice.getCaseRegions()[i - 1] : choice.getDefaultRegion();
    b.setInsertionPointToStart(&region.emplaceBlock());
    b.create<func::CallOp>(loc, "form_" + std::to_string(i), TypeRange(), buffers);
    b.create<scf::YieldOp>(loc);
  }
}

/// Nothing if the kernel takes what no memory can be made for.
static OwningOpRef<ModuleOp> moduleOf(ArrayRef<func::FuncOp> forms, bool onDevice) {
  func::FuncOp first = forms.front();
  Location loc = first.getLoc();
  OpBuilder b(first.getContext());
  auto number = MemRefType::get({}, b.getI64Type());
  SmallVector<Type> inputs{number, number};
  for (Type type : first.getArgumentTypes()) {
    FailureOr<MemRefType> storage = storageFor(cast<MemRefType>(type));
    if (failed(storage))
      return {};
    inputs.push_back(*storage);
  }
  OwningOpRef<ModuleOp> module(ModuleOp::create(loc));
  b.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> results;
  if (onDevice)
    results.push_back(number);
  auto main = b.create<func::FuncOp>(loc, "main", b.getFunctionType(inputs, results));
  for (auto [i, form] : llvm::enumerate(forms)) {
    auto copy = cast<func::FuncOp>(b.clone(*form));
    copy.setName("form_" + std::to_string(i));
  }
  Block *body = main.addEntryBlock();
  b.setInsertionPointToStart(body);
  auto readNumber = [&](unsigned argument) -> Value {
    Value number = b.create<memref::LoadOp>(loc, body->getArgument(argument), ValueRange());
    return b.create<arith::IndexCastOp>(loc, b.getIndexType(), number);
  };
  Value form = readNumber(0), calls = readNumber(1);
  SmallVector<Value> buffers;
  for (auto [storage, type] : llvm::zip(body->getArguments().drop_front(2), first.getArgumentTypes()))
    buffers.push_back(viewOf(b, loc, storage, cast<MemRefType>(type)));
  if (!onDevice) {
    emitCalls(b, loc, forms.size(), form, calls, buffers);
    b.create<func::ReturnOp>(loc);
    return module;
  }
  // The inputs have just been copied: a call before has the kernel itself there, and data in the caches. While it runs,
  // the calls that are timed are asked for.
  emitCalls(b, loc, forms.size(), form, b.create<arith::ConstantIndexOp>(loc, 1), buffers);
  b.create<func::CallOp>(loc, declareTimerStart(*module));
  emitCalls(b, loc, forms.size(), form, calls, buffers);
  Value time = b.create<func::CallOp>(loc, declareTimerStop(*module)).getResult(0);
  Value result = b.create<memref::AllocOp>(loc, number);
  b.create<memref::StoreOp>(loc, time, result, ValueRange());
  b.create<func::ReturnOp>(loc, result);
  return module;
}

namespace {
/// The compiled forms with their data.
class Forms {
public:
  static FailureOr<Forms> compile(ModuleOp module, CompileOptions options);

  /// Nanoseconds of one call; infinity where it fails, and the first failure is kept.
  double time(size_t form) {
    *static_cast<int64_t *>(inputs[0].data) = form;
    auto start = std::chrono::steady_clock::now();
    auto outputs = model->run(inputs);
    std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
    if (!outputs) {
      std::string text = llvm::toString(outputs.takeError());
      firstFailure = firstFailure.empty() ? text : firstFailure;
      return std::numeric_limits<double>::infinity();
    }
    return (outputs->empty() ? time.count() : *static_cast<int64_t *>(outputs->front().data)) / calls();
  }
  int64_t &calls() { return *static_cast<int64_t *>(inputs[1].data); }

  std::string firstFailure;

private:
  std::unique_ptr<Model> model;
  std::vector<Tensor> inputs;
};
} // namespace

FailureOr<Forms> Forms::compile(ModuleOp module, CompileOptions options) {
  SessionOptions session;
  if (options.tuning.device >= 0)
    session.device = options.tuning.device;
  options.tuning = {};
  options.profile = options.explain = false;
  // What starts a GPU's kernels runs here, wherever the model will.
  if (!options.gpu.empty())
    options.targetTriple = options.targetCPU = options.targetFeatures = "";
  setPhase(module, Phase::Buffers);
  if (failed(attachInterface(module)) || failed(lowerTo(module, Phase::LLVM, options)))
    return failure();
  auto code = JitCode::compile(module, options);
  if (failed(code))
    return failure();
  auto model = Model::start(std::move(*code), {}, session, nullptr);
  if (!model)
    return module.emitError(llvm::toString(model.takeError()));
  Forms forms;
  forms.model = std::move(*model);
  for (const ValueInfo &info : forms.model->inputs()) {
    auto tensor = allocateFor(info, {});
    if (!tensor)
      return module.emitError(llvm::toString(tensor.takeError()));
    if (llvm::Error error = fill(*tensor, "random", forms.inputs.size()))
      return module.emitError(llvm::toString(std::move(error)));
    forms.inputs.push_back(std::move(*tensor));
  }
  // One run that fails is enough to know.
  *static_cast<int64_t *>(forms.inputs[0].data) = 0;
  forms.calls() = 1;
  if (auto outputs = forms.model->run(forms.inputs); !outputs)
    return module.emitError(llvm::toString(outputs.takeError()));
  return forms;
}

static double median(std::vector<double> values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

namespace {
/// Times of forms in rounds, in each of which all are timed once, one after the other: what slows the machine down for
/// a while slows all of them down.
class Rounds {
public:
  using Clock = std::chrono::steady_clock;

  Rounds(Forms &forms, std::vector<size_t> numbers, Clock::time_point end)
      : forms(forms), alive(std::move(numbers)), end(end) {}

  void run(unsigned least, unsigned most) {
    for (unsigned round = 0; round < most && (round < least || Clock::now() < end); ++round) {
      for (size_t form : alive)
        times[form].push_back(forms.time(form));
      constexpr double clearly = 1.15;
      if (round + 1 >= least)
        llvm::erase_if(alive, [&](size_t form) { return ratio(form) > clearly; });
    }
  }

  /// To form 0, in the same round.
  double ratio(size_t form) const { return median(ratios(form)); }
  /// By how much single ratios usually differ from it.
  double noise(size_t form) const {
    std::vector<double> values = ratios(form);
    double middle = median(values);
    for (double &value : values)
      value = std::abs(value - middle);
    return median(std::move(values));
  }
  double time(size_t form) const { return median(times.at(form)); }
  size_t fastest() const {
    return *std::min_element(alive.begin(), alive.end(), [&](size_t a, size_t b) { return ratio(a) < ratio(b); });
  }

private:
  std::vector<double> ratios(size_t form) const {
    std::vector<double> result;
    for (auto [time, first] : llvm::zip(times.at(form), times.at(0)))
      result.push_back(time / first);
    return result;
  }

  Forms &forms;
  std::vector<size_t> alive;
  Clock::time_point end;
  std::map<size_t, std::vector<double>> times;
};
} // namespace

FailureOr<Measured> measureForms(ArrayRef<func::FuncOp> kernels, const CompileOptions &options, double seconds) {
  func::FuncOp kernel = kernels.front();
  OwningOpRef<ModuleOp> module = moduleOf(kernels, !options.gpu.empty());
  if (!module)
    return failure();
  FailureOr<Forms> forms = Forms::compile(*module, options);
  if (failed(forms))
    return failure();
  // As many calls at once as make a time that the clock and a run's own costs do not disturb; all of them warm before.
  constexpr double leastNs = 500e3;
  forms->time(0);
  forms->calls() = std::clamp<int64_t>(static_cast<int64_t>(leastNs / std::max(1.0, forms->time(0))), 1, 1 << 16);
  std::vector<size_t> all(kernels.size());
  std::iota(all.begin(), all.end(), 0);
  for (size_t form : all)
    forms->time(form);
  auto until = [&](double share) {
    return Rounds::Clock::now() +
           std::chrono::duration_cast<Rounds::Clock::duration>(std::chrono::duration<double>(seconds * share));
  };
  constexpr unsigned least = 5, most = 21;
  Rounds first(*forms, all, until(0.6));
  first.run(least, most);
  // A form that fails is never the fastest; one that leaves nothing working is a failure of all.
  auto warn = [&] {
    if (!forms->firstFailure.empty())
      kernel.emitWarning("one of its forms cannot be run: ") << forms->firstFailure;
  };
  if (!std::isfinite(first.time(0)))
    return kernel.emitError("cannot be measured: ") << forms->firstFailure;
  size_t best = first.fastest();
  if (best == 0) {
    warn();
    return Measured{0, first.time(0), first.time(0)};
  }
  // The fastest of many may be so by chance: fresh times of the two decide.
  Rounds last(*forms, {0, best}, until(0.4));
  last.run(most / 2, 2 * most);
  constexpr double leastGain = 0.02;
  if (!std::isfinite(last.time(0)))
    return kernel.emitError("cannot be measured: ") << forms->firstFailure;
  warn();
  bool wins = 1 - last.ratio(best) > std::max(leastGain, last.noise(best));
  return Measured{wins ? best : 0, last.time(0), last.time(0) * (wins ? last.ratio(best) : 1)};
}

} // namespace strata
