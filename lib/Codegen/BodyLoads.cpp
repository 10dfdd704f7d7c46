//===- BodyLoads.cpp - buffers that a body reads at computed places -------===//
#include "BodyLoads.h"
#include "NestPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace strata;

namespace {
/// How a value of a body changes from one iteration of a loop to the next.
enum class Course { constant, counts, countsOrStays, varies };
} // namespace

static Course courseOf(Stage &stage, Value value, int loop) {
  Block *body = stage.op.getBody();
  if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == body) {
    unsigned number = argument.getArgNumber();
    bool isInput = number < stage.inputs.size() && stage.carried != static_cast<int>(number);
    return isInput && stride(stage.inputs[number], loop).is(0) ? Course::constant : Course::varies;
  }
  Operation *maker = value.getDefiningOp();
  if (!maker || maker->getBlock() != body)
    return Course::constant;
  if (auto number = dyn_cast<linalg::IndexOp>(maker))
    return stage.loopOf[number.getDim()] == loop ? Course::counts : Course::constant;
  SmallVector<Course> courses;
  for (Value operand : maker->getOperands())
    courses.push_back(courseOf(stage, operand, loop));
  if (llvm::all_of(courses, [](Course course) { return course == Course::constant; }))
    return Course::constant;
  if (isa<arith::SelectOp>(maker) && courses == ArrayRef({Course::constant, Course::constant, Course::counts}))
    return Course::countsOrStays;
  bool shifted = isa<arith::AddIOp>(maker) || (isa<arith::SubIOp>(maker) && courses[1] == Course::constant);
  return shifted && llvm::count(courses, Course::counts) == 1 && llvm::count(courses, Course::constant) == 1
             ? Course::counts
             : Course::varies;
}

/// Whether the elements of the last dimension can be loaded as vectors.
static bool hasVectors(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(getStridesAndOffset(type, strides, offset)) && strides.back() == 1;
}

bool strata::bodyLoadsFit(LoopNest &nest, int loop) {
  for (std::optional<Stage> *stage : {&nest.init, &nest.reduce, &nest.finish}) {
    if (!*stage)
      continue;
    for (auto load : (*stage)->op.getBody()->getOps<memref::LoadOp>()) {
      auto courses = llvm::map_to_vector(load.getIndices(), [&](Value at) { return courseOf(**stage, at, loop); });
      if (courses.empty())
        continue;
      Course last = courses.pop_back_val();
      if (last == Course::varies || (last != Course::constant && !hasVectors(load.getMemRefType())) ||
          llvm::any_of(courses, [](Course course) { return course != Course::constant; }))
        return false;
    }
  }
  return true;
}

memref::LoadOp strata::getRunOfBody(LoopNest &nest, int loop) {
  Block *body = nest.finish->op.getBody();
  auto load = body->getTerminator()->getOperand(0).getDefiningOp<memref::LoadOp>();
  if (!load || load->getBlock() != body || load.getIndices().empty())
    return {};
  auto courses = llvm::map_to_vector(load.getIndices(), [&](Value at) { return courseOf(*nest.finish, at, loop); });
  bool isRun = courses.pop_back_val() == Course::counts && hasVectors(load.getMemRefType()) &&
               llvm::all_of(courses, [](Course course) { return course == Course::constant; });
  return isRun ? load : memref::LoadOp();
}
