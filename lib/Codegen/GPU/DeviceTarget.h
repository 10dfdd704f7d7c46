//===- DeviceTarget.h - what differs between the vendors' GPUs ------------===//
#ifndef STRATA_CODEGEN_GPU_DEVICETARGET_H
#define STRATA_CODEGEN_GPU_DEVICETARGET_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

namespace strata {

/// A vendor's GPUs, as the target of kernels.
class DeviceTarget {
public:
  virtual ~DeviceTarget() = default;
  /// The vendor of a chip: "sm_80", "gfx90a".
  static const DeviceTarget &ofChip(llvm::StringRef chip);

  /// In LLVM's words.
  virtual llvm::StringRef triple() const = 0;
  virtual llvm::StringRef features(llvm::StringRef chip) const { return ""; }
  virtual unsigned addressSpace(mlir::gpu::AddressSpace space) const = 0;
  /// From the GPU dialect to the vendor's.
  virtual void populatePatterns(mlir::LLVMTypeConverter &converter, mlir::RewritePatternSet &patterns) const = 0;
  /// The target of a gpu.object.
  virtual mlir::Attribute attribute(mlir::MLIRContext *context, llvm::StringRef chip) const = 0;
  /// The device library's bitcode.
  virtual llvm::ArrayRef<unsigned char> library() const = 0;

  struct Object {
    std::string bytes;
    mlir::gpu::CompilationTarget kind;
  };
  /// What the driver loads, of optimised IR.
  virtual llvm::Expected<Object> makeObject(llvm::Module &kernels, llvm::TargetMachine &machine,
                                            llvm::StringRef format) const = 0;
};

/// Runs LLVM's code generator.
llvm::Expected<std::string> generateCode(llvm::Module &kernels, llvm::TargetMachine &machine,
                                         llvm::CodeGenFileType type);

/// Runs a vendor's or a linker's program on a file with `input`, and gives what it writes; $in and $out in the
/// arguments are the files' names.
llvm::Expected<std::string> runTool(llvm::StringRef program, llvm::ArrayRef<std::string> arguments,
                                    llvm::StringRef input);

const DeviceTarget &nvidiaTarget();
const DeviceTarget &amdTarget();

} // namespace strata

#endif // STRATA_CODEGEN_GPU_DEVICETARGET_H
