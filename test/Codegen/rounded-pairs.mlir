// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 bf16-dots=true threads=false}),canonicalize,cse)' | FileCheck %s --check-prefixes=CHECK,PAIRS
// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 threads=false}),canonicalize,cse)' | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: strata-opt %s --pass-pipeline='builtin.module(func.func(strata-emit-kernels{vector-bits=512 registers=32 bf16-dots=true threads=false}),strata-approximate-math{bf16-dots=true},canonicalize,cse)' | FileCheck %s --check-prefix=MATH

// Two vectors that are rounded to bf16 fill one, a line of the cache: one instruction rounds both. The third has no
// second.
// CHECK-LABEL: func.func @rounded(
// PAIRS:         %[[A:.*]] = arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// PAIRS:         %[[B:.*]] = arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// PAIRS:         %[[PAIR:.*]] = vector.shuffle %[[A]], %[[B]] [0, 1, {{.*}}, 30, 31]
// PAIRS:         vector.store %[[PAIR]], {{.*}} vector<32xbf16>
// PAIRS:         vector.store {{.*}} vector<16xbf16>
// NONE-NOT:      vector<32xbf16>
// MATH-LABEL:  func.func @rounded(
// MATH:          %[[A:.*]] = arith.addf
// MATH:          %[[B:.*]] = arith.addf
// MATH:          llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"(%[[B]], %[[A]])
// MATH:          llvm.fptrunc {{.*}} : vector<16xf32> to vector<16xbf16>
func.func @rounded(%x: memref<20x48xf32, strided<[50, 1]>>, %y: memref<20x48xbf16, strided<[50, 1]>>) attributes {strata.kernel} {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<20x48xf32, strided<[50, 1]>>) outs(%y : memref<20x48xbf16, strided<[50, 1]>>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.addf %a, %a : f32
    %1 = arith.truncf %0 fastmath<afn> : f32 to bf16
    linalg.yield %1 : bf16
  }
  return
}
