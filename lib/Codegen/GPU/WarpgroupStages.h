//===- WarpgroupStages.h - what warpgroups copy and multiply ----*- C++ -*-===//
//
// One warpgroup copies to stages of shared memory, others multiply what they hold.
// For each stage there are two mbarriers: `full`, whose phase ends when the stage's
// bytes have arrived, and `empty`, when all warps that multiply have waited for
// their products of it.
//
//===----------------------------------------------------------------------===//
#ifndef STRATA_CODEGEN_GPU_WARPGROUPSTAGES_H
#define STRATA_CODEGEN_GPU_WARPGROUPSTAGES_H

#include "Integers.h"
#include "WarpgroupPlan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace strata {

/// A stage of shared memory and the parity of its phase.
struct Turn {
  mlir::Value stage, parity;
};

/// Stages that are filled and read one after the other, over and over.
class StageRing {
public:
  static constexpr int64_t barrierBytes = 16; ///< of a stage

  /// Where the first stage and its barriers lie (!llvm.ptr<3>).
  StageRing(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memory, mlir::Value barriers, int64_t stageBytes,
            int64_t stages)
      : b(b), loc(loc), i32{b, loc, b.getI32Type()}, memory(memory), barriers(barriers), stageBytes(stageBytes),
        stages(stages) {}

  /// Of the stages; `arrivals` warps multiply. By one thread.
  void makeBarriers(int64_t arrivals);

  mlir::Value at(mlir::Value stage);
  Turn next(Turn turn);
  /// The first turn of what is read, and of what is filled: a wait for the phase before the first one does not wait.
  Turn firstFull() { return {i32.number(0), i32.number(0)}; }
  Turn firstEmpty() { return {i32.number(0), i32.number(1)}; }

  /// Waits until the stage is free; gives the barrier of copies that bring so many bytes.
  mlir::Value expect(Turn turn, int64_t bytes);
  void waitForCopies(Turn turn) { waitFor(full(turn.stage), turn.parity); }
  /// A warp has waited for its products of a stage.
  void release(mlir::Value lane, mlir::Value stage, mlir::Value condition = {});

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
  Integers i32;
  mlir::Value memory, barriers;
  int64_t stageBytes, stages;

  mlir::Value full(mlir::Value stage);
  mlir::Value empty(mlir::Value stage);
  void waitFor(mlir::Value barrier, mlir::Value parity);
};

/// Copies an operand's tile, which begins where the loops have the numbers `at` (index or i32; null is 0).
void copyTile(mlir::OpBuilder &b, mlir::Location loc, const BulkOperand &operand, mlir::Value map,
              llvm::ArrayRef<mlir::Value> at, mlir::Value to, mlir::Value barrier);

/// A tile in shared memory, for wgmma.
class TileDescriptor {
public:
  TileDescriptor(mlir::OpBuilder &b, mlir::Location loc, const BulkOperand &operand, mlir::Value address);
  /// Of `group` times 64 rows further on, and of steps from `step` on.
  mlir::Value at(int64_t group, int64_t step);
  bool isAcross() const { return operand.across; }

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
  const BulkOperand &operand;
  mlir::Value first;
};

/// wgmma, of 64 rows, `columns` and the steps of one instruction from `step` on: what it makes of the sums (a
/// structure) is there when its group has been waited for. Without sums (null) it begins with zeros.
struct WarpgroupProduct {
  mlir::OpBuilder &b;
  mlir::Location loc;
  const WarpgroupInstruction &instruction;
  int64_t columns;

  mlir::Value noSums() const;
  mlir::Value multiply(mlir::Value sums, TileDescriptor &left, int64_t group, TileDescriptor &right,
                       int64_t step) const;
  /// Of elements of 16 bits: the left side in four registers (i32).
  mlir::Value multiply(mlir::Value sums, llvm::ArrayRef<mlir::Value> left, TileDescriptor &right, int64_t step) const;

  llvm::SmallVector<mlir::Value> unpack(mlir::Value sums) const;
  mlir::Value pack(llvm::ArrayRef<mlir::Value> sums) const;

private:
  mlir::Type type() const;
};

/// The first thread of a block makes the rings' barriers, for so many warps that multiply; then all threads see them.
void makeBarriers(mlir::OpBuilder &b, mlir::Location loc, mlir::Value thread, llvm::ArrayRef<StageRing *> rings,
                  int64_t arrivals, mlir::ValueRange maps);

/// The first warpgroup of a block copies, each of the others computes what is its own.
void divideWork(mlir::OpBuilder &b, mlir::Location loc, mlir::Value thread, llvm::function_ref<void()> copy,
                llvm::function_ref<void(mlir::Value consumer)> compute);

/// Gives the function parameters that are tensor maps.
llvm::SmallVector<mlir::Value> addTensorMaps(mlir::gpu::GPUFuncOp function, int64_t count);

/// The attribute of a gpu.func with the number of its last parameters that are tensor maps.
inline constexpr llvm::StringLiteral kTensorMaps = "strata.tensor_maps";

} // namespace strata

#endif // STRATA_CODEGEN_GPU_WARPGROUPSTAGES_H
