//===- Strings.cpp - StringConcat, StringNormalizer, StringSplit, RegexFullMatch ------===//

#include "../Elementwise.h"
#include "Conversion/RuntimeCalls.h"

#include <re2/re2.h>

static Value isNonZero(LinalgBuilder &b, Value x) {
  return b.create<arith::CmpIOp>(arith::CmpIPredicate::ne, x, b.scalarInt(x.getType(), 0));
}

//===----------------------------------------------------------------------===//
// StringConcat, RegexFullMatch: element by element
//===----------------------------------------------------------------------===//

static FailureOr<SmallVector<Value>> lowerConcat(Operation *, ValueRange operands, LinalgBuilder &b) {
  return SmallVector<Value>{mapElements(b, operands, b.getI64Type(), [&](ValueRange x) {
    return callRuntime(b, "strata_rt_string_concat", x, b.getI64Type());
  })};
}

static LogicalResult verifyRegex(Operation *op) {
  auto pattern = op->getAttrOfType<StringAttr>("pattern");
  if (RE2 regex(pattern ? pattern.getValue().str() : "", RE2::Quiet); !regex.ok())
    return op->emitOpError("attribute 'pattern' is '")
           << pattern.getValue() << "', which is not a regular expression: " << regex.error();
  return success();
}

static FailureOr<SmallVector<Value>> lowerRegex(Operation *op, ValueRange operands, LinalgBuilder &b) {
  auto pattern = op->getAttrOfType<StringAttr>("pattern");
  Value text = stringConstant(b, pattern ? pattern.getValue() : "");
  Value regex = callRuntime(b, "strata_rt_regex_compile", text, b.getI64Type(), /*located=*/true);
  return SmallVector<Value>{mapElements(b, operands, b.getI1Type(), [&](ValueRange x) {
    return isNonZero(b, callRuntime(b, "strata_rt_regex_full_match", {regex, x[0]}, b.getI64Type()));
  })};
}

//===----------------------------------------------------------------------===//
// StringNormalizer: strings without the stop words
//===----------------------------------------------------------------------===//

// 1: to lower case, 2: to upper case.
static int64_t getCaseAction(Operation *op) {
  auto action = op->getAttrOfType<StringAttr>("case_change_action");
  if (!action || action == "NONE")
    return 0;
  return action == "LOWER" ? 1 : 2;
}

static LogicalResult verifyNormalizer(Operation *op) {
  auto action = op->getAttrOfType<StringAttr>("case_change_action");
  if (action && !llvm::is_contained({"NONE", "LOWER", "UPPER"}, action.getValue()))
    return op->emitOpError("case_change_action is '") << action.getValue() << "', but must be NONE, LOWER or UPPER";
  return success();
}

static LogicalResult inferNormalizer(ShapeContext &c) {
  std::optional<Shape> shape = c.shape(0);
  if (!shape)
    return success();
  if (shape->empty() || shape->size() > 2)
    return c.emitError() << "needs an input of rank 1 or 2, not " << shape->size();
  if (shape->size() == 2 && (*shape)[0].isStatic() && !(*shape)[0].is(1))
    return c.emitError() << "needs an input of one row, not " << (*shape)[0].size;
  auto stopWords = c.attr<ArrayAttr>("stopwords");
  Dim count = !stopWords || stopWords.empty() ? shape->back() : Dim();
  if (count.is(0))
    count = Dim(1);
  if (!count.isStatic())
    count = Dim();
  if (shape->size() == 2)
    c.setShape(0, {Dim(1), count});
  else
    c.setShape(0, count);
  return success();
}

static FailureOr<SmallVector<Value>> lowerNormalizer(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type i64 = b.getI64Type();
  int64_t rank = getRank(operands[0]), action = getCaseAction(op);
  auto sensitive = op->getAttrOfType<IntegerAttr>("is_case_sensitive");
  bool fold = !sensitive || sensitive.getInt() == 0;
  auto changeCase = [&](Value string, int64_t how) {
    return how ? callRuntime(b, "strata_rt_string_change_case", {string, b.scalarInt(i64, how)}, i64) : string;
  };
  if (rank == 2)
    b.checkEqual(b.dim(operands[0], 0), b.getIndexAttr(1), "the input has more than one row");
  Value strings = rank == 2 ? b.reshape(operands[0], {b.product(b.sizes(operands[0]))}) : operands[0];
  SmallVector<StringRef> words;
  if (auto attr = op->getAttrOfType<ArrayAttr>("stopwords"))
    for (StringAttr word : attr.getAsRange<StringAttr>())
      words.push_back(word.getValue());
  Value stops;
  if (!words.empty())
    stops = mapElements(b, stringConstants(b, words), i64, [&](ValueRange x) { return changeCase(x[0], fold); });

  // Each string goes behind those that are kept; the place behind the last one is free.
  OpFoldResult length = b.dim(strings, 0);
  Value one = b.index(int64_t(1)), no = b.scalarInt(b.getI1Type(), 0);
  Value room = b.fill({b.add(length, b.getIndexAttr(1))}, b.scalarInt(i64, 0));
  SmallVector<Value> kept =
      b.loopNest({length}, {room, b.index(int64_t(0))}, [&](ValueRange at, ValueRange carried) -> SmallVector<Value> {
        Value string = b.create<tensor::ExtractOp>(strings, at);
        Value next = b.create<arith::AddIOp>(carried[1], one);
        if (stops) {
          Value compared = changeCase(string, fold);
          Value stopped =
              b.loopNest({b.getIndexAttr(words.size())}, no, [&](ValueRange i, ValueRange found) -> SmallVector<Value> {
                Value stop = b.create<tensor::ExtractOp>(stops, i);
                Value equal = isNonZero(b, callRuntime(b, "strata_rt_string_equal", {compared, stop}, i64));
                return {b.create<arith::OrIOp>(found[0], equal)};
              })[0];
          next = b.create<arith::SelectOp>(stopped, carried[1], next);
        }
        return {b.create<tensor::InsertOp>(changeCase(string, action), carried[0], carried[1]), next};
      });
  // A string that was dropped last may lie in the first place.
  Value isEmpty = b.compare(arith::CmpIPredicate::eq, kept[1], b.getIndexAttr(0));
  OpFoldResult count = b.maximum(kept[1], b.getIndexAttr(1));
  if (cast<RankedTensorType>(strings.getType()).getDimSize(0) > 0 && !stops)
    count = length;
  Value result = b.slice(kept[0], {b.getIndexAttr(0)}, {count});
  result = b.elementwise(result, i64, [&](ImplicitLocOpBuilder &n, ValueRange x) -> Value {
    Value zero = n.create<arith::ConstantIntOp>(0, 64);
    return n.create<arith::SelectOp>(isEmpty, zero, x[0]);
  });
  if (rank == 2)
    result = b.unsqueeze(result, {0});
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// StringSplit
//===----------------------------------------------------------------------===//

static LogicalResult inferSplit(ShapeContext &c) {
  c.copyShape(0, 1);
  if (std::optional<Shape> shape = c.shape(0)) {
    shape->push_back(Dim());
    c.setShape(0, *shape);
  }
  return success();
}

static FailureOr<SmallVector<Value>> lowerSplit(Operation *op, ValueRange operands, LinalgBuilder &b) {
  Type i64 = b.getI64Type();
  auto delimiterAttr = op->getAttrOfType<StringAttr>("delimiter");
  auto limitAttr = op->getAttrOfType<IntegerAttr>("maxsplit");
  Value delimiter = stringConstant(b, delimiterAttr ? delimiterAttr.getValue() : "");
  Value limit = b.scalarInt(i64, limitAttr ? limitAttr.getInt() : -1);
  Value counts = mapElements(b, operands, i64, [&](ValueRange x) {
    return callRuntime(b, "strata_rt_string_split_count", {x[0], delimiter, limit}, i64);
  });
  Sizes sizes = b.sizes(operands[0]);
  Value most =
      b.reduce(counts, llvm::to_vector(llvm::seq<int64_t>(0, sizes.size())), false, b.scalarInt(i64, 0),
               [](ImplicitLocOpBuilder &n, ValueRange x) -> Value { return n.create<arith::MaxSIOp>(x[0], x[1]); });
  sizes.push_back(b.createOrFold<arith::IndexCastOp>(b.getIndexType(), b.extractScalar(most)));
  Value parts = tabulate(b, sizes, i64, [&](ValueRange at) {
    Value string = b.create<tensor::ExtractOp>(operands[0], at.drop_back());
    Value i = b.create<arith::IndexCastOp>(i64, at.back());
    return callRuntime(b, "strata_rt_string_split_part", {string, delimiter, limit, i}, i64);
  });
  return SmallVector<Value>{parts, counts};
}

STRATA_SLICE(Strings) {
  ops.add("StringConcat", {.inferShapes = inferBroadcast, .lower = lowerConcat, .handles = true});
  ops.add("RegexFullMatch",
          {.verify = verifyRegex, .inferShapes = inferSameShape, .lower = lowerRegex, .handles = true});
  ops.add("StringNormalizer",
          {.verify = verifyNormalizer, .inferShapes = inferNormalizer, .lower = lowerNormalizer, .handles = true});
  ops.add("StringSplit", {.inferShapes = inferSplit, .lower = lowerSplit, .handles = true});
}
