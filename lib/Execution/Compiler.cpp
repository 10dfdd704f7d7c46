//===- Compiler.cpp - what strata-compile does ----------------------------===//

#include "Execution/Compiler.h"
#include "Codegen.h"
#include "Constants.h"
#include "Descriptor.h"
#include "Glue.h"
#include "Jit.h"
#include "Link.h"
#include "Target.h"
#include "WeightsObject.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <cstring>

using namespace mlir;

namespace strata {

/// A failure that is about the whole module.
static LogicalResult fail(ModuleOp module, llvm::Error error) {
  return module.emitError(llvm::toString(std::move(error)));
}

/// Says of a step when it begins and how long it took.
static LogicalResult timed(const Progress &progress, llvm::StringRef step, llvm::function_ref<LogicalResult()> run) {
  if (progress)
    progress(step, false, 0);
  auto start = std::chrono::steady_clock::now();
  LogicalResult result = run();
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (progress && succeeded(result))
    progress(step, true, time.count());
  return result;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static LogicalResult printMLIR(ModuleOp module, const CompileRequest &request, llvm::raw_ostream &os) {
  if (llvm::StringRef(request.output).ends_with(".mlirbc"))
    return writeBytecodeToFile(module, os);
  OpPrintingFlags flags;
  flags.enableDebugInfo(true, false);
  if (!request.printWeights)
    flags.elideLargeResourceString(256).elideLargeElementsAttrs(256);
  module.print(os, flags);
  return success();
}

/// What a GPU's driver loads.
static LogicalResult writeKernels(ModuleOp module, llvm::raw_ostream &os) {
  auto data = module.lookupSymbol<LLVM::GlobalOp>("strata_gpu_data_kernels");
  if (!data)
    return module.emitError("no kernel of the model runs on a GPU");
  // A zero ends it.
  os << cast<StringAttr>(*data.getValue()).getValue().drop_back();
  return success();
}

static LogicalResult emitText(ModuleOp module, const CompileRequest &request, llvm::TargetMachine &machine,
                              llvm::raw_pwrite_stream &os) {
  if (request.emit == EmitKind::MLIR)
    return printMLIR(module, request, os);
  if (request.emit == EmitKind::Kernels)
    return writeKernels(module, os);
  llvm::LLVMContext context;
  auto ir = translateToLLVM(module, context, machine, request.options);
  if (failed(ir))
    return failure();
  optimize(**ir, machine, request.options.optLevel);
  if (request.emit == EmitKind::LLVM) {
    (*ir)->print(os, nullptr);
    return success();
  }
  if (llvm::Error error = emitCode(**ir, machine, llvm::CodeGenFileType::AssemblyFile, os))
    return fail(module, std::move(error));
  return success();
}

//===----------------------------------------------------------------------===//
// Objects and libraries
//===----------------------------------------------------------------------===//

namespace {
/// The model's own code, or that of a version.
struct Unit : GlueUnit {
  ModuleOp module;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> code;
};

/// The constants of all units, each once; those of a single unit as its table has them.
class ConstantList {
public:
  explicit ConstantList(bool shares) : shares(shares) {}

  /// Where the constant is in the list from now on.
  size_t add(const Constant &constant) {
    size_t next = constants.size();
    size_t at = next;
    if (shares && !constant.key.empty())
      at = computed.try_emplace(constant.key, next).first->second;
    else if (shares && constant.attribute)
      at = weights.try_emplace(constant.attribute, next).first->second;
    if (at == next)
      constants.push_back(constant);
    else
      constants[at].neededAtRunTime |= constant.neededAtRunTime;
    return at;
  }
  bool has(llvm::StringRef key) const { return computed.contains(key); }

  const bool shares;
  std::vector<Constant> constants;

private:
  llvm::StringMap<size_t> computed;
  llvm::DenseMap<const void *, size_t> weights;
};
} // namespace

/// Lowers a module and makes object code of it; its constants go into the list.
static LogicalResult compileUnit(Unit &unit, const CompileRequest &request, ConstantList &list,
                                 llvm::TargetMachine &machine, const Progress &progress) {
  CompileOptions options = request.options;
  options.modelName = unit.symbol;
  auto known = [&](llvm::StringRef key) { return list.has(key); };
  if (failed(list.shares ? lowerVersion(unit.module, options, known, progress)
                         : lowerTo(unit.module, Phase::LLVM, options, progress)))
    return failure();
  auto interface = readInterface(unit.module);
  auto constants = readConstants(unit.module);
  if (failed(interface) || failed(constants))
    return failure();
  unit.interface = std::move(*interface);
  for (const Constant &constant : *constants) {
    unit.computes |= constant.computed && !constant.shared;
    unit.slots.push_back(list.add(constant));
  }
  return timed(progress, nameOf(Phase::Object), [&]() -> LogicalResult {
    llvm::LLVMContext context;
    auto ir = translateToLLVM(unit.module, context, machine, options);
    if (failed(ir))
      return failure();
    auto code = compileToObjects(std::move(*ir), options);
    if (!code)
      return fail(unit.module, code.takeError());
    unit.code = std::move(*code);
    return success();
  });
}

/// Runs the unit's init function now, so that the file holds the computed constants. `memory` is that of the list.
static llvm::Error runInit(const Unit &unit, const CompileRequest &request, llvm::TargetMachine &machine,
                           llvm::ArrayRef<void *> memory) {
  std::vector<void *> table;
  for (size_t slot : unit.slots)
    table.push_back(memory[slot]);
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  for (const auto &object : unit.code)
    objects.push_back(llvm::MemoryBuffer::getMemBuffer(*object, /*RequiresNullTerminator=*/false));
  auto loaded = loadCode(std::move(objects), machine.createDataLayout(), unit.symbol, table.data());
  if (!loaded)
    return loaded.takeError();
  Descriptor descriptor(request.options.modelName, describe(machine, request.options), unit.interface);
  descriptor.descriptor.main = loaded->main;
  descriptor.descriptor.init = loaded->init;
  strata_model *model;
  if (strata_model_from_descriptor(&descriptor.descriptor, &model))
    return llvm::createStringError("%s", strata_last_error());
  strata_model_free(model);
  return llvm::Error::success();
}

/// Computes constants; those that have no place in `file` get memory.
static LogicalResult computeConstants(llvm::ArrayRef<Unit> units, const CompileRequest &request,
                                      llvm::TargetMachine &machine, std::vector<Constant> &constants,
                                      const FileMemory *file) {
  ModuleOp module = units.front().module;
  auto memory = makeTable(module, constants);
  if (failed(memory))
    return failure();
  // Weights of a model without versions go when they are packed; the init function of a version may read them again.
  bool drops = units.size() == 1 && !request.keepWeights;
  DropConstants dropping(drops ? &constants : nullptr, file);
  for (const Unit &unit : units)
    if (unit.computes)
      if (llvm::Error error = runInit(unit, request, machine, *memory))
        return fail(module, std::move(error));
  return success();
}

/// One temporary file of the objects.
static llvm::Expected<std::string> link(const CompileRequest &request, TemporaryFiles &files,
                                        llvm::ArrayRef<std::string> objects) {
  auto output = files.create(".out");
  if (!output)
    return output;
  llvm::Error error = llvm::Error::success();
  switch (request.emit) {
  case EmitKind::SharedLibrary:
    error = linkShared(objects, llvm::sys::path::filename(request.output), *output);
    break;
  case EmitKind::StaticLibrary:
    error = writeStaticLibrary(objects, request.options.modelName, *output);
    break;
  default:
    error = linkRelocatable(objects, *output);
    break;
  }
  if (error)
    return std::move(error);
  return output;
}

/// The model and its versions as object code.
static LogicalResult compileUnits(llvm::MutableArrayRef<Unit> units, const CompileRequest &request, ConstantList &list,
                                  llvm::ArrayRef<VersionModule> versions, llvm::TargetMachine &machine,
                                  const Progress &progress) {
  for (auto [i, unit] : llvm::enumerate(units)) {
    if (succeeded(compileUnit(unit, request, list, machine, progressOf(progress, i ? versions[i - 1].sizes : ""))))
      continue;
    if (i > 0)
      units.front().module.emitError("there can be no version for ") << versions[i - 1].sizes;
    return failure();
  }
  return success();
}

/// Writes the constants into what was linked. Those to compute are computed there: few of their pages are in memory at
/// a time.
static LogicalResult fillFile(llvm::StringRef file, llvm::ArrayRef<Unit> units, const CompileRequest &request,
                              llvm::TargetMachine &machine, std::vector<Constant> &constants,
                              llvm::function_ref<bool(size_t)> isInFile, bool computes) {
  auto failToWrite = [&](llvm::Error error) {
    return fail(units.front().module, llvm::createStringError("cannot write '%s': %s", request.output.c_str(),
                                                              llvm::toString(std::move(error)).c_str()));
  };
  if (computes) {
    auto room = mapWeights(file, constants, isInFile);
    if (!room)
      return failToWrite(room.takeError());
    if (failed(computeConstants(units, request, machine, constants, room->get())))
      return failure();
  }
  if (llvm::Error error = fillWeights(file, constants, isInFile))
    return failToWrite(std::move(error));
  return success();
}

static LogicalResult emitObjects(ModuleOp module, const CompileRequest &request, llvm::TargetMachine &machine,
                                 const Progress &progress) {
  const std::string &name = request.options.modelName;
  TemporaryFiles files(request.output);
  bool runs = runsOnHost(machine);
  if (request.emit == EmitKind::SharedLibrary &&
      machine.getTargetTriple().getArch() != llvm::Triple(LLVM_HOST_TRIPLE).getArch())
    return module.emitError() << "a shared library for " << machine.getTargetTriple().str()
                              << " needs that machine's runtime; use --emit=obj or staticlib and "
                                 "link there";
  FailureOr<std::vector<VersionModule>> versions = makeVersions(module, request.versions, request.options);
  if (failed(versions))
    return failure();
  std::vector<Unit> units(1 + versions->size());
  units.front().symbol = name;
  units.front().module = module;
  for (auto [i, version] : llvm::enumerate(*versions)) {
    units[i + 1].symbol = name + "_version" + std::to_string(i + 1);
    units[i + 1].module = *version.module;
  }
  ConstantList list(units.size() > 1);
  if (failed(compileUnits(units, request, list, *versions, machine, progress)))
    return failure();
  std::vector<Constant> &constants = list.constants;
  bool computes = llvm::any_of(units, [](const Unit &unit) { return unit.computes; });
  bool computesNow = computes && runs;

  std::vector<GlueUnit> glueUnits(units.begin(), units.end());
  GlueRequest glue;
  glue.modelName = name;
  glue.metadata = describe(machine, request.options);
  glue.units = glueUnits;
  glue.constants = constants;
  glue.exportEntry = request.emit == EmitKind::SharedLibrary;
  glue.initAtLoad = !runs && computes;

  llvm::ELF::Elf64_Ehdr header;
  std::memcpy(&header, units.front().code.front()->getBufferStart(), sizeof(header));
  auto writeGlue = [&](llvm::raw_pwrite_stream &os) {
    llvm::LLVMContext context;
    auto glueModule = makeGlue(glue, context, machine);
    return emitCode(*glueModule, machine, llvm::CodeGenFileType::ObjectFile, os);
  };
  auto isInFile = [&](size_t i) {
    const Constant &constant = constants[i];
    return glue.initAtLoad ? !constant.computed : constant.neededAtRunTime;
  };
  bool isArchive = request.emit == EmitKind::StaticLibrary;
  bool fillLater = !isArchive && llvm::any_of(llvm::seq<size_t>(0, constants.size()), isInFile);
  auto writeWeights = [&](llvm::raw_ostream &os) {
    return writeWeightsObject(os, machine.getTargetTriple(), header.e_flags, name, constants, isInFile, !fillLater);
  };
  if (computesNow && !fillLater && failed(computeConstants(units, request, machine, constants, nullptr)))
    return failure();
  std::vector<std::string> objects;
  auto add = [&](llvm::Expected<std::string> file) -> llvm::Error {
    if (!file)
      return file.takeError();
    objects.push_back(*file);
    return llvm::Error::success();
  };
  for (const Unit &unit : units)
    for (const auto &object : unit.code) {
      auto writeCode = [&](llvm::raw_ostream &os) {
        os << object->getBuffer();
        return llvm::Error::success();
      };
      if (llvm::Error error = add(files.write(".code.o", writeCode)))
        return fail(module, std::move(error));
    }
  if (llvm::Error error = add(files.write(".glue.o", writeGlue)))
    return fail(module, std::move(error));
  if (llvm::Error error = add(files.write(".weights.o", writeWeights)))
    return fail(module, std::move(error));

  // The header first: a library without one would be half of the result.
  llvm::SmallString<128> headerPath(request.output);
  llvm::sys::path::replace_extension(headerPath, ".h");
  auto headerFile = files.write(".h", [&](llvm::raw_ostream &os) {
    os << makeHeader(glue);
    return llvm::Error::success();
  });
  if (!headerFile)
    return fail(module, headerFile.takeError());
  auto file = link(request, files, objects);
  if (!file)
    return fail(module, file.takeError());
  if (fillLater && failed(fillFile(*file, units, request, machine, constants, isInFile, computesNow)))
    return failure();
  if (llvm::Error error = files.rename(*file, request.output))
    return fail(module, std::move(error));
  if (TemporaryFiles::isDevice(request.output))
    return success(); // nobody could find the header
  if (llvm::Error error = files.rename(*headerFile, headerPath))
    return fail(module, std::move(error));
  return success();
}

//===----------------------------------------------------------------------===//
// The whole way
//===----------------------------------------------------------------------===//

/// One stream of bytes without weights, which may go to standard output.
static bool isText(EmitKind kind) {
  return kind == EmitKind::MLIR || kind == EmitKind::LLVM || kind == EmitKind::Assembly || kind == EmitKind::Kernels;
}

/// In memory first: standard output cannot be taken back, and a file must not be cut off.
static LogicalResult writeText(ModuleOp module, const CompileRequest &request, llvm::TargetMachine &machine) {
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream os(text);
  if (failed(emitText(module, request, machine, os)))
    return failure();
  std::string path = request.output.empty() ? "-" : request.output;
  llvm::Error error = writeOutput(path, [&](llvm::raw_ostream &file) {
    file << os.str();
    return llvm::Error::success();
  });
  if (error)
    return fail(module, llvm::createStringError("cannot write '%s': %s", path.c_str(),
                                                llvm::toString(std::move(error)).c_str()));
  return success();
}

LogicalResult compileModule(ModuleOp module, const CompileRequest &request, const Progress &progress) {
  auto machine = createTargetMachine(request.options);
  if (!machine)
    return fail(module, machine.takeError());
  if (!isText(request.emit))
    return emitObjects(module, request, **machine, progress);
  if (!request.versions.empty())
    return module.emitError(
        "versions for known sizes are parts of objects and libraries: --emit=lib, staticlib or obj");
  bool isMLIR = request.emit == EmitKind::MLIR;
  if (failed(lowerTo(module, isMLIR ? request.phase : Phase::LLVM, request.options, progress)))
    return failure();
  return timed(isMLIR ? Progress() : progress, nameOf(Phase::Object),
               [&] { return writeText(module, request, **machine); });
}

int compile(const CompileRequest &request, const Progress &progress) {
  auto report = [](llvm::Error error) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return 1;
  };
  // Mistakes that cost nothing to find come before the work.
  if (llvm::Error error = checkOptions(request.options))
    return report(std::move(error));
  if (!isText(request.emit)) {
    if (!emulatedCPU(request.options).empty())
      return report(
          llvm::createStringError("what STRATA_EMULATE_CPU asks for runs in the process that compiles it, not "
                                  "from a file"));
    if (llvm::Error error = checkRuntime(request.options))
      return report(std::move(error));
    TemporaryFiles files(request.output);
    if (auto file = files.create(""); !file)
      return report(file.takeError());
  }
  std::shared_ptr<MLIRContext> context = createContext();
  OwningOpRef<ModuleOp> module = loadModule(request.model, *context);
  return module && succeeded(compileModule(*module, request, progress)) ? 0 : 1;
}

} // namespace strata
