// RUN: strata-opt %s --strata-lower-asserts | FileCheck %s

// CHECK-DAG: llvm.mlir.global internal constant @[[NAMED:strata_message_0]]("gather_1: index out of range\00")
// CHECK-DAG: llvm.mlir.global internal constant @[[PLAIN:strata_message_1]]("plain\00")
// CHECK-DAG: llvm.func @strata_rt_fail(!llvm.ptr)
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[OK:.*]]: i1
// CHECK:         %[[NOT:.*]] = arith.xori %[[OK]]
// CHECK:         scf.if %[[NOT]] {
// CHECK:           %[[S:.*]] = llvm.mlir.addressof @[[NAMED]]
// CHECK:           llvm.call @strata_rt_fail(%[[S]])
// CHECK:           llvm.mlir.addressof @[[PLAIN]]
func.func @f(%ok: i1) {
  cf.assert %ok, "index out of range" loc(fused["gather_1", "x.onnx":1:2])
  cf.assert %ok, "plain"
  return
}
