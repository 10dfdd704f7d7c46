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
  auto ir = translateToLLVM(module, context, machine, request.options.modelName);
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

/// Runs NAME_init now, so that the file holds the computed constants.
static LogicalResult computeConstants(ModuleOp module, const CompileRequest &request, llvm::TargetMachine &machine,
                                      llvm::ArrayRef<std::unique_ptr<llvm::MemoryBuffer>> code,
                                      const ModelInterface &interface, std::vector<Constant> &constants) {
  auto table = makeTable(module, constants);
  if (failed(table))
    return failure();
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  for (const auto &object : code)
    objects.push_back(llvm::MemoryBuffer::getMemBuffer(*object, /*RequiresNullTerminator=*/false));
  auto loaded = loadCode(std::move(objects), machine.createDataLayout(), request.options.modelName, table->data());
  if (!loaded)
    return fail(module, loaded.takeError());
  Descriptor descriptor(request.options.modelName, describe(machine, request.options), interface);
  descriptor.descriptor.main = loaded->main;
  descriptor.descriptor.init = loaded->init;
  strata_model *model;
  DropConstants drop(constants);
  if (strata_model_from_descriptor(&descriptor.descriptor, &model))
    return module.emitError(strata_last_error());
  strata_model_free(model);
  return success();
}

static llvm::Error link(const CompileRequest &request, TemporaryFiles &files, llvm::ArrayRef<std::string> objects,
                        llvm::function_ref<llvm::Error(llvm::StringRef)> fill) {
  auto output = files.create(".out");
  if (!output)
    return output.takeError();
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
    return error;
  if (llvm::Error error = fill(*output))
    return llvm::createStringError("cannot write '%s': %s", request.output.c_str(),
                                   llvm::toString(std::move(error)).c_str());
  return files.rename(*output, request.output);
}

static LogicalResult emitObjects(ModuleOp module, const CompileRequest &request, llvm::TargetMachine &machine) {
  const std::string &name = request.options.modelName;
  TemporaryFiles files(request.output);
  auto interface = readInterface(module);
  auto constants = readConstants(module);
  if (failed(interface) || failed(constants))
    return failure();
  bool runs = runsOnHost(machine);
  if (request.emit == EmitKind::SharedLibrary &&
      machine.getTargetTriple().getArch() != llvm::Triple(LLVM_HOST_TRIPLE).getArch())
    return module.emitError() << "a shared library for " << machine.getTargetTriple().str()
                              << " needs that machine's runtime; use --emit=obj or staticlib and "
                                 "link there";

  llvm::LLVMContext context;
  auto ir = translateToLLVM(module, context, machine, name);
  if (failed(ir))
    return failure();
  auto code = compileToObjects(std::move(*ir), request.options);
  if (!code)
    return fail(module, code.takeError());

  GlueRequest glue;
  glue.modelName = name;
  glue.metadata = describe(machine, request.options);
  glue.interface = &*interface;
  glue.exportEntry = request.emit == EmitKind::SharedLibrary;
  bool computes = llvm::any_of(*constants, [](const Constant &constant) { return constant.computed; });
  glue.initAtLoad = computes && !runs;
  if (computes && runs && failed(computeConstants(module, request, machine, *code, *interface, *constants)))
    return failure();
  glue.constants = *constants;

  llvm::ELF::Elf64_Ehdr header;
  std::memcpy(&header, code->front()->getBufferStart(), sizeof(header));
  auto writeGlue = [&](llvm::raw_pwrite_stream &os) {
    auto glueModule = makeGlue(glue, context, machine);
    return emitCode(*glueModule, machine, llvm::CodeGenFileType::ObjectFile, os);
  };
  auto isInFile = [&](size_t i) {
    const Constant &constant = (*constants)[i];
    return glue.initAtLoad ? !constant.computed : constant.neededAtRunTime;
  };
  bool isArchive = request.emit == EmitKind::StaticLibrary;
  bool fillLater = !isArchive && llvm::any_of(llvm::seq<size_t>(0, constants->size()), isInFile);
  auto writeWeights = [&](llvm::raw_ostream &os) {
    return writeWeightsObject(os, machine.getTargetTriple(), header.e_flags, name, *constants, isInFile, !fillLater);
  };
  auto fill = [&](llvm::StringRef file) {
    return fillLater ? fillWeights(file, *constants, isInFile) : llvm::Error::success();
  };
  std::vector<std::string> objects;
  auto add = [&](llvm::Expected<std::string> file) -> llvm::Error {
    if (!file)
      return file.takeError();
    objects.push_back(*file);
    return llvm::Error::success();
  };
  for (const auto &object : *code) {
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
  if (llvm::Error error = link(request, files, objects, fill))
    return fail(module, std::move(error));
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

LogicalResult compileModule(ModuleOp module, const CompileRequest &request, const Progress &progress) {
  bool isMLIR = request.emit == EmitKind::MLIR;
  auto machine = createTargetMachine(request.options);
  if (!machine)
    return fail(module, machine.takeError());
  if (failed(lowerTo(module, isMLIR ? request.phase : Phase::LLVM, request.options, progress)))
    return failure();
  auto start = std::chrono::steady_clock::now();
  if (progress && !isMLIR)
    progress(nameOf(Phase::Object), false, 0);
  LogicalResult result = success();
  if (!isText(request.emit)) {
    result = emitObjects(module, request, **machine);
  } else {
    // In memory first: standard output cannot be taken back, and a file must
    // not be cut off.
    llvm::SmallVector<char, 0> text;
    llvm::raw_svector_ostream os(text);
    result = emitText(module, request, **machine, os);
    if (succeeded(result)) {
      std::string path = request.output.empty() ? "-" : request.output;
      llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &file) {
        file << os.str();
        return llvm::Error::success();
      });
      if (error)
        return fail(module, llvm::createStringError("cannot write '%s': %s", path.c_str(),
                                                    llvm::toString(std::move(error)).c_str()));
    }
  }
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  if (progress && !isMLIR && succeeded(result))
    progress(nameOf(Phase::Object), true, time.count());
  return result;
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
