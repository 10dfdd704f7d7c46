// The time of each node: code is grouped by the names in its locations.

// RUN: strata-run %s --profile --quiet | FileCheck %s
// CHECK:     latency: median
// CHECK:     time/run     %  GFLOP/s    GB/s  node
// CHECK-DAG: us {{.*[0-9]\.[0-9] +[0-9]+\.[0-9] +}}first
// CHECK-DAG: us {{.*[0-9]\.[0-9] +[0-9]+\.[0-9] +}}second

// RUN: strata-run %s --profile --quiet --peak=100,10 | FileCheck %s --check-prefix=PEAK
// PEAK:     GB/s  of peak  node
// PEAK-DAG: {{[0-9]+}} % first

// RUN: not strata-run %s --profile --quiet --peak=100 2>&1 | FileCheck %s --check-prefix=NOPEAK
// NOPEAK: error: --peak takes 1e9 operations and 1e9 bytes per second, such as 240,12, not '100'

// RUN: strata-compile %s --profile -o %t.so
// RUN: strata-run %t.so --profile --quiet --threads=1 | FileCheck %s
// RUN: strata-run %t.so --quiet --benchmark | FileCheck %s --check-prefix=OFF
// OFF:     latency: median
// OFF-NOT: first

// RUN: strata-compile %s -o %t.without.so
// RUN: strata-run %t.without.so --profile --quiet 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: warning: the model was compiled without --profile

func.func @main(%x: tensor<64x64xf32> {strata.name = "x"}) -> (tensor<64x64xf32> {strata.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32> loc("first")
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32> loc("first")
  %a = linalg.matmul ins(%x, %x : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32> loc("first")
  %g = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32> loc("second")
  %b = linalg.matmul ins(%a, %x : tensor<64x64xf32>, tensor<64x64xf32>) outs(%g : tensor<64x64xf32>) -> tensor<64x64xf32> loc("second")
  return %b : tensor<64x64xf32>
}
