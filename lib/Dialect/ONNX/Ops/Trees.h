//===- Trees.h - ensembles of decision trees --------------------*- C++ -*-===//
//
// A missing value (NaN) goes where nodes_missing_value_tracks_true says, also at
// a node that tests for inequality (ONNX Runtime takes the true branch there). A
// target that no leaf of a row votes for has the score 0.
//
//===----------------------------------------------------------------------===//

#ifndef STRATA_LIB_DIALECT_ONNX_OPS_TREES_H
#define STRATA_LIB_DIALECT_ONNX_OPS_TREES_H

#include "Scores.h"

namespace strata::trees {

enum Mode { LEQ, LT, GTE, GT, EQ, NEQ, MEMBER };
enum Aggregation { AVERAGE, SUM, MIN, MAX };

struct Ensemble {
  /// Of each tree: an inner node, or a leaf as -1 - leaf. So are the children.
  SmallVector<int64_t> roots;
  SmallVector<int64_t> features, modes, missing, onTrue, onFalse;
  SmallVector<double> splits;
  /// The members of a node's set: [memberStart, memberEnd); empty if no node has one.
  SmallVector<int64_t> memberStart, memberEnd;
  SmallVector<double> members;
  struct Vote {
    int64_t leaf, target;
    double weight;
  };
  SmallVector<Vote> votes;
  int64_t numLeaves = 0, numTargets = 0;

  int64_t numNodes() const { return features.size(); }

  /// An error if a walk would not end.
  LogicalResult checkEnds(Operation *op) const;
  /// The number of rows of the input, which must have the features that are tested.
  FailureOr<Dim> checkInput(ShapeContext &c) const;
};

/// scores[row, target] of x[row, feature]: `decode` makes a number of `compute`, f32 or f64, of an element, in which
/// features are compared and votes aggregated.
Value evaluate(LinalgBuilder &b, const Ensemble &ensemble, Aggregation how, Type compute, Value x, ScalarFn decode);

} // namespace strata::trees

#endif // STRATA_LIB_DIALECT_ONNX_OPS_TREES_H
