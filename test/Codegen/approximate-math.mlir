// RUN: strata-opt %s --strata-approximate-math --split-input-file | FileCheck %s
// RUN: strata-opt %s --strata-approximate-math=power-scaling --split-input-file | FileCheck %s --check-prefix=POWER
// RUN: strata-opt %s --strata-approximate-math=integer-packs --split-input-file | FileCheck %s --check-prefix=PACKS
// RUN: strata-opt %s --strata-approximate-math=fused-products --split-input-file | FileCheck %s --check-prefix=FUSED

// CHECK-LABEL: func.func @exp
// CHECK-NOT:     math.{{exp|fma}}
// CHECK:         arith.shli
// FUSED-LABEL: func.func @exp
// FUSED-COUNT-9: math.fma
// CHECK-NOT:     llvm.call_intrinsic
// POWER-LABEL: func.func @exp
// POWER-NOT:     arith.shli
// POWER:         llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// What would be subnormal is 0, by a power of two that is 0 there, and what is too large infinite; NaN, which no bound
// holds for, stays.
// CHECK-LABEL: func.func @exp_without_subnormals
// CHECK-SAME:    (%[[X:.*]]: vector<16xf32>)
// CHECK-DAG:     %[[MOST:.*]] = arith.constant dense<89.1999969>
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant dense<-8.730000e+01>
// CHECK:         arith.cmpf ogt, %[[X]], %[[MOST]]
// CHECK:         arith.cmpf olt, %{{.*}}, %[[LEAST]]
// CHECK:         %[[BITS:.*]] = arith.shli
// CHECK:         %[[SCALE:.*]] = arith.bitcast %[[BITS]]
// CHECK-NOT:     arith.select
// CHECK:         %[[RESULT:.*]] = arith.mulf %{{.*}}, %[[SCALE]]
// CHECK-NEXT:    return %[[RESULT]]
// POWER-LABEL: func.func @exp_without_subnormals
// POWER-NOT:     llvm.call_intrinsic
// POWER:         arith.shli
func.func @exp_without_subnormals(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x fastmath<afn> : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// Of a negated number, the constants are negated.
// CHECK-LABEL: func.func @exp_of_negated
// CHECK:         arith.negf
// FUSED-LABEL: func.func @exp_of_negated
// FUSED-SAME:    (%[[X:.*]]: vector<16xf32>)
// FUSED-DAG:     %[[SCALE:.*]] = arith.constant dense<-1.44269502>
// FUSED-DAG:     %[[REST:.*]] = arith.constant dense<-1.92596303E-8>
// FUSED-NOT:     arith.negf
// FUSED:         arith.cmpf olt, %[[X]]
// FUSED:         %[[SMALL:.*]] = arith.cmpf ogt
// FUSED-NEXT:    %[[BOUND:.*]] = arith.select %[[SMALL]]
// FUSED-NEXT:    math.fma %[[BOUND]], %[[SCALE]]
// FUSED-NEXT:    arith.subf
// FUSED-NEXT:    %[[R:.*]] = math.fma %[[BOUND]], %[[SCALE]]
// FUSED-NEXT:    math.fma %[[BOUND]], %[[REST]], %[[R]]
// FUSED-COUNT-5: math.fma
// FUSED-NEXT:    arith.bitcast
func.func @exp_of_negated(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = arith.negf %x : vector<16xf32>
  %1 = math.exp %0 fastmath<afn> : vector<16xf32>
  return %1 : vector<16xf32>
}

// -----

// A softmax's: nothing to bound above, and seven products besides the power of two.
// CHECK-LABEL: func.func @exp_below
// CHECK-NOT:     math.fma
// CHECK:         return
// FUSED-LABEL: func.func @exp_below
// FUSED-SAME:    (%[[X:.*]]: vector<16xf32>)
// FUSED:         %[[SMALL:.*]] = arith.cmpf olt, %[[X]]
// FUSED-NEXT:    %[[BOUND:.*]] = arith.select %[[SMALL]]
// FUSED-NEXT:    math.fma %[[BOUND]]
// FUSED-NEXT:    arith.subf
// FUSED-NEXT:    %[[R:.*]] = math.fma %[[BOUND]]
// FUSED-COUNT-5: math.fma %{{.*}}, %[[R]]
// FUSED-NEXT:    arith.bitcast
// FUSED-NEXT:    arith.shli
// FUSED-NEXT:    arith.bitcast
// FUSED-NEXT:    arith.mulf
// FUSED-NEXT:    return
func.func @exp_below(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x fastmath<afn> {strata.not_positive} : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// The logarithm and the product in f64, the power of two in f32. Products are fused where that is an instruction.
// CHECK-LABEL: func.func @pow
// CHECK-NOT:     math.{{powf|fma}}
// CHECK:         arith.divf %{{.*}} : vector<16xf64>
// CHECK:         arith.truncf %{{.*}} : vector<16xf64> to vector<16xf32>
// CHECK:         arith.shli
// CHECK-NOT:     math.powf
// FUSED-LABEL: func.func @pow
// FUSED:         math.fma %{{.*}} : vector<16xf64>
// POWER-LABEL: func.func @pow
// POWER:         llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
func.func @pow(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  %0 = math.powf %x, %y : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// f64 has the function of libm.
// CHECK-LABEL: func.func @pow_f64
// CHECK:         math.powf
func.func @pow_f64(%x: f64, %y: f64) -> f64 {
  %0 = math.powf %x, %y : f64
  return %0 : f64
}

// -----

// The angle's rest in f64; where a lane is large, the bits of 2 / pi that count for it. Each lane takes its own.
// CHECK-LABEL: func.func @sin
// CHECK-SAME:    (%[[X:.*]]: vector<8xf32>)
// CHECK:         %[[MAGNITUDE:.*]] = math.absf %[[X]]
// CHECK:         %[[LARGE:.*]] = arith.cmpf oge, %[[MAGNITUDE]]
// CHECK:         %[[ANY:.*]] = vector.reduction <or>, %[[LARGE]] : vector<8xi1> into i1
// CHECK:         %[[ANGLE:.*]]:2 = scf.if %[[ANY]]
// CHECK-COUNT-3:   arith.muli %{{.*}} : vector<8xi64>
// CHECK:           arith.select %[[LARGE]], %{{.*}} : vector<8xi1>, vector<8xi32>
// CHECK:           arith.select %[[LARGE]], %{{.*}} : vector<8xi1>, vector<8xf64>
// CHECK:         arith.truncf %[[ANGLE]]#1 : vector<8xf64> to vector<8xf32>
// CHECK-NOT:     math.sin
func.func @sin(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.sin %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// -----

// A scalar is one lane; tan is rounded once, by one division.
// CHECK-LABEL: func.func @tan
// CHECK:         %[[LARGE:.*]] = arith.cmpf oge
// CHECK:         scf.if %[[LARGE]]
// CHECK:         arith.divf %{{.*}} : f64
// CHECK-NEXT:    arith.truncf
// CHECK-NOT:     math.tan
// FUSED-LABEL: func.func @tan
// FUSED:         math.fma %{{.*}} : f64
func.func @tan(%x: f32) -> f32 {
  %0 = math.tan %x : f32
  return %0 : f32
}

// -----

// One division and one polynomial on both sides of 1.
// CHECK-LABEL: func.func @atan
// CHECK:         arith.divf
// CHECK-NOT:     arith.divf
// CHECK-COUNT-9: arith.mulf
// CHECK-NOT:     call
// FUSED-LABEL: func.func @atan
// FUSED-COUNT-9: math.fma
// CHECK-LABEL: func.func @asin
// CHECK:         math.sqrt
// CHECK-NOT:     call
// CHECK-LABEL: func.func @acos
// CHECK:         math.sqrt
// CHECK-NOT:     arith.divf
// CHECK-NOT:     call
// CHECK:         return
func.func @atan(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.atan %x : vector<8xf32>
  return %0 : vector<8xf32>
}
func.func @asin(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.asin %x : vector<8xf32>
  return %0 : vector<8xf32>
}
func.func @acos(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.acos %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// -----

// Two powers of two, no division; the inverses are a polynomial or a logarithm.
// CHECK-LABEL: func.func @sinh
// CHECK-COUNT-2: arith.shli
// CHECK-NOT:     arith.divf
// CHECK-LABEL: func.func @cosh
// CHECK-COUNT-2: arith.shli
// CHECK-NOT:     arith.divf
// CHECK-LABEL: func.func @asinh
// CHECK-NOT:     call
// CHECK-LABEL: func.func @acosh
// CHECK:         math.sqrt
// CHECK-NOT:     call
// CHECK-LABEL: func.func @atanh
// CHECK-NOT:     arith.divf
// CHECK-NOT:     call
// CHECK:         return
func.func @sinh(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.sinh %x : vector<8xf32>
  return %0 : vector<8xf32>
}
func.func @cosh(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.cosh %x : vector<8xf32>
  return %0 : vector<8xf32>
}
func.func @asinh(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.asinh %x : vector<8xf32>
  return %0 : vector<8xf32>
}
func.func @acosh(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.acosh %x : vector<8xf32>
  return %0 : vector<8xf32>
}
func.func @atanh(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.atanh %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// -----

// CHECK: func.func private @atan(f64) -> f64
// CHECK-LABEL: func.func @atan_f64
// CHECK:         call @atan
func.func @atan_f64(%x: f64) -> f64 {
  %0 = math.atan %x : f64
  return %0 : f64
}

// -----

// f64 to bf16 rounds once: to f32 by rounding to odd, then to nearest even.
// CHECK-LABEL: func.func @narrow
// CHECK:         arith.truncf %{{.*}} : f64 to f32
// CHECK-NOT:     f64 to bf16
func.func @narrow(%x: f64) -> bf16 {
  %0 = arith.truncf %x : f64 to bf16
  return %0 : bf16
}

// -----

// Where subnormal numbers may be 0 there is an instruction; elsewhere bits are rounded.
// CHECK-LABEL: func.func @operand
// CHECK:         llvm.fptrunc %arg0 : vector<16xf32> to vector<16xbf16>
// CHECK-LABEL: func.func @number
// CHECK-NOT:     fptrunc
// What is no number is selected as bits, of which vectors have selections everywhere.
// CHECK:         %[[NUMBER:.*]] = arith.select {{.*}} : vector<16xi1>, vector<16xi32>
// CHECK:         arith.addi %[[NUMBER]]
// CHECK-NEXT:    arith.shrui
// CHECK-NEXT:    arith.trunci
// CHECK-NEXT:    arith.bitcast {{.*}} : vector<16xi16> to vector<16xbf16>
func.func @operand(%x: vector<16xf32>) -> vector<16xbf16> {
  %0 = arith.truncf %x fastmath<afn> : vector<16xf32> to vector<16xbf16>
  return %0 : vector<16xbf16>
}
func.func @number(%x: vector<16xf32>) -> vector<16xbf16> {
  %0 = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %0 : vector<16xbf16>
}

// -----

// One power of two and its inverse, no division; erf has two chains of products.
// CHECK-LABEL: func.func @expm1
// CHECK-COUNT-2: arith.shli
// CHECK-NOT:     {{math.fma|arith.divf|call}}
// CHECK-LABEL: func.func @erf
// CHECK-NOT:     {{math.fma|arith.divf|call}}
// CHECK-LABEL: func.func @tanh
// CHECK-NOT:     {{math.fma|call}}
// CHECK:         arith.divf
// CHECK:         return
// FUSED-LABEL: func.func @expm1
// FUSED-COUNT-7: math.fma
// FUSED-LABEL: func.func @erf
// FUSED-COUNT-16: math.fma
// FUSED-LABEL: func.func @tanh
// FUSED-COUNT-8: math.fma
func.func @expm1(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.expm1 %x : vector<8xf32>
  return %0 : vector<8xf32>
}
func.func @erf(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.erf %x : vector<8xf32>
  return %0 : vector<8xf32>
}
func.func @tanh(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.tanh %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// -----

// A GELU whose result is rounded to bf16 needs fewer products, whether constants are vectors or numbers for all lanes; not
// where something else is made of it, which may be large or the difference of equal numbers.
// FUSED-LABEL: func.func @gelu
// FUSED-COUNT-8: math.fma
// FUSED-NOT:     math.fma
// FUSED-LABEL: func.func @scaled
// FUSED-COUNT-16: math.fma
// FUSED-LABEL: func.func @difference
// FUSED-COUNT-16: math.fma
// FUSED-LABEL: func.func @exact
// FUSED-COUNT-16: math.fma
func.func @gelu(%x: vector<8xf32>) -> vector<8xbf16> {
  %r = arith.constant 0.707106769 : f32
  %h = arith.constant dense<0.5> : vector<8xf32>
  %one = arith.constant dense<1.0> : vector<8xf32>
  %s = vector.broadcast %r : f32 to vector<8xf32>
  %0 = arith.mulf %x, %s : vector<8xf32>
  %1 = math.erf %0 : vector<8xf32>
  %2 = arith.addf %1, %one : vector<8xf32>
  %3 = arith.mulf %x, %h : vector<8xf32>
  %4 = arith.mulf %3, %2 : vector<8xf32>
  %5 = arith.truncf %4 fastmath<afn> : vector<8xf32> to vector<8xbf16>
  return %5 : vector<8xbf16>
}
func.func @scaled(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xbf16> {
  %one = arith.constant dense<1.0> : vector<8xf32>
  %0 = math.erf %x : vector<8xf32>
  %1 = arith.addf %0, %one : vector<8xf32>
  %2 = arith.mulf %y, %1 : vector<8xf32>
  %3 = arith.truncf %2 fastmath<afn> : vector<8xf32> to vector<8xbf16>
  return %3 : vector<8xbf16>
}
func.func @difference(%x: vector<8xf32>) -> vector<8xbf16> {
  %one = arith.constant dense<1.0> : vector<8xf32>
  %0 = math.erf %x : vector<8xf32>
  %1 = arith.addf %0, %one : vector<8xf32>
  %2 = arith.mulf %x, %1 : vector<8xf32>
  %3 = arith.subf %2, %x : vector<8xf32>
  %4 = arith.truncf %3 fastmath<afn> : vector<8xf32> to vector<8xbf16>
  return %4 : vector<8xbf16>
}
func.func @exact(%x: vector<8xf32>) -> vector<8xbf16> {
  %one = arith.constant dense<1.0> : vector<8xf32>
  %0 = math.erf %x : vector<8xf32>
  %1 = arith.addf %0, %one : vector<8xf32>
  %2 = arith.mulf %x, %1 : vector<8xf32>
  %3 = arith.truncf %2 : vector<8xf32> to vector<8xbf16>
  return %3 : vector<8xbf16>
}

// -----

// Subnormal numbers are scaled, so that their exponents are found; log1p has none to scale, and divides by nothing.
// CHECK-LABEL: func.func @log
// CHECK:         %[[SMALL:.*]] = arith.cmpf olt, %arg0
// CHECK:         %[[SCALED:.*]] = arith.mulf %arg0
// CHECK:         arith.select %[[SMALL]], %[[SCALED]], %arg0
// CHECK-NOT:     math.{{log|fma}}
// CHECK:         arith.select %[[SMALL]]
// CHECK:         return
// CHECK-LABEL: func.func @log1p
// CHECK-NOT:     {{math|arith.divf|call}}
// CHECK:         return
// FUSED-LABEL: func.func @log1p
// FUSED-COUNT-10: math.fma
func.func @log(%x: f32) -> f32 {
  %0 = math.log %x : f32
  return %0 : f32
}
func.func @log1p(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.log1p %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// -----

// 53 bits hold a quotient of 32, 24 one of 16.
// CHECK-LABEL: func.func @divide
// CHECK:         arith.divf %{{.*}} : vector<8xf64>
// CHECK:         arith.fptosi %{{.*}} : vector<8xf64> to vector<8xi32>
// CHECK:         %[[QUOTIENT:.*]] = arith.divf %{{.*}} : vector<8xf32>
// CHECK:         math.trunc %[[QUOTIENT]]
// CHECK:         arith.fptoui %{{.*}} : vector<8xf32> to vector<8xi16>
func.func @divide(%x: vector<8xi32>, %y: vector<8xi32>, %z: vector<8xi16>, %u: vector<8xi16>) -> (vector<8xi32>, vector<8xi16>) {
  %0 = arith.divsi %x, %y : vector<8xi32>
  %1 = arith.remui %z, %u : vector<8xi16>
  return %0, %1 : vector<8xi32>, vector<8xi16>
}

// -----

// There is an instruction, or one for the product with a constant, or no type that is wide enough.
// CHECK-LABEL: func.func @no_wider_division
// CHECK:         arith.divsi %{{.*}} : i32
// CHECK:         arith.divsi %{{.*}} : vector<8xi32>
// CHECK:         arith.divsi %{{.*}} : vector<8xi64>
func.func @no_wider_division(%x: i32, %y: i32, %z: vector<8xi32>, %u: vector<8xi64>, %v: vector<8xi64>) -> (i32, vector<8xi32>, vector<8xi64>) {
  %seven = arith.constant dense<7> : vector<8xi32>
  %0 = arith.divsi %x, %y : i32
  %1 = arith.divsi %z, %seven : vector<8xi32>
  %2 = arith.divsi %u, %v : vector<8xi64>
  return %0, %1, %2 : i32, vector<8xi32>, vector<8xi64>
}

// -----

// Until no quotient has more than 28 bits.
// CHECK-LABEL: func.func @remainder
// CHECK:         scf.while
// CHECK:           %[[QUOTIENT:.*]] = arith.divf %{{.*}} : vector<8xf64>
// CHECK:           vector.reduction <or>
// CHECK:         arith.truncf %{{.*}} : vector<8xf64> to vector<8xf32>
// CHECK-LABEL: func.func @remainder_of_scalars
// CHECK:         arith.remf
func.func @remainder(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> {
  %0 = arith.remf %x, %y : vector<8xf32>
  return %0 : vector<8xf32>
}
func.func @remainder_of_scalars(%x: f32, %y: f32) -> f32 {
  %0 = arith.remf %x, %y : f32
  return %0 : f32
}

// -----

// Of f64, fused products lose nothing; what is not fused would.
// CHECK-LABEL: func.func @remainder_f64
// CHECK:         arith.remf
// FUSED-LABEL: func.func @remainder_f64
// FUSED-NOT:     arith.remf
// FUSED:         scf.while
// FUSED:           %[[QUOTIENT:.*]] = arith.divf
// FUSED:           %[[NEGATED:.*]] = arith.negf
// FUSED:           math.fma %[[NEGATED]]
// FUSED:           vector.reduction <or>
func.func @remainder_f64(%x: vector<8xf64>, %y: vector<8xf64>) -> vector<8xf64> {
  %0 = arith.remf %x, %y : vector<8xf64>
  return %0 : vector<8xf64>
}

// -----

// The exponentials of f64 call nothing, neither of vectors nor of scalars.
// CHECK-LABEL: func.func @exponentials_f64
// CHECK-NOT:     math.{{exp|expm1|tanh|fma}}
// CHECK-NOT:     call
// CHECK:         arith.divf %{{.*}} : vector<8xf64>
// FUSED-LABEL: func.func @exponentials_f64
// FUSED-COUNT-13: math.fma %{{.*}} : f64
// FUSED-COUNT-26: math.fma %{{.*}} : vector<8xf64>
func.func @exponentials_f64(%x: f64, %y: vector<8xf64>) -> (f64, vector<8xf64>, vector<8xf64>) {
  %0 = math.exp %x : f64
  %1 = math.expm1 %y : vector<8xf64>
  %2 = math.tanh %y : vector<8xf64>
  return %0, %1, %2 : f64, vector<8xf64>, vector<8xf64>
}

// -----

// x86 rounds what it converts.
// PACKS-LABEL: func.func @round_and_convert
// PACKS-NOT:     math.roundeven
// PACKS:         llvm.call_intrinsic "llvm.lrint.v8i32.v8f32"(%{{.*}}) : (vector<8xf32>) -> vector<8xi32>
// PACKS:         llvm.call_intrinsic "llvm.lrint.i32.f32"(%{{.*}}) : (f32) -> i32
// CHECK-LABEL: func.func @round_and_convert
// CHECK:         math.roundeven
// CHECK-NEXT:    arith.fptosi
func.func @round_and_convert(%x: vector<8xf32>, %y: f32) -> (vector<8xi32>, i32) {
  %0 = math.roundeven %x : vector<8xf32>
  %1 = arith.fptosi %0 : vector<8xf32> to vector<8xi32>
  %2 = math.roundeven %y : f32
  %3 = arith.fptosi %2 : f32 to i32
  return %1, %3 : vector<8xi32>, i32
}

// -----

// LLVM does not see that what is compared was f16; of products it may.
// CHECK-LABEL: func.func @hidden_extension
// CHECK:         %[[X:.*]] = arith.extf %arg0
// CHECK-NEXT:    %[[HIDDEN:.*]] = llvm.call_intrinsic "llvm.arithmetic.fence"(%[[X]]) : (vector<8xf32>) -> vector<8xf32>
// CHECK:         arith.mulf %[[X]], %[[X]]
// CHECK:         arith.cmpf ogt, %[[HIDDEN]], %arg1
// CHECK:         arith.maximumf %[[HIDDEN]], %arg1
func.func @hidden_extension(%x: vector<8xf16>, %y: vector<8xf32>) -> (vector<8xf32>, vector<8xi1>, vector<8xf32>) {
  %0 = arith.extf %x : vector<8xf16> to vector<8xf32>
  %1 = arith.mulf %0, %0 : vector<8xf32>
  %2 = arith.cmpf ogt, %0, %y : vector<8xf32>
  %3 = arith.maximumf %0, %y : vector<8xf32>
  return %1, %2, %3 : vector<8xf32>, vector<8xi1>, vector<8xf32>
}

