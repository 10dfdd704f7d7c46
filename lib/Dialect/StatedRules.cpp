//===- StatedRules.cpp - rules that a table can hold ----------------------===//

#include "Dialect/StatedRules.h"
#include "Dialect/OpBehavior.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace strata {

//===----------------------------------------------------------------------===//
// The rules
//===----------------------------------------------------------------------===//

// Operators are named without version, and separated by spaces; a rule is for all versions that have the attribute or
// operand.
namespace {
/// A string attribute is one of the words, or an integer attribute one of the numbers.
struct OneOf {
  StringRef operators, attribute, values;
};
/// An integer attribute, or each element of a list, is at least the number.
struct AtLeast {
  StringLiteral operators, attribute;
  int64_t least;
};
/// An operand has the rank, or as a whole the number of elements (then of rank 0 or 1); -1: any.
struct OperandForm {
  StringLiteral operators, operand;
  int rank, elements;
};
/// A dimension of one operand is `factor` times that of another, -1: all are equal. Of operands whose rank is `rank`
/// only, unless that is 0.
struct EqualDims {
  StringLiteral operators, operand;
  int dim;
  StringLiteral other;
  int otherDim, rank = 0, factor = 1;
};
} // namespace

// Attributes that are 0 or 1, of whichever operator has them.
static constexpr StringLiteral kFlags =
    "align_corners allowzero ceil_mode center_point_box count_include_pad exclusive interleaved inverse is_causal "
    "keepdims largest layout new_axis noop_with_empty_axes one_class onesided periodic reverse saturate "
    "select_last_index sorted storage_order transA transB upper zeros";

static constexpr OneOf kOneOf[] = {
    {"BatchNormalization", "training_mode", "0 1"},
    {"BlackmanWindow HannWindow HammingWindow", "output_datatype", "1 2 3 4 5 6 7 10 11 12 13 16"},
    {"CausalConvWithState", "activation", "none silu swish"},
    {"DepthToSpace SpaceToDepth", "mode", "DCR CRD"},
    {"LinearAttention", "update_rule", "linear gated delta gated_delta"},
    {"NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", "reduction", "none sum mean"},
    {"Pad", "mode", "constant reflect edge wrap"},
    {"Resize", "keep_aspect_ratio_policy", "stretch not_larger not_smaller"},
    {"Resize", "nearest_mode", "round_prefer_floor round_prefer_ceil floor ceil"},
    {"Resize", "mode", "nearest linear cubic"},
    {"Resize", "coordinate_transformation_mode",
     "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric tf_half_pixel_for_nn "
     "tf_crop_and_resize"},
    {"ScatterElements ScatterND", "reduction", "none add mul max min"},
    {"TensorScatter", "mode", "linear circular"},
    {"Upsample", "mode", "nearest linear bilinear"},
};

static constexpr AtLeast kAtLeast[] = {
    {"DepthToSpace SpaceToDepth", "blocksize", 1},
    {"GRU LSTM RNN", "hidden_size", 1},
    {"ml.CastMap", "max_map", 1},
    {"Transpose", "perm", 0},
};

static constexpr OperandForm kOperandForms[] = {
    {"BlackmanWindow HannWindow HammingWindow", "size", -1, 1},
    {"ConvInteger", "x_zero_point", -1, 1},
    {"CumSum CumProd", "axis", -1, 1},
    {"Expand", "shape", 1, -1},
    {"MelWeightMatrix", "num_mel_bins", -1, 1},
    {"MelWeightMatrix", "dft_length", -1, 1},
    {"MelWeightMatrix", "sample_rate", -1, 1},
    {"MelWeightMatrix", "lower_edge_hertz", -1, 1},
    {"MelWeightMatrix", "upper_edge_hertz", -1, 1},
    {"OneHot", "depth", -1, 1},
    {"OneHot", "values", -1, 2},
    {"Pad", "pads", 1, -1},
    {"Pad", "axes", 1, -1},
    {"Pad", "constant_value", -1, 1},
    {"QLinearConv", "x_scale", -1, 1},
    {"QLinearConv", "x_zero_point", -1, 1},
    {"QLinearConv", "y_scale", -1, 1},
    {"QLinearConv", "y_zero_point", -1, 1},
    {"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
     "ReduceSumSquare",
     "axes", 1, -1},
    {"Reshape", "shape", 1, -1},
    {"Slice", "starts", 1, -1},
    {"Slice", "ends", 1, -1},
    {"Slice", "axes", 1, -1},
    {"Slice", "steps", 1, -1},
    {"Tile", "repeats", 1, -1},
    {"TopK", "K", -1, 1},
    {"Trilu", "k", -1, 1},
    {"SequenceAt SequenceErase SequenceInsert", "position", -1, 1},
};

static constexpr EqualDims kEqualDims[] = {
    {"Attention", "K", 0, "Q", 0, 3},
    {"Attention", "K", 0, "Q", 0, 4},
    {"Attention", "V", 0, "Q", 0, 3},
    {"Attention", "V", 0, "Q", 0, 4},
    {"Attention", "K", 1, "V", 1, 3},
    {"Attention", "K", 1, "V", 1, 4},
    {"Attention", "K", 2, "V", 2, 4},
    {"CausalConvWithState", "weight", 0, "input", 1},
    {"CausalConvWithState", "bias", 0, "input", 1},
    {"CausalConvWithState", "past_state", 0, "input", 0},
    {"CausalConvWithState", "past_state", 1, "input", 1},
    {"DeformConv", "offset", 0, "X", 0},
    {"DeformConv", "mask", 0, "X", 0},
    {"DeformConv", "B", 0, "W", 0},
    {"GRU LSTM RNN", "R", 0, "W", 0},
    {"GRU LSTM RNN", "B", 0, "W", 0},
    {"GRU LSTM RNN", "B", 1, "W", 1, 0, 2},
    {"GRU LSTM RNN", "initial_h", 2, "R", 2},
    {"LSTM", "initial_c", 2, "R", 2},
    {"MaxUnpool", "I", -1, "X", -1},
    {"NegativeLogLikelihoodLoss", "target", 0, "input", 0},
    {"NegativeLogLikelihoodLoss", "weight", 0, "input", 1},
    {"NonMaxSuppression", "scores", 0, "boxes", 0, 3},
    {"NonMaxSuppression", "scores", 2, "boxes", 1, 3},
    {"RotaryEmbedding", "sin_cache", -1, "cos_cache", -1},
    {"ScatterElements Scatter", "updates", -1, "indices", -1},
    {"SoftmaxCrossEntropyLoss", "labels", 0, "scores", 0},
    {"SoftmaxCrossEntropyLoss", "weights", 0, "scores", 1},
};

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool isAmong(StringRef word, StringRef words) {
  for (StringRef rest = words; !rest.empty();) {
    auto [first, others] = rest.split(' ');
    if (first == word)
      return true;
    rest = others;
  }
  return false;
}

// `0 or 1`
static std::string alternatives(StringRef words, StringRef quote) {
  SmallVector<StringRef> list;
  words.split(list, ' ');
  std::string text;
  for (auto [i, word] : llvm::enumerate(list))
    text += ((i == 0 ? "" : i + 1 == list.size() ? " or " : ", ") + quote + word + quote).str();
  return text;
}

static LogicalResult verify(Operation *op, const OneOf &rule) {
  Attribute attr = op->getAttr(rule.attribute);
  if (auto number = dyn_cast_or_null<IntegerAttr>(attr);
      number && !isAmong(std::to_string(number.getInt()), rule.values))
    return op->emitOpError("attribute '")
           << rule.attribute << "' is " << number.getInt() << ", but must be " << alternatives(rule.values, "");
  auto verifyWord = [&](Attribute attr) -> LogicalResult {
    auto word = dyn_cast<StringAttr>(attr);
    if (!word || isAmong(word.getValue(), rule.values))
      return success();
    return op->emitOpError("attribute '") << rule.attribute << "' has the unknown value '" << word.getValue()
                                          << "'; it must be " << alternatives(rule.values, "'");
  };
  if (auto words = dyn_cast_or_null<ArrayAttr>(attr)) {
    for (Attribute word : words)
      if (failed(verifyWord(word)))
        return failure();
    return success();
  }
  return attr ? verifyWord(attr) : success();
}

static LogicalResult verify(Operation *op, const AtLeast &rule) {
  Attribute attr = op->getAttr(rule.attribute);
  SmallVector<int64_t> values;
  if (auto number = dyn_cast_or_null<IntegerAttr>(attr))
    values.push_back(number.getInt());
  if (auto list = dyn_cast_or_null<DenseI64ArrayAttr>(attr))
    values.append(list.asArrayRef().begin(), list.asArrayRef().end());
  for (int64_t value : values)
    if (value < rule.least)
      return op->emitOpError("attribute '")
             << rule.attribute << "' has the value " << value << ", but must be at least " << rule.least;
  return success();
}

static LogicalResult verify(Operation *op, const OperandForm &rule) {
  auto versioned = cast<VersionedOpInterface>(op);
  const Signature &signature = versioned.getSignature();
  for (auto [i, formal] : llvm::enumerate(signature.inputs)) {
    if (formal.name != rule.operand)
      continue;
    for (Value value : versioned.getInputGroup(i)) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type)
        continue;
      if (rule.rank >= 0 && type.getRank() != rule.rank)
        return op->emitOpError("operand '")
               << formal.name << "' must have rank " << rule.rank << ", but has rank " << type.getRank();
      if (rule.elements >= 0 &&
          (type.getRank() > 1 || (type.getRank() == 0 && rule.elements != 1) ||
           (type.getRank() == 1 && !type.isDynamicDim(0) && type.getDimSize(0) != rule.elements))) {
        InFlightDiagnostic error = op->emitOpError("operand '") << formal.name << "' must be ";
        (rule.elements == 1 ? error << "a scalar" : error << "a list of " << rule.elements << " elements")
            << ", but is of type " << type;
        return error;
      }
    }
  }
  return success();
}

// The operand's type if it is there once, and ranked.
static RankedTensorType typeOf(VersionedOpInterface op, const Signature &signature, StringRef name) {
  for (auto [i, formal] : llvm::enumerate(signature.inputs))
    if (formal.name == name && op.getInputGroup(i).size() == 1)
      return dyn_cast<RankedTensorType>(op.getInputGroup(i).front().getType());
  return {};
}

static LogicalResult verify(Operation *op, const EqualDims &rule) {
  auto versioned = cast<VersionedOpInterface>(op);
  const Signature &signature = versioned.getSignature();
  RankedTensorType type = typeOf(versioned, signature, rule.operand), other = typeOf(versioned, signature, rule.other);
  if (!type || !other || (rule.rank != 0 && (type.getRank() != rule.rank || other.getRank() != rule.rank)))
    return success();
  bool all = rule.dim < 0;
  if (all && type.getRank() != other.getRank())
    return op->emitOpError("operands '") << rule.operand << "' and '" << rule.other
                                         << "' must have the same shape, but "
                                         << "have ranks " << type.getRank() << " and " << other.getRank();
  for (int64_t i = all ? 0 : rule.dim, k = all ? 0 : rule.otherDim;
       i < type.getRank() && k < other.getRank() && (all || i == rule.dim); ++i, ++k) {
    if (type.isDynamicDim(i) || other.isDynamicDim(k) || type.getDimSize(i) == rule.factor * other.getDimSize(k))
      continue;
    return op->emitOpError("operand '") << rule.operand << "' has size " << type.getDimSize(i) << " in dimension " << i
                                        << ", but must have " << rule.factor * other.getDimSize(k) << ", as '"
                                        << rule.other << "' has " << other.getDimSize(k) << " in dimension " << k;
  }
  return success();
}

static LogicalResult verifyFlags(Operation *op) {
  static const auto flags = [] {
    llvm::StringSet<> set;
    for (StringRef name : llvm::split(kFlags, ' '))
      set.insert(name);
    return set;
  }();
  for (StringAttr name : op->getName().getAttributeNames())
    if (flags.contains(name.getValue()) && failed(verify(op, OneOf{"", name.getValue(), "0 1"})))
      return failure();
  return success();
}

// The rules of a table that are for each operator.
template <const auto &table> static const auto &rulesByOperator() {
  static const auto rules = [] {
    llvm::StringMap<SmallVector<const std::decay_t<decltype(*table)> *, 1>> map;
    for (const auto &rule : table)
      for (StringRef name : llvm::split(rule.operators, ' '))
        map[name].push_back(&rule);
    return map;
  }();
  return rules;
}

template <const auto &table> static LogicalResult verifyAll(Operation *op, StringRef name) {
  const auto &rules = rulesByOperator<table>();
  auto found = rules.find(name);
  return success(found == rules.end() ||
                 llvm::all_of(found->second, [&](auto *rule) { return succeeded(verify(op, *rule)); }));
}

LogicalResult verifyStatedRules(Operation *op) {
  // Other operator sets are specified elsewhere.
  if (op->getName().getDialectNamespace() != "onnx")
    return success();
  StringRef name = getUnversionedName(op);
  return success(succeeded(verifyFlags(op)) && succeeded(verifyAll<kOneOf>(op, name)) &&
                 succeeded(verifyAll<kAtLeast>(op, name)) && succeeded(verifyAll<kOperandForms>(op, name)) &&
                 succeeded(verifyAll<kEqualDims>(op, name)));
}

} // namespace strata
