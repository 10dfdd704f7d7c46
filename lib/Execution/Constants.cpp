//===- Constants.cpp - the table of constants -----------------------------===//

#include "Constants.h"
#include "Runtime/strata_runtime.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <sys/mman.h>

using namespace mlir;

namespace strata {

/// Bytes of an inline constant as they lie in memory: i1 takes a byte, splats
/// are written out.
static LogicalResult copyElements(DenseElementsAttr attr, Constant &constant) {
  constant.storage = allocateConstant(constant.bytes, constant.alignment);
  if (!constant.storage)
    return failure();
  char *to = constant.storage.get();
  constant.data = to;
  if (attr.getElementType().isInteger(1)) {
    if (constant.bytes != static_cast<uint64_t>(attr.getNumElements()))
      return failure();
    for (bool value : attr.getValues<bool>())
      *to++ = value;
    return success();
  }
  ArrayRef<char> raw = attr.getRawData();
  if (raw.empty())
    return success(constant.bytes == 0);
  if (constant.bytes % raw.size() || (constant.bytes != raw.size() && !attr.isSplat()))
    return failure();
  for (uint64_t at = 0; at < constant.bytes; at += raw.size())
    std::memcpy(to + at, raw.data(), raw.size());
  return success();
}

static LogicalResult readValue(ModuleOp module, Attribute value, Constant &constant) {
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return module.emitError() << "constant '" << constant.name << "': its resource has no data";
    ArrayRef<char> data = blob->getData();
    if (data.size() < constant.bytes)
      return module.emitError() << "constant '" << constant.name << "' has " << data.size() << " bytes of data, "
                                << constant.bytes << " are needed";
    constant.data = data.data();
    constant.droppable = blob->isMutable();
    // A weight may start anywhere in its file; code may rely on alignment.
    if (reinterpret_cast<uintptr_t>(constant.data) % constant.alignment == 0)
      return success();
    constant.storage = allocateConstant(constant.bytes, constant.alignment);
    if (!constant.storage)
      return module.emitError() << "constant '" << constant.name << "': out of memory";
    std::memcpy(constant.storage.get(), constant.data, constant.bytes);
    constant.data = constant.storage.get();
    return success();
  }
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(value)) {
    if (failed(copyElements(dense, constant)))
      return module.emitError() << "constant '" << constant.name << "': its value does not have " << constant.bytes
                                << " bytes";
    return success();
  }
  return module.emitError() << "constant '" << constant.name << "' has no value";
}

FailureOr<std::vector<Constant>> readConstants(ModuleOp module) {
  std::vector<Constant> constants;
  // Bytes that two constants are made of, as elements of two types, are not the first reader's to give back.
  llvm::DenseMap<const char *, size_t> ownerOf;
  auto array = module->getAttrOfType<ArrayAttr>("strata.constants");
  if (!array)
    return constants;
  for (Attribute element : array) {
    auto dict = dyn_cast<DictionaryAttr>(element);
    auto name = dict ? dict.getAs<StringAttr>("name") : nullptr;
    auto bytes = dict ? dict.getAs<IntegerAttr>("bytes") : nullptr;
    if (!name || !bytes)
      return module.emitError() << "strata.constants is malformed: " << element;
    Constant constant;
    constant.name = name.str();
    constant.bytes = bytes.getValue().getZExtValue();
    if (auto alignment = dict.getAs<IntegerAttr>("alignment"))
      constant.alignment = std::max<uint64_t>(1, alignment.getValue().getZExtValue());
    if (!llvm::isPowerOf2_64(constant.alignment))
      return module.emitError() << "constant '" << constant.name << "': alignment " << constant.alignment
                                << " is not a power of two";
    if (auto computed = dict.getAs<BoolAttr>("computed"))
      constant.computed = computed.getValue();
    if (auto needed = dict.getAs<BoolAttr>("needed_at_run_time"))
      constant.neededAtRunTime = needed.getValue();
    if (auto key = dict.getAs<StringAttr>("key"))
      constant.key = key.str();
    constant.shared = dict.contains("shared");
    if (Attribute value = dict.get("value"))
      constant.attribute = value.getAsOpaquePointer();
    if (!constant.computed && failed(readValue(module, dict.get("value"), constant)))
      return failure();
    if (constant.droppable) {
      auto [owner, isFirst] = ownerOf.try_emplace(constant.data, constants.size());
      if (!isFirst)
        constant.droppable = constants[owner->second].droppable = false;
    }
    constants.push_back(std::move(constant));
  }
  return constants;
}

bool ConstantPool::has(StringRef key) const { return !computed.lookup(key).expired(); }

void ConstantPool::share(std::vector<Constant> &constants) {
  for (Constant &constant : constants) {
    if (constant.key.empty() && !(constant.attribute && constant.storage))
      continue;
    std::weak_ptr<char> &known = constant.key.empty() ? copies[constant.attribute] : computed[constant.key];
    if (std::shared_ptr<char> storage = known.lock())
      constant.storage = std::move(storage);
    else
      known = constant.storage;
    constant.data = constant.storage.get();
  }
}

FailureOr<std::vector<void *>> makeTable(ModuleOp module, std::vector<Constant> &constants, ConstantPool *pool) {
  for (Constant &constant : constants) {
    if (!constant.computed || constant.shared || constant.data)
      continue;
    constant.storage = allocateConstant(constant.bytes, constant.alignment);
    if (!constant.storage)
      return module.emitError() << "out of memory: a constant takes " << constant.bytes << " bytes";
    constant.data = constant.storage.get();
  }
  if (pool)
    pool->share(constants);
  std::vector<void *> table;
  for (const Constant &constant : constants)
    table.push_back(const_cast<char *>(constant.data));
  return table;
}

/// Gives up the pages that lie in bytes [first, last) of the constant altogether.
void DropConstants::drop(void *self, int64_t slot, int64_t first, int64_t last) {
  auto *dropping = static_cast<const DropConstants *>(self);
  if (dropping->file)
    dropping->file->release();
  if (!dropping->constants)
    return;
  const Constant &constant = (*dropping->constants)[slot];
  uintptr_t data = reinterpret_cast<uintptr_t>(constant.data);
  uintptr_t begin = llvm::alignTo(data + first, 4096), end = llvm::alignDown(data + last, 4096);
  if ((constant.droppable || constant.storage) && begin < end)
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

DropConstants::DropConstants(const std::vector<Constant> *constants, const FileMemory *file)
    : constants(constants), file(file) {
  strata_rt_on_constant_done(drop, this);
}
DropConstants::~DropConstants() { strata_rt_on_constant_done(nullptr, nullptr); }

} // namespace strata
