//===- BodyLoads.cpp - buffers that a body reads at computed places -------===//
#include "BodyLoads.h"
#include "NestPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace strata;

namespace {
/// How a value of a body changes from one iteration of a loop to the next.
enum class Course { constant, counts, countsDown, countsOrStays, varies };
/// Those of a body; other values are constant.
using Courses = DenseMap<Value, Course>;
} // namespace

static bool isConstant(Course course) { return course == Course::constant; }

/// Of what an operation makes of operands of these courses.
static Course courseOf(Operation &op, ArrayRef<Course> courses) {
  if (llvm::all_of(courses, isConstant))
    return Course::constant;
  if (isa<arith::SelectOp>(op))
    return courses == ArrayRef({Course::constant, Course::constant, Course::counts}) ? Course::countsOrStays
                                                                                     : Course::varies;
  if (!isa<arith::AddIOp, arith::SubIOp>(op) || llvm::none_of(courses, isConstant))
    return Course::varies;
  Course counts = courses[isConstant(courses[0])];
  if (isa<arith::SubIOp>(op) && isConstant(courses[0]))
    return counts == Course::counts ? Course::countsDown : Course::varies;
  return counts == Course::counts || counts == Course::countsDown ? counts : Course::varies;
}

static Courses coursesOf(Stage &stage, int loop) {
  Courses courses;
  Block *body = stage.op.getBody();
  for (BlockArgument argument : body->getArguments()) {
    unsigned number = argument.getArgNumber();
    bool isInput = number < stage.inputs.size() && stage.carried != static_cast<int>(number);
    courses[argument] = isInput && stride(stage.inputs[number], loop).is(0) ? Course::constant : Course::varies;
  }
  for (Operation &op : *body) {
    auto number = dyn_cast<linalg::IndexOp>(op);
    Course course = number && stage.loopOf[number.getDim()] == loop ? Course::counts : Course::constant;
    if (!number)
      course = courseOf(op, llvm::map_to_vector(op.getOperands(), [&](Value v) { return courses.lookup(v); }));
    for (Value result : op.getResults())
      courses[result] = course;
  }
  return courses;
}

/// Whether the elements of the last dimension can be loaded as vectors.
static bool hasVectors(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(getStridesAndOffset(type, strides, offset)) && strides.back() == 1;
}

static LanesLoad lanesOf(memref::LoadOp load, const Courses &courses) {
  auto indices = llvm::map_to_vector(load.getIndices(), [&](Value at) { return courses.lookup(at); });
  if (llvm::all_of(indices, isConstant))
    return LanesLoad::one;
  Course last = indices.pop_back_val();
  if (last == Course::varies || !llvm::all_of(indices, isConstant) || !hasVectors(load.getMemRefType()))
    return LanesLoad::apart;
  return last == Course::counts       ? LanesLoad::run
         : last == Course::countsDown ? LanesLoad::reversedRun
                                      : LanesLoad::runOrOne;
}

LanesLoads strata::lanesOfLoads(Stage &stage, int loop) {
  Courses courses = coursesOf(stage, loop);
  LanesLoads loads;
  for (auto load : stage.op.getBody()->getOps<memref::LoadOp>())
    loads[load] = lanesOf(load, courses);
  return loads;
}

bool strata::bodyLoadsFit(LoopNest &nest, int loop) {
  bool fit = true;
  for (std::optional<Stage> *stage : {&nest.init, &nest.reduce, &nest.finish})
    if (*stage)
      for (auto [load, lanes] : lanesOfLoads(**stage, loop))
        fit &= lanes != LanesLoad::apart;
  return fit;
}

bool strata::canGatherLoads(LoopNest &nest, int loop, const TargetFacts &target) {
  constexpr int64_t someLanes = 4;
  const Extent &lanes = nest.loops[loop].size;
  if (!target.gathers || nest.init || nest.reduce || !nest.tails.empty() ||
      (lanes.isKnown() && lanes.known < someLanes))
    return false;
  Courses courses = coursesOf(*nest.finish, loop);
  // The lanes are loaded one after the other all the same: what is computed around them is what gets faster. But the
  // longest vectors gain by themselves.
  int64_t loads = 0, others = 0, shortest = 64;
  for (Operation &op : nest.finish->op.getBody()->without_terminator()) {
    if (op.getNumResults() != 1 || isConstant(courses.lookup(op.getResult(0))))
      continue;
    if (dividesIntegers(op))
      return false;
    if (auto load = dyn_cast<memref::LoadOp>(op); load && lanesOf(load, courses) == LanesLoad::apart) {
      ++loads;
      shortest =
          std::min<int64_t>(shortest, load.getType().isIntOrFloat() ? load.getType().getIntOrFloatBitWidth() : 64);
    } else if (!isa<linalg::IndexOp, arith::IndexCastOp>(op)) {
      ++others;
    }
  }
  constexpr int64_t enough = 8;
  return (target.vectorBits == 512 && shortest >= 32) || others >= enough * loads;
}

memref::LoadOp strata::getRunOfBody(LoopNest &nest, int loop) {
  Block *body = nest.finish->op.getBody();
  auto load = body->getTerminator()->getOperand(0).getDefiningOp<memref::LoadOp>();
  bool isRun = load && load->getBlock() == body && lanesOf(load, coursesOf(*nest.finish, loop)) == LanesLoad::run;
  return isRun ? load : memref::LoadOp();
}
