//===- strata-translate.cpp - ONNX models to MLIR and back ----------------===//

#include "Dialect/ONNX/Transforms/ConvertOpset.h"
#include "Export/Export.h"
#include "Import/Import.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;
namespace cl = llvm::cl;

static cl::OptionCategory category("strata-translate");
enum class Action { None, ImportFile, ImportText, Export, ExportText, RoundTrip };
static cl::opt<Action> action(
    cl::desc("What to do:"), cl::cat(category), cl::init(Action::None),
    cl::values(clEnumValN(Action::ImportFile, "import-onnx", "an ONNX model to MLIR"),
               clEnumValN(Action::ImportText, "import-onnx-text", "a model in ONNX's text syntax to MLIR"),
               clEnumValN(Action::Export, "export-onnx", "MLIR of versioned ops, or an ONNX model, to an ONNX model"),
               clEnumValN(Action::ExportText, "export-onnx-text", "... to ONNX's text syntax"),
               clEnumValN(Action::RoundTrip, "round-trip-onnx", "an ONNX model to MLIR and back, for tests")));
static cl::opt<std::string> input(cl::Positional, cl::desc("<input, - for standard input>"), cl::init("-"),
                                  cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Output file, - for standard output"), cl::value_desc("file"),
                                   cl::init("-"), cl::cat(category));
static cl::opt<std::string> folder("external-data-folder", cl::value_desc("folder"), cl::cat(category),
                                   cl::desc("Where the model's external data lies (default: the model's folder)"));
static cl::list<std::string> opsets("opset", cl::cat(category), cl::CommaSeparated, cl::value_desc("[domain:]version"),
                                    cl::desc("Convert the operators to this opset: 13, or ai.onnx.ml:3"));
static cl::opt<bool> elide("elide-weights", cl::cat(category),
                           cl::desc("Print no large constants: to read, not to read back"));
static cl::opt<bool> locations("locations", cl::cat(category), cl::desc("Print locations (names of nodes and values)"));
static cl::opt<bool> bytecode("emit-bytecode", cl::cat(category), cl::desc("Write MLIR bytecode"));

static OwningOpRef<ModuleOp> importModel(MLIRContext &context) {
  strata::ImportOptions options;
  options.externalDataFolder = folder;
  if (input != "-" && action != Action::ImportText)
    return strata::importOnnxFile(input, &context, options);
  options.name = input == "-" ? "<stdin>" : input.getValue();
  std::string message;
  auto buffer = openInputFile(input, &message);
  if (!buffer) {
    llvm::errs() << "error: " << message << "\n";
    return {};
  }
  if (action == Action::ImportText)
    return strata::importOnnxText(buffer->getBuffer(), &context, options);
  return strata::importOnnxBytes(std::move(buffer), &context, options);
}

/// ONNX models are also what the export starts from, where their names say so.
static bool isOnnxFile(StringRef path) {
  StringRef extension = llvm::sys::path::extension(path);
  return extension == ".onnx" || extension == ".onnxtxt";
}

static LogicalResult convert(ModuleOp module) {
  SmallVector<strata::OpsetVersion> targets;
  for (const std::string &text : opsets) {
    FailureOr<strata::OpsetVersion> target = strata::parseOpsetVersion(text, UnknownLoc::get(module.getContext()));
    if (failed(target))
      return failure();
    targets.push_back(std::move(*target));
  }
  return targets.empty() ? success() : strata::convertOpsets(module, targets);
}

static LogicalResult write(ModuleOp module, llvm::raw_ostream &out) {
  if (bytecode)
    return writeBytecodeToFile(module, out);
  OpPrintingFlags flags;
  flags.enableDebugInfo(locations);
  // Without the section of resources (which would be made in full before it is left out).
  if (elide)
    flags.elideLargeElementsAttrs(64).useLocalScope();
  module.print(out, flags);
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Translates ONNX models to MLIR and back\n");
  if (action == Action::None) {
    llvm::errs() << "error: say what to do: --import-onnx, --import-onnx-text, --export-onnx or --export-onnx-text\n";
    return 1;
  }
  MLIRContext context;
  strata::loadImportDialects(&context);
  llvm::SourceMgr sources;
  // Messages of the importer say where in the model they belong; those of a parser have a line of the file.
  SourceMgrDiagnosticHandler parserMessages(sources, &context);
  context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    if (diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
      return failure();
    llvm::errs() << (diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error: " : "warning: ");
    // Messages of ops say what is wrong, their location which node it is.
    std::string text = diagnostic.str();
    if (auto node = dyn_cast<NameLoc>(diagnostic.getLocation()); node && StringRef(text).starts_with("'"))
      llvm::errs() << "node '" << node.getName().getValue() << "': ";
    llvm::errs() << text << "\n";
    for (Diagnostic &note : diagnostic.getNotes())
      llvm::errs() << "  note: " << note << "\n";
    return success();
  });

  bool isImport = (action != Action::Export && action != Action::ExportText) || isOnnxFile(input);
  bool isExport = action != Action::ImportFile && action != Action::ImportText;
  OwningOpRef<ModuleOp> module;
  if (isImport) {
    module = importModel(context);
  } else {
    std::string message;
    auto buffer = openInputFile(input, &message);
    if (!buffer) {
      llvm::errs() << "error: " << message << "\n";
      return 1;
    }
    sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
    module = parseSourceFile<ModuleOp>(sources, &context);
  }
  if (!module || failed(convert(*module)))
    return 1;

  // The output file is made only when there is something to write.
  std::string message, text;
  llvm::raw_string_ostream stream(text);
  if (isExport && failed(action == Action::ExportText ? strata::exportOnnxText(*module, stream)
                                                      : strata::exportOnnx(*module, stream)))
    return 1;
  auto file = openOutputFile(output, &message);
  if (!file) {
    llvm::errs() << "error: " << message << "\n";
    return 1;
  }
  if (isExport)
    file->os() << text;
  else if (failed(write(*module, file->os())))
    return 1;
  file->os().flush();
  if (file->os().has_error()) {
    llvm::errs() << "error: '" << output << "' cannot be written: " << file->os().error().message() << "\n";
    file->os().clear_error();
    return 1;
  }
  file->keep();
  return 0;
}
