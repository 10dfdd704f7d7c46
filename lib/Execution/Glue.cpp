//===- Glue.cpp - a model's description as data ---------------------------===//

#include "Glue.h"
#include "WeightsObject.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace strata {

namespace {
/// Builds the constants of strata.h's structures; the field order is the one
/// there.
class GlueBuilder {
public:
  GlueBuilder(Module &module)
      : module(module), context(module.getContext()), pointer(PointerType::getUnqual(context)) {}

  llvm::Constant *i32(uint64_t value) { return ConstantInt::get(Type::getInt32Ty(context), value); }
  llvm::Constant *null() { return ConstantPointerNull::get(pointer); }

  GlobalVariable *define(const Twine &name, llvm::Constant *value, GlobalValue::LinkageTypes linkage,
                         bool isConstant = true) {
    return new GlobalVariable(module, value->getType(), isConstant, linkage, value, name);
  }
  GlobalVariable *data(llvm::Constant *value) { return define("", value, GlobalValue::PrivateLinkage); }
  llvm::Constant *string(StringRef text) { return data(ConstantDataArray::getString(context, text)); }
  llvm::Constant *array(ArrayRef<llvm::Constant *> pointers) {
    return ConstantArray::get(ArrayType::get(pointer, pointers.size()), pointers);
  }
  llvm::Constant *structure(ArrayRef<llvm::Constant *> fields) { return ConstantStruct::getAnon(context, fields); }
  llvm::Constant *values(ArrayRef<ValueInfo> infos) {
    SmallVector<llvm::Constant *> result;
    for (const ValueInfo &info : infos) {
      SmallVector<uint64_t> dims(info.shape.begin(), info.shape.end());
      SmallVector<llvm::Constant *> names;
      for (const std::string &dim : info.dimNames)
        names.push_back(string(dim));
      result.push_back(
          structure({string(info.name), i32(info.dtype), i32(info.ranked ? info.shape.size() : uint32_t(-1)),
                     data(ConstantDataArray::get(context, dims)), data(array(names)), values(info.elements)}));
    }
    if (result.empty())
      return null();
    return data(ConstantArray::get(ArrayType::get(result.front()->getType(), result.size()), result));
  }
  GlobalVariable *declare(const Twine &name) {
    auto *global = new GlobalVariable(module, Type::getInt8Ty(context), /*isConstant=*/true,
                                      GlobalValue::ExternalLinkage, nullptr, name);
    return global;
  }
  llvm::Constant *function(const Twine &name) {
    return Function::Create(FunctionType::get(Type::getVoidTy(context), {pointer}, false), GlobalValue::ExternalLinkage,
                            name, module);
  }

  Module &module;
  LLVMContext &context;
  PointerType *pointer;
};
} // namespace

/// Where each constant is.
static SmallVector<llvm::Constant *> addressesOf(GlueBuilder &builder, const GlueRequest &request) {
  SmallVector<llvm::Constant *> addresses;
  for (auto [i, constant] : enumerate(request.constants)) {
    if (constant.computed && request.initAtLoad) {
      auto *type = ArrayType::get(Type::getInt8Ty(builder.context), constant.bytes);
      GlobalVariable *buffer =
          builder.define("", ConstantAggregateZero::get(type), GlobalValue::InternalLinkage, /*isConstant=*/false);
      buffer->setAlignment(Align(std::max<uint64_t>(constant.alignment, 64)));
      addresses.push_back(buffer);
    } else if (constant.neededAtRunTime || request.initAtLoad) {
      GlobalVariable *symbol = builder.declare(constantSymbol(request.modelName, i));
      symbol->setVisibility(GlobalValue::HiddenVisibility);
      addresses.push_back(symbol);
    } else {
      addresses.push_back(builder.null());
    }
  }
  return addresses;
}

/// A strata_model_descriptor, and the table of the unit.
static llvm::Constant *describe(GlueBuilder &builder, const GlueRequest &request, const GlueUnit &unit,
                                ArrayRef<llvm::Constant *> constants, size_t numVersions, llvm::Constant *versions) {
  SmallVector<llvm::Constant *> slots;
  for (size_t slot : unit.slots)
    slots.push_back(constants[slot]);
  GlobalVariable *table =
      builder.define(unit.symbol + "_constants", builder.array(slots), GlobalValue::ExternalLinkage);
  table->setVisibility(GlobalValue::HiddenVisibility);
  GlobalVariable *initDone = builder.define("", builder.i32(0), GlobalValue::InternalLinkage, /*isConstant=*/false);
  bool runsInit = request.initAtLoad && unit.computes;
  return builder.structure(
      {builder.i32(STRATA_ABI_VERSION), builder.i32(unit.interface.inputs.size()),
       builder.i32(unit.interface.outputs.size()), builder.i32(unit.slots.size()), builder.string(request.modelName),
       builder.string(request.metadata), builder.values(unit.interface.inputs), builder.values(unit.interface.outputs),
       builder.function(unit.symbol + "_main"), runsInit ? builder.function(unit.symbol + "_init") : builder.null(),
       table, initDone, builder.i32(numVersions), versions});
}

std::unique_ptr<Module> makeGlue(const GlueRequest &request, LLVMContext &context, TargetMachine &machine) {
  auto module = std::make_unique<Module>(request.modelName + ".glue", context);
  module->setTargetTriple(machine.getTargetTriple().str());
  module->setDataLayout(machine.createDataLayout());
  module->setPICLevel(PICLevel::BigPIC);
  GlueBuilder builder(*module);

  SmallVector<llvm::Constant *> constants = addressesOf(builder, request);
  llvm::Constant *versions = builder.null();
  if (request.units.size() > 1) {
    SmallVector<llvm::Constant *> list;
    for (const GlueUnit &unit : request.units.drop_front())
      list.push_back(builder.data(describe(builder, request, unit, constants, 0, builder.null())));
    versions = builder.data(builder.array(list));
  }
  llvm::Constant *descriptor =
      describe(builder, request, request.units.front(), constants, request.units.size() - 1, versions);
  GlobalVariable *model = builder.define(request.modelName + "_model", descriptor, GlobalValue::ExternalLinkage);
  if (request.exportEntry)
    builder.define("strata_model_entry", model, GlobalValue::ExternalLinkage);
  return module;
}

std::string makeHeader(const GlueRequest &request) {
  const std::string &name = request.modelName;
  std::string guard = "STRATA_MODEL_" + StringRef(name).upper() + "_H";
  std::string text;
  raw_string_ostream os(text);
  os << "/* Generated by Strata: the model " << name << ".\n *\n";
  auto list = [&](const char *what, ArrayRef<ValueInfo> values) {
    for (auto [i, info] : enumerate(values)) {
      std::string type = formatType(info), valueName = info.name;
      // Names are the user's: they must not end the comment.
      for (std::string *part : {&type, &valueName})
        for (char &c : *part)
          if (!isPrint(c) || c == '/' || c == '\\')
            c = '_';
      os << " *   " << what << " " << i << ": " << valueName << ": " << type << "\n";
    }
  };
  const ModelInterface &interface = request.units.front().interface;
  list("input", interface.inputs);
  list("output", interface.outputs);
  for (const GlueUnit &version : request.units.drop_front()) {
    os << " *\n * A version for\n";
    list("input", version.interface.inputs);
  }
  os << " *\n * Link with libstrata_runtime, -lm and -lpthread; see "
        "Runtime/strata.h:\n *\n *   strata_model *model;\n"
     << " *   strata_model_from_descriptor(&" << name << "_model, &model);\n */\n"
     << "#ifndef " << guard << "\n#define " << guard << "\n\n"
     << "#include \"Runtime/strata.h\"\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
     << "extern const strata_model_descriptor " << name << "_model;\n\n"
     << "#define " << name << "_num_inputs " << interface.inputs.size() << "\n#define " << name << "_num_outputs "
     << interface.outputs.size() << "\n\n"
     << "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return os.str();
}

} // namespace strata
