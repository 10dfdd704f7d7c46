//===- Passes.td - passes on the onnx dialect ------------------*- tablegen -*-===//

#ifndef STRATA_DIALECT_ONNX_TRANSFORMS_PASSES_TD
#define STRATA_DIALECT_ONNX_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def InferShapesPass : Pass<"onnx-infer-shapes", "::mlir::ModuleOp"> {
  let summary = "Refine types by the operators' shape rules and fold shape computations";
  let description = [{
    Visits the ops of every function once, in order, at whatever version they are; subgraphs are visited by the rules of
    the ops that hold them. Types only become more precise. Integer results whose elements are all known at compile time
    become constants.

    Where a branch of an If would make the type of what follows it wrong, only the other branch can run: it takes the
    If's place, behind an `onnx.Require` of the condition. With `assume-ranks`, a Squeeze without axes removes the
    dimensions that are known to be 1, and no others; its lowering has the run check that. A value that a Loop makes,
    but does not read, starts with the rank that it is made with; the run checks that there is an iteration.

    ```mlir
    %s = onnx.Shape_25(%x) : (tensor<2x3xf32>) -> tensor<?xi64>
    // becomes
    %s = onnx.Initializer dense<[2, 3]> : tensor<2xi64>
    ```
  }];
  let options = [
    Option<"assumeRanks", "assume-ranks", "bool", /*default=*/"false",
           "Take ranks that only the run tells for those without dimensions of size 1">
  ];
}

def SpecializeShapesPass : Pass<"onnx-specialize-shapes", "::mlir::ModuleOp"> {
  let summary = "Give symbolic dimensions of the inputs sizes";
  let description = [{
    Every dimension of an input of @main that has one of the names gets its size; what follows from it is found by
    shape inference. A name that no input has, a size below 1 and a name that is given twice are errors.

    ```mlir
    // sizes=batch=2
    func.func @main(%x: tensor<?x3xf32, #onnx.dims<"batch", "">>)
    // becomes
    func.func @main(%x: tensor<2x3xf32>)
    ```
  }];
  let options = [ListOption<"sizes", "sizes", "std::string", "NAME=SIZE: batch=1,seq=128">];
}

def UpgradeOpsetPass : Pass<"onnx-upgrade-opset", "::mlir::ModuleOp"> {
  let summary = "Rewrite every operator to its newest version";
  let description = [{
    Version by version: where nothing but the set of types changed, the op is renamed; elsewhere the operator's slice has
    a step that keeps the meaning. An op for which there is no step is an error that names it.

    ```mlir
    %y = onnx.Relu_6(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %y = onnx.Relu_14(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

def ConvertOpsetPass : Pass<"onnx-convert-opset", "::mlir::ModuleOp"> {
  let summary = "Bring every operator to its version at an opset, newer or older";
  let description = [{
    By the operators' steps between versions, upwards and downwards; operators that did not exist at the opset are
    replaced by their function bodies. What an older version cannot express is an error that names the op and the
    reason; the module is then unchanged. Types should be inferred before: axes counted from the end need ranks.

    ```mlir
    // opset=6
    %y = onnx.Relu_14(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %y = onnx.Relu_6(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [ListOption<"opset", "opset", "std::string", "The wanted opsets: 13, ai.onnx.ml:3">];
}

def ExpandFunctionsPass : Pass<"onnx-expand-functions", "::mlir::ModuleOp"> {
  let summary = "Replace operators that have no lowering by their function bodies";
  let description = [{
    The body is the specification's, for the op's attributes and operand types; what it contains is upgraded and its types
    inferred. Repeated until no such op is left.

    ```mlir
    %y = onnx.Celu_28(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // becomes
    %alpha = onnx.Initializer dense<1.0> : tensor<f32>
    %0 = onnx.Div_14(%x, %alpha) : ...
    ...
    ```
  }];
  let options = [Option<"all", "all", "bool", "false", "expand every operator that has a body, lowering or not">];
}

def ExpandGradientsPass : Pass<"onnx-expand-gradients", "::mlir::ModuleOp"> {
  let summary = "Replace Gradient by the operators that compute it";
  let description = [{
    Reverse-mode differentiation of the operators between the values that the op names, which are found by the names that
    the importer left in locations. Run first: other passes need not keep names.

    ```mlir
    %y = onnx.Mul_14(%x, %x) : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("m"("y"))
    %g = onnx.training.Gradient_1(%x) {xs = ["x"], y = "y"} : (tensor<f32>) -> tensor<f32>
    // becomes
    %one = onnx.Expand_13(...)
    %0 = onnx.Mul_14(%one, %x) : ...
    %1 = onnx.Mul_14(%one, %x) : ...
    %g = onnx.Add_14(%0, %1) : ...
    ```
  }];
}

#endif // STRATA_DIALECT_ONNX_TRANSFORMS_PASSES_TD
