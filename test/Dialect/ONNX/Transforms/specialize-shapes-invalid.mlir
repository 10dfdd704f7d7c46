// RUN: not strata-opt %s --onnx-specialize-shapes=sizes=foo=2 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: error: no input has a dimension 'foo'; the names are 'batch', 'seq'
// RUN: not strata-opt %s --onnx-specialize-shapes=sizes=batch=0 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: error: the size of dimension 'batch' is 0; it must be at least 1
// RUN: not strata-opt %s --onnx-specialize-shapes=sizes=batch=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: the size of dimension 'batch' is -1; it must be at least 1
// RUN: not strata-opt %s --onnx-specialize-shapes=sizes=batch=1,batch=2 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: dimension 'batch' is given twice in one set
// RUN: not strata-opt %s --onnx-specialize-shapes=sizes=batch 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: sizes of symbolic dimensions are NAME=SIZE, separated by commas, not 'batch'
// RUN: not strata-opt %s --onnx-specialize-shapes 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: a set of sizes is empty

func.func @main(%x: tensor<?x?x3xf32, #onnx.dims<"batch", "seq", "">>) -> tensor<?x?x3xf32> {
  %0 = onnx.Relu_14(%x) : (tensor<?x?x3xf32, #onnx.dims<"batch", "seq", "">>) -> tensor<?x?x3xf32>
  return %0 : tensor<?x?x3xf32>
}
