//===- ShareConstants.cpp - one copy of what versions compute -------------===//
#include "Codegen/ShareConstants.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

using namespace mlir;

namespace {
/// Keys are hashes of the operations' text, in an order and with numbers of values that depend on nothing else in the
/// module. Globals are named after what is in them: their names depend on the rest of the model.
class Keys {
public:
  explicit Keys(ModuleOp module) : symbols(module) {
    if (auto init = module.lookupSymbol<func::FuncOp>("init"))
      init.walk([&](ml_program::GlobalStoreOp store) { stores[store.getGlobal().getLeafReference()] = store; });
  }

  ml_program::GlobalStoreOp storeTo(ml_program::GlobalOp global) const {
    return stores.lookup(global.getSymNameAttr());
  }

  std::string of(ml_program::GlobalOp global) {
    ml_program::GlobalStoreOp store = storeTo(global);
    if (!store)
      return "";
    std::string &key = known[global];
    if (key.empty())
      key = hash(store);
    return key;
  }

private:
  std::string hash(ml_program::GlobalStoreOp store) {
    OpBuilder b(store.getContext());
    auto function = func::FuncOp::create(b.getUnknownLoc(), "key", b.getFunctionType({}, {}));
    b.setInsertionPointToStart(function.addEntryBlock());
    IRMapping mapping;
    copy(store.getValue().getDefiningOp(), b, mapping);
    // Which of the results of the last operation, and as what.
    auto result = cast<OpResult>(store.getValue());
    std::string text;
    llvm::raw_string_ostream os(text);
    os << result.getResultNumber() << ' ' << result.getType() << '\n';
    function->print(os, OpPrintingFlags().elideLargeResourceString(0).useLocalScope());
    function->erase();
    return llvm::toHex(llvm::BLAKE3::hash<16>(llvm::arrayRefFromStringRef(os.str())), /*LowerCase=*/true);
  }

  /// Copies what a value is made of: operands before their users, in the order of the operands.
  void copy(Operation *op, OpBuilder &b, IRMapping &mapping) {
    if (mapping.contains(op))
      return;
    llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
    for (Region &region : op->getRegions())
      getUsedValuesDefinedAbove(region, values);
    for (Value value : values)
      copy(value.getDefiningOp(), b, mapping);
    Operation *clone = b.clone(*op, mapping);
    mapping.map(op, clone);
    auto name = op->getAttrOfType<SymbolRefAttr>("global");
    auto global = name ? symbols.lookup<ml_program::GlobalOp>(name.getLeafReference()) : ml_program::GlobalOp();
    if (!global)
      return;
    clone->setAttr("global", FlatSymbolRefAttr::get(op->getContext(), "g"));
    Attribute contents = global.getValue() ? *global.getValue() : Attribute();
    clone->setAttr("contents", contents ? contents : b.getStringAttr(of(global)));
  }

  SymbolTable symbols;
  DenseMap<StringAttr, ml_program::GlobalStoreOp> stores;
  DenseMap<Operation *, std::string> known;
};
} // namespace

void strata::shareConstants(ModuleOp module, llvm::function_ref<bool(StringRef)> isKnown) {
  Keys keys(module);
  for (auto global : module.getOps<ml_program::GlobalOp>())
    if (std::string key = keys.of(global); !key.empty())
      global->setAttr(kConstantKey, StringAttr::get(module.getContext(), key));
  for (auto global : module.getOps<ml_program::GlobalOp>()) {
    auto key = global->getAttrOfType<StringAttr>(kConstantKey);
    if (!key || !isKnown(key.getValue()))
      continue;
    global->setAttr(kConstantShared, UnitAttr::get(module.getContext()));
    // What made the value goes with the next canonicalisation.
    keys.storeTo(global).erase();
  }
}
