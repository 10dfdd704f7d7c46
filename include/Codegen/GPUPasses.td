//===- GPUPasses.td - passes of the GPU that know its vendor or the runtime -===//

#ifndef STRATA_CODEGEN_GPUPASSES
#define STRATA_CODEGEN_GPUPASSES

include "mlir/Pass/PassBase.td"

def FuseDeviceRows : Pass<"strata-fuse-device-rows", "mlir::func::FuncOp"> {
  let summary = "Operations that share their rows become one loop over single rows";
  let description = [{
    As `strata-fuse-rows`, for threads that share a row: one row at a time, as long
    as a multiprocessor's registers hold it, and without products of matrices. A
    reduction along memory is such a loop by itself, too.

    ```mlir
    %m = linalg.generic ... ins(%x) outs(%lowest) // maximum of each row
    %e = linalg.generic ... ins(%x, %m)
    ```
    becomes
    ```mlir
    %e = scf.forall (%i) in (64) shared_outs(%o = %empty) {
      %row = tensor.extract_slice %x[%i, 0] [1, 512] [1, 1]
      ...
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::scf::SCFDialect", "mlir::affine::AffineDialect"];
}

def FuseAttention : Pass<"strata-fuse-attention", "mlir::func::FuncOp"> {
  let summary = "Products around a softmax become one kernel";
  let description = [{
    Q * K^T, what is done with the scores (scale, bias, mask), their softmax along
    the keys, and the weights * V move into a loop of one iteration, which is the
    kernel. Its operations are those of the model, marked with what each is in the
    attention: what the kernel computes of them with an online softmax is up to
    `strata-map-kernels`. Operands that are only transposed are read where they
    lie, and a transposed result is written so. Where K and V are repeated for heads
    that share them, the loop of the heads becomes two, of which they have the outer
    one: they are read before the repetition.

    Heads must have 8 to 128 elements.

    ```mlir
    %s = linalg.generic ... ins(%q, %k)  // products
    %m = linalg.generic ... ins(%s)      // maximum of each row
    %e = linalg.generic ... ins(%s, %m)  // exponentials
    %t = linalg.generic ... ins(%e)      // their sum
    %p = linalg.generic ... ins(%e, %t)
    %r = linalg.generic ... ins(%p, %v)  // products
    ```
    becomes
    ```mlir
    %r = scf.forall (%i) in (1) shared_outs(%o = %empty) {
      %s = linalg.generic {strata.attention = "scores"} ... ins(%q, %k)
      ...
    } {mapping = [#gpu.block<x>]}
    ```
  }];
  let dependentDialects = ["mlir::gpu::GPUDialect", "mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect",
                           "mlir::scf::SCFDialect"];
}

def SplitAttention : Pass<"strata-split-attention", "mlir::ModuleOp"> {
  let summary = "Keys of an attention are divided among blocks where rows are few";
  let description = [{
    After `strata-place-buffers`. The kernel becomes two, of which the second joins
    what the parts of the keys give: of each row and part the sums of V, and the
    largest score with the sum of the exponentials. They lie in buffers between the
    two. What either computes is up to `strata-map-kernels`.

    ```mlir
    call @gpu_attention_0(%q, %k, %v, %r) {strata.launch}
    ```
    becomes
    ```mlir
    %sums = memref.alloc() : memref<32x64x128xf32, #gpu.address_space<global>>
    %marks = memref.alloc() : memref<32x64x2xf32, #gpu.address_space<global>>
    call @gpu_attention_0(%q, %k, %v, %r, %sums, %marks) {strata.launch}
    call @gpu_attention_0_join(%q, %k, %v, %r, %sums, %marks) {strata.launch}
    memref.dealloc %sums
    memref.dealloc %marks
    ```
  }];
  let dependentDialects = ["mlir::gpu::GPUDialect", "mlir::memref::MemRefDialect", "mlir::arith::ArithDialect",
                           "mlir::func::FuncDialect"];
}

def KeepRoundings : Pass<"strata-keep-roundings", "mlir::ModuleOp"> {
  let summary = "What an operator rounds stays rounded where the next one extends it";
  let description = [{
    The kernels of attention round scores as the operators between them say, which
    they know by conversions. Without the flag `contract`, no folder takes a
    conversion to f16 or bf16 and the one back away.

    ```mlir
    %0 = arith.truncf %x fastmath<contract> : f32 to f16
    ```
    becomes
    ```mlir
    %0 = arith.truncf %x : f32 to f16
    ```
  }];
}

def ReorderFilters : Pass<"strata-reorder-filters", "mlir::func::FuncOp"> {
  let summary = "Operands of products have their steps in the order of the others, which are computed";
  let description = [{
    Of a convolution whose data has the channels last, the filter gets them last,
    too: neighbouring steps are then copied at once on both sides. So do matrices of
    8-bit elements, which no instruction transposes, and of f32 where warpgroups
    multiply them (sm_90a, tf32). The constant is reordered once, when the model is
    loaded; of the latter two, also what is computed, where a thousand rows use it.

    ```mlir
    linalg.generic {indexing_maps = [affine_map<(n, y, x, f, c, i, j) -> (n, y + i, x + j, c)>,
                                     affine_map<(n, y, x, f, c, i, j) -> (f, c, i, j)>, ...} ins(%x, %w)
    ```
    becomes
    ```mlir
    %ordered = linalg.transpose ins(%w : tensor<64x32x3x3xf16>) ... permutation = [0, 2, 3, 1]
    linalg.generic {indexing_maps = [affine_map<(n, y, x, f, c, i, j) -> (n, y + i, x + j, c)>,
                                     affine_map<(n, y, x, f, c, i, j) -> (f, i, j, c)>, ...} ins(%x, %ordered)
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect"];
}

def JoinFills : Pass<"strata-join-fills", "mlir::ModuleOp"> {
  let summary = "Fills that follow each other become one kernel";
  let description = [{
    Fills with the same number that nothing separates but what touches no memory.

    ```mlir
    call @kernel_0(%above) : (memref<1x58x64xf32, ...>) -> ()
    call @kernel_0(%below) : (memref<1x58x64xf32, ...>) -> ()
    ```
    becomes
    ```mlir
    call @fills_0(%above, %below) : (memref<1x58x64xf32, ...>, memref<1x58x64xf32, ...>) -> ()
    ```
  }];
  let dependentDialects = ["mlir::func::FuncDialect"];
}

def RecordGraphs : Pass<"strata-record-graphs", "mlir::ModuleOp"> {
  let summary = "Kernels that follow each other may be started as one graph";
  let description = [{
    The runtime is given all that the launches and copies depend on; where it has
    recorded them with the same, it starts the graph and they are skipped.

    ```mlir
    gpu.launch_func @kernels::@kernel_0 blocks in (%n, %c1, %c1) threads in (%c256, %c1, %c1) args(%a)
    gpu.launch_func @kernels::@kernel_1 blocks in (%c8, %c1, %c1) threads in (%c256, %c1, %c1) args(%a, %b)
    ```
    becomes
    ```mlir
    %new = call @strata_gpu_graph_begin_0(%n, %a, %b) : (index, memref<...>, memref<...>) -> i1
    scf.if %new {
      gpu.launch_func @kernels::@kernel_0 blocks in (%n, %c1, %c1) threads in (%c256, %c1, %c1) args(%a)
      gpu.launch_func @kernels::@kernel_1 blocks in (%c8, %c1, %c1) threads in (%c256, %c1, %c1) args(%a, %b)
      call @strata_gpu_graph_end_0() : () -> ()
    }
    ```
  }];
  let dependentDialects = ["mlir::func::FuncDialect", "mlir::scf::SCFDialect"];
}

def ConvertToROCDL : Pass<"strata-convert-to-rocdl", "mlir::gpu::GPUModuleOp"> {
  let summary = "Functions of the GPU to the LLVM and ROCDL dialects";
  let description = [{
    As `strata-convert-to-nvvm`, for AMD's GPUs.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::ROCDL::ROCDLDialect"];
}

#endif // STRATA_CODEGEN_GPUPASSES
