// RUN: strata-opt %s --strata-approximate-math --split-input-file | FileCheck %s
// RUN: strata-opt %s --strata-approximate-math=power-scaling --split-input-file | FileCheck %s --check-prefix=POWER

// CHECK-LABEL: func.func @exp
// CHECK-NOT:     math.exp
// CHECK:         math.fma
// CHECK:         arith.shli
// CHECK-NOT:     llvm.call_intrinsic
// POWER-LABEL: func.func @exp
// POWER-NOT:     arith.shli
// POWER:         llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// What would be subnormal is 0, by a power of two that is 0 there; NaN, which no bound holds for, stays.
// CHECK-LABEL: func.func @exp_without_subnormals
// CHECK-SAME:    (%[[X:.*]]: vector<16xf32>)
// CHECK-DAG:     %[[MOST:.*]] = arith.constant dense<88.7228317>
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant dense<-8.730000e+01>
// CHECK:         arith.cmpf ogt, %[[X]], %[[MOST]]
// CHECK:         arith.cmpf olt, %{{.*}}, %[[LEAST]]
// CHECK:         %[[BITS:.*]] = arith.shli
// CHECK:         %[[SCALE:.*]] = arith.bitcast %[[BITS]]
// CHECK-NOT:     arith.select
// CHECK:         %[[RESULT:.*]] = arith.mulf %{{.*}}, %[[SCALE]]
// CHECK-NEXT:    return %[[RESULT]]
// POWER-LABEL: func.func @exp_without_subnormals
// POWER:         %[[SCALED:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// POWER:         arith.select %{{.*}}, %[[SCALED]]
func.func @exp_without_subnormals(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x fastmath<afn> : vector<16xf32>
  return %0 : vector<16xf32>
}

// -----

// The logarithm and the product in f64, the power of two in f32.
// CHECK-LABEL: func.func @pow
// CHECK-NOT:     math.powf
// CHECK:         arith.divf %{{.*}} : vector<16xf64>
// CHECK:         arith.truncf %{{.*}} : vector<16xf64> to vector<16xf32>
// CHECK:         arith.shli
// CHECK-NOT:     math.powf
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

// No polynomial is accurate for large angles: libm, by way of LLVM's intrinsic.
// CHECK-LABEL: func.func @sin
// CHECK:         math.sin
func.func @sin(%x: f32) -> f32 {
  %0 = math.sin %x : f32
  return %0 : f32
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
// CHECK:         arith.shrui
func.func @operand(%x: vector<16xf32>) -> vector<16xbf16> {
  %0 = arith.truncf %x fastmath<afn> : vector<16xf32> to vector<16xbf16>
  return %0 : vector<16xbf16>
}
func.func @number(%x: vector<16xf32>) -> vector<16xbf16> {
  %0 = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %0 : vector<16xbf16>
}

// -----

// The polynomial of log has no subnormal numbers: they are scaled.
// CHECK-LABEL: func.func @log
// CHECK:         %[[SMALL:.*]] = arith.cmpf olt, %arg0
// CHECK:         %[[SCALED:.*]] = arith.mulf %arg0
// CHECK:         arith.select %[[SMALL]], %[[SCALED]], %arg0
// CHECK-NOT:     math.log
// CHECK:         %[[SHIFT:.*]] = arith.select %[[SMALL]]
// CHECK-NEXT:    %[[LOG:.*]] = arith.subf %{{.*}}, %[[SHIFT]]
// CHECK:         return %[[LOG]]
func.func @log(%x: f32) -> f32 {
  %0 = math.log %x : f32
  return %0 : f32
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
