// Constants that NAME_init computes: in the JIT, while compiling, and at load where the compiling machine cannot run
// the code. All forms of output give the same numbers.

// RUN: strata-run %s --input=ones | FileCheck %s
// CHECK: output 'y': float[4] [2, 4, 6, 8] checksum 658df7763e1bdcc3

// RUN: strata-compile %s -o %t.so
// RUN: strata-run %t.so --input=ones | FileCheck %s
// The packed weight is in the file, its raw form is not.
// RUN: llvm-readobj --symbols %t.so | FileCheck %s --check-prefix=SYMBOLS
// SYMBOLS-NOT: model_constant_0
// SYMBOLS:     model_constant_1
// SYMBOLS-NOT: model_constant_0

// A feature that no machine here has, but that the code does not use: init runs at load.
// RUN: strata-compile %s -o %t.late.so --mcpu=x86-64 --features=+kl
// RUN: strata-run %t.late.so --input=ones | FileCheck %s

// RUN: rm -rf %t && mkdir %t
// RUN: strata-compile %s --emit=obj --name=embedded -o %t/embedded.o
// RUN: %cc -I%source/include -I%t %S/Inputs/embed.c %t/embedded.o %build/lib/libstrata_runtime.a -lm -lpthread -o %t/a
// RUN: %t/a | FileCheck %s --check-prefix=EMBED
// RUN: rm %t/embedded.*
// RUN: strata-compile %s --emit=staticlib --name=embedded -o %t/embedded.a
// RUN: %cc -I%source/include -I%t %S/Inputs/embed.c %t/embedded.a -L%build/lib -lstrata_runtime -lm -Wl,-rpath,%build/lib -o %t/b
// RUN: %t/b | FileCheck %s --check-prefix=EMBED
// EMBED: embedded:x: 2 8 18 32

module {
  ml_program.global private @raw(dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>) : tensor<4xf32>
  ml_program.global private mutable @packed : tensor<4xf32> {strata.computed}
  func.func @init() {
    %w = ml_program.global_load_const @raw : tensor<4xf32>
    %e = tensor.empty() : tensor<4xf32>
    %d = linalg.add ins(%w, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    ml_program.global_store @packed = %d : tensor<4xf32>
    return
  }
  func.func @main(%x: tensor<4xf32> {strata.name = "x"}) -> (tensor<4xf32> {strata.name = "y"}) {
    %w = ml_program.global_load @packed : tensor<4xf32>
    %e = tensor.empty() : tensor<4xf32>
    %r = linalg.mul ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
