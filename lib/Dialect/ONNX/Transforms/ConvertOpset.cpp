//===- ConvertOpset.cpp - onnx-convert-opset ------------------------------===//
//
// Every op of the module walks from its version to the one that is valid at
// the wanted opset, by the operators' upgrade and downgrade steps. Where there
// is no such step, the op is computed in a wider type, or replaced by its
// function body or by operators that are older. If that is not enough, shapes
// are inferred, and integers that are known then become constants. The work is
// done on copies, so that a refusal leaves the module as it was.
//
//===----------------------------------------------------------------------===//

#include "Dialect/ONNX/Transforms/ConvertOpset.h"
#include "Dialect/ONNX/IR/ONNXBase.h"
#include "Dialect/ONNX/Transforms/ExpandFunctions.h"
#include "Dialect/ONNX/Transforms/Passes.h"
#include "Dialect/OpBehavior.h"
#include "Dialect/OperatorSets.h"
#include "Dialect/VersionSteps.h"
#include "OlderForms.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace strata {
#define GEN_PASS_DEF_CONVERTOPSETPASS
#include "Dialect/ONNX/Transforms/Passes.h.inc"

// The IR version of the ONNX release that published an opset of the default domain, from opset 9 on. Constants of a
// converted model are no inputs, which needs IR version 4, that of opset 9.
static int64_t getIRVersion(int64_t opset) {
  static constexpr int64_t versions[] = {4, 5, 6, 7, 7, 7, 8, 8, 8, 8, 9, 9, 10, 10, 11, 12, 13, 13, 13, 14};
  return versions[std::clamp<int64_t>(opset - 9, 0, std::size(versions) - 1)];
}

namespace {
/// Errors that are reported later, or never.
class Errors {
public:
  explicit Errors(MLIRContext *context) : context(context) {}

  template <typename Function> LogicalResult collect(Function function) {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      errors.push_back(std::move(diagnostic));
      return success();
    });
    return function();
  }
  void append(Errors &&other) {
    for (Diagnostic &error : other.errors)
      errors.push_back(std::move(error));
  }
  void clear() { errors.clear(); }
  void report() {
    for (Diagnostic &error : errors)
      context->getDiagEngine().emit(std::move(error));
    errors.clear();
  }

private:
  MLIRContext *context;
  std::vector<Diagnostic> errors;
};

class OpsetConverter {
public:
  /// With `infer`, shapes are inferred and known integers made constants before and, of function bodies, on the way.
  OpsetConverter(ModuleOp module, ArrayRef<OpsetVersion> targets, bool infer, Errors &errors)
      : module(module), infer(infer), errors(errors), rewriter(module.getContext()) {
    for (const OpsetVersion &target : targets)
      opsets[target.domain] = target.version;
    rewriter.setListener(&created);
  }

  LogicalResult run() {
    llvm::SmallPtrSet<Operation *, 8> idle;
    module.walk([&](Operation *op) {
      if (isConstant(op) && op->use_empty())
        idle.insert(op);
    });
    if (infer && failed(inferShapes()))
      return failure();
    LogicalResult result = convert();
    // Constants that became attributes.
    module.walk([&](Operation *op) {
      if (isConstant(op) && op->use_empty() && !idle.contains(op))
        op->erase();
    });
    return result;
  }

private:
  static bool isConstant(Operation *op) {
    return isa<onnx::InitializerOp>(op) || (isa<VersionedOpInterface>(op) && getUnversionedName(op) == "Constant");
  }

  LogicalResult convert() {
    // A version is passed once upwards and, if an upgrade goes past the target, once downwards; bodies nest a few
    // levels deep.
    constexpr unsigned maxRounds = 256;
    for (unsigned round = 0; round < maxRounds; ++round) {
      SmallVector<Operation *> work;
      module.walk([&](Operation *op) {
        if (!refused.contains(op) && needsWork(op))
          work.push_back(op);
      });
      if (work.empty())
        return success(refused.empty());
      hasNewTypes = false;
      for (Operation *op : work)
        if (failed(step(cast<VersionedOpInterface>(op))))
          refused.insert(op);
      if (hasNewTypes && infer) {
        // What was refused may be a constant now.
        if (failed(inferShapes()))
          return failure();
        refused.clear();
        errors.clear();
      }
    }
    return errors.collect([&] { return module.emitError("the operators' steps do not lead to the wanted opset"); });
  }

  LogicalResult inferShapes() {
    return errors.collect([&] {
      PassManager passes(module->getName());
      passes.addPass(createInferShapesPass());
      return passes.run(module);
    });
  }

  bool needsWork(Operation *op) {
    auto versioned = dyn_cast<VersionedOpInterface>(op);
    if (!versioned)
      return false;
    auto opset = opsets.find(versioned.getDomain());
    return opset != opsets.end() &&
           (opset->second > getNewestOpset(versioned.getDomain()) ||
            versioned.getSinceVersion() != find(versioned, opset->second) || versioned.isDeprecated());
  }

  // Since-version of the operator's schema at an opset; 0 if it has none there.
  static int64_t find(VersionedOpInterface op, int64_t opset) {
    int64_t version = std::min(opset, op.getNewestVersion());
    while (version > 0 && !getVersion(op, version).isRegistered())
      --version;
    return version;
  }

  LogicalResult step(VersionedOpInterface op) {
    int64_t opset = opsets.lookup(op.getDomain()), own = op.getSinceVersion();
    Errors here(op.getContext());
    LogicalResult result = here.collect([&]() -> LogicalResult {
      if (int64_t newest = getNewestOpset(op.getDomain()); opset > newest)
        return op->emitOpError("cannot be converted to opset ")
               << opset << " of '" << op.getDomain() << "': the newest known is " << newest;
      if (own >= find(op, opset))
        return lower(op, opset);
      rewriter.setInsertionPoint(op);
      return upgradeStep(op, rewriter);
    });
    if (failed(result))
      errors.append(std::move(here));
    return result;
  }

  // Tries one way; takes back what it made before it failed.
  template <typename Function> LogicalResult attempt(Operation *op, Function function) {
    rewriter.setInsertionPoint(op);
    created.ops.clear();
    if (succeeded(function()))
      return success();
    auto ops = created.ops.takeVector();
    for (Operation *made : llvm::reverse(ops))
      if (made->use_empty())
        made->erase();
    return failure();
  }

  LogicalResult lower(VersionedOpInterface op, int64_t opset) {
    int64_t wanted = find(op, opset);
    bool isMissing = wanted == 0 || isDeprecated(getVersion(op, wanted));
    if (!isMissing) {
      auto down = [&](Operation *any) { return downgrade(any, opset); };
      if (succeeded(attempt(op, [&] { return down(op); })))
        return success();
      Errors others(op.getContext());
      return others.collect([&] {
        if (succeeded(replace(op, opset)))
          return success();
        return attempt(op, [&] { return computeWider(op, opset, down, rewriter); });
      });
    }
    Errors others(op.getContext());
    if (succeeded(others.collect([&] { return replace(op, opset); })))
      return success();
    if (op.hasFunctionBody())
      return expand(op);
    InFlightDiagnostic error = op->emitOpError("cannot be converted to opset ")
                               << opset << " of '" << op.getDomain() << "': ";
    if (wanted != 0)
      return error << "the operator is deprecated there";
    int64_t first = op.getSinceVersion();
    for (int64_t previous = first; previous > 0; previous = getPreviousVersionOf(op, previous))
      first = previous;
    return error << "the operator begins with version " << first;
  }

  LogicalResult downgrade(Operation *op, int64_t opset) {
    rewriter.setInsertionPoint(op);
    if (auto step = getBehavior(op).downgrade)
      return step(op, rewriter);
    if (keepsSignature(getVersion(op, getPreviousVersion(op))))
      return downgradeStep(op, rewriter);
    if (cast<VersionedOpInterface>(op).hasFunctionBody())
      return expand(op);
    return refuseDowngrade(op) << "the operator has no such step";
  }

  LogicalResult expand(Operation *op) {
    if (failed(expandFunctionBody(op)))
      return failure();
    hasNewTypes = true;
    return success();
  }

  LogicalResult replace(Operation *op, int64_t opset) {
    if (failed(attempt(op, [&] { return replaceByOlderForm(op, opset, rewriter); })))
      return failure();
    hasNewTypes = true;
    return success();
  }

  static int64_t getPreviousVersionOf(Operation *op, int64_t version) {
    for (--version; version > 0 && !getVersion(op, version).isRegistered();)
      --version;
    return version;
  }
  static bool isDeprecated(OperationName name) { return name.getInterface<VersionedOpInterface>()->isDeprecated(); }
  static bool keepsSignature(OperationName name) {
    return name.getInterface<VersionedOpInterface>()->stepKeepsSignature();
  }

  struct Rewriter : PatternRewriter {
    using PatternRewriter::PatternRewriter;
  };

  struct Created : RewriterBase::Listener {
    llvm::SmallSetVector<Operation *, 8> ops;
    void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) override { ops.insert(op); }
    void notifyOperationErased(Operation *op) override { ops.remove(op); }
  };

  ModuleOp module;
  bool infer, hasNewTypes = false;
  Errors &errors;
  Rewriter rewriter;
  Created created;
  llvm::StringMap<int64_t> opsets;
  llvm::SmallPtrSet<Operation *, 8> refused;
};

struct ConvertOpsetPass : impl::ConvertOpsetPassBase<ConvertOpsetPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<OpsetVersion> targets;
    for (const std::string &text : opset) {
      FailureOr<OpsetVersion> target = parseOpsetVersion(text, getOperation().getLoc());
      if (failed(target))
        return signalPassFailure();
      targets.push_back(std::move(*target));
    }
    if (failed(convertOpsets(getOperation(), targets)))
      signalPassFailure();
  }
};
} // namespace

FailureOr<OpsetVersion> parseOpsetVersion(StringRef text, Location location) {
  auto [domain, number] = text.contains(':') ? text.rsplit(':') : std::pair(StringRef("ai.onnx"), text);
  OpsetVersion result{domain.empty() ? "ai.onnx" : domain.str(), 0};
  if (number.getAsInteger(10, result.version) || result.version < 1)
    return emitError(location) << "'" << text << "' is no opset: say 13, or ai.onnx.ml:3", failure();
  int64_t newest = getNewestOpset(result.domain);
  if (newest == 0)
    return emitError(location) << "nothing is known of the versions of domain '" << result.domain << "'", failure();
  // Operators of the other domains say by name what they have.
  if (result.version > newest && result.domain != "ai.onnx.converters.tensorflow" &&
      result.domain != "org.openvinotoolkit")
    return emitError(location) << "opset " << result.version << " of '" << result.domain
                               << "' is unknown; the newest known is " << newest,
           failure();
  return result;
}

LogicalResult convertOpsets(ModuleOp module, ArrayRef<OpsetVersion> targets) {
  MLIRContext *context = module.getContext();
  Errors errors(context);
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(OpsetConverter(*copy, targets, /*infer=*/false, errors).run())) {
    Errors second(context);
    copy = module.clone();
    if (failed(OpsetConverter(*copy, targets, /*infer=*/true, second).run()))
      return errors.report(), failure();
  }

  Builder b(context);
  NamedAttrList imports;
  if (auto declared = module->getAttrOfType<DictionaryAttr>("onnx.opset_import"))
    imports.append(declared.begin(), declared.end());
  for (const OpsetVersion &target : targets) {
    imports.set(target.domain, b.getI64IntegerAttr(target.version));
    if (target.domain == "ai.onnx")
      (*copy)->setAttr("onnx.ir_version", b.getI64IntegerAttr(getIRVersion(target.version)));
  }
  (*copy)->setAttr("onnx.opset_import", imports.getDictionary(context));
  if (failed(verify(*copy)))
    return failure();
  module->setAttrs((*copy)->getAttrDictionary());
  module.getBodyRegion().takeBody(copy->getBodyRegion());
  return success();
}

} // namespace strata
