//===- RunCopies.cpp - long runs are copied as bytes ----------------------===//
//
// The C library knows how its machine writes lines without reading them first.
//
//===----------------------------------------------------------------------===//
#include "BodyLoads.h"
#include "TileEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace strata;

/// Where the body of the last stage loads the tile's first element: what it computes before.
Value TileEmitter::startOfRun(Tile tile, memref::LoadOp load) {
  Stage &finish = *nest.finish;
  tile.rows = tile.vectors = tile.lanes = 1;
  Loaded cache;
  IRMapping mapping;
  Block *body = finish.op.getBody();
  mapping.map(body->getArguments().take_front(finish.inputs.size()),
              inputsOf(finish, basesOf(finish, tile), tile, 0, 0, cache, {}));
  for (Operation &op : llvm::make_range(body->begin(), load->getIterator()))
    operation(finish, op, mapping, tile, 0, 0, /*fuse=*/false);
  Value buffer = mapping.lookupOrDefault(load.getMemRef());
  auto layout = b.create<memref::ExtractStridedMetadataOp>(loc, buffer);
  Value at = layout.getOffset();
  for (auto [place, stride] : llvm::zip_equal(load.getIndices(), layout.getStrides()))
    at = add(at, b.createOrFold<arith::MulIOp>(loc, mapping.lookupOrDefault(place), stride));
  return addressOf(buffer, at, bytesOf(load.getType()));
}

void TileEmitter::copyRun(const Tile &tile) {
  auto start = [&](Access &access) {
    return addressOf(access.base, position(access, tile, /*reduction=*/false), bytesOf(access.element));
  };
  Access &to = nest.finish->outputs[0];
  const Extent &run = nest.loops[plan.lane].size;
  int64_t most = plan.vectorTile * plan.width;
  Value count = index(most);
  if (!run.isKnown() || run.known % most)
    count = b.create<arith::MinUIOp>(loc, count, b.create<arith::SubIOp>(loc, materialize(run), tile.at[plan.lane]));
  Value bytes = b.create<arith::IndexCastOp>(loc, b.getI64Type(), times(count, {bytesOf(to.element), {}}));
  auto load = getRunOfBody(nest, plan.lane);
  Value from = load ? startOfRun(tile, load) : start(nest.finish->inputs[0]);
  b.create<LLVM::MemcpyOp>(loc, start(to), from, bytes, /*isVolatile=*/false);
}
