// For another CPU there is nothing to measure; the message tells the kernel's key.
// RUN: rm -rf %t && mkdir %t
// RUN: not strata-compile %s --tune --tuning-file=%t/none.json --mcpu=x86-64-v3 --compile-to=vector -o %t/none.mlir 2> %t/refused
// RUN: FileCheck %s --check-prefix=REFUSED < %t/refused
// REFUSED: error: --tune cannot measure code for another CPU than this machine's, and '{{.*}}none.json' has no results for x86_64 x86-64-v3, vectors of 256 bits, {{.*}} (any of 1 kernels)
// REFUSED: note: {{.*}}the first kernel's key is

// A result that was brought from elsewhere is used: four rows of one vector.
// RUN: sed -n 's/.*key is \([0-9a-f]*\).*/{"strata-tuning": 1, "kernels": {"\1": {"kernel": "k", "target": "t", "plans": [[4, 1, 0, 0]], "before_us": 2, "after_us": 1}}}/p' %t/refused > %t/known.json
// RUN: strata-compile %s --tune --tuning-file=%t/known.json --mcpu=x86-64-v3 --compile-to=vector -o - | FileCheck %s --check-prefix=CHOSEN
// CHOSEN: :4 = scf.for
// RUN: strata-compile %s --mcpu=x86-64-v3 --compile-to=vector -o - | FileCheck %s --check-prefix=MODEL
// MODEL: :12 = scf.for
// RUN: strata-compile %s --tune --verbose --tuning-file=%t/known.json --mcpu=x86-64-v3 --compile-to=vector -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=FOUND
// FOUND: tune: 0 kernels measured, 0 of them faster now, 1 found, 0 left for want of time; results in '{{.*}}known.json'

// On this machine it is measured once, and found the next time.
// RUN: strata-compile %s --tune --verbose --tuning-file=%t/a/b/here.json -o %t/here.so 2>&1 | FileCheck %s --check-prefix=MEASURED
// MEASURED: tune kernel 1 of 1 (48x48xf32, {{.*}}): {{[0-9.]+}} to {{[0-9.]+}} us
// MEASURED: tune: 1 kernels measured, {{[01]}} of them faster now, 0 found, 0 left for want of time; results in '{{.*}}here.json'
// RUN: strata-run %s --quiet --tune --verbose --tuning-file=%t/a/b/here.json 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: tune: 0 kernels measured, 0 of them faster now, 1 found
// RUN: strata-compile %s --tune --verbose --tuning-seconds=0 --tuning-file=%t/later.json -o %t/here.so 2>&1 | FileCheck %s --check-prefix=LATER
// LATER: tune: 0 kernels measured, 0 of them faster now, 0 found, 1 left for want of time

// What is no such file is left alone.
// RUN: echo 'not json' > %t/broken.json
// RUN: not strata-compile %s --tune --tuning-file=%t/broken.json -o %t/x.so 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: error: '{{.*}}broken.json' is no file of tuning results:
// RUN: echo '{"other": 1}' > %t/foreign.json
// RUN: not strata-compile %s --tune --tuning-file=%t/foreign.json -o %t/x.so 2>&1 | FileCheck %s --check-prefix=FOREIGN
// FOREIGN: error: '{{.*}}foreign.json' is no file of tuning results: it does not begin with {"strata-tuning": 1
// RUN: echo '{"strata-tuning": 1, "kernels": {"a": {"kernel": "", "target": "", "plans": [[1, 2]], "before_us": 1, "after_us": 1}}}' > %t/short.json
// RUN: not strata-compile %s --tune --tuning-file=%t/short.json -o %t/x.so 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: '{{.*}}short.json' is no file of tuning results: expected rows, vectors, lanesOutermost and rowBlock at results.kernels.a.plans[0]

// RUN: not strata-compile %s --tuning-file=%t/known.json -o %t/x.so 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: error: --tuning-file and --tuning-seconds are about --tune
// RUN: not strata-compile %s --tune --target=rocm:gfx90a --emit=kernels 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: --tune measures kernels of the CPU and of NVIDIA's GPUs; nothing here runs those of gfx90a

func.func @main(%a: tensor<48x64xf32> {strata.name = "a"}, %b: tensor<64x48xf32> {strata.name = "b"}) -> (tensor<48x48xf32> {strata.name = "c"}) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<48x48xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<48x48xf32>) -> tensor<48x48xf32>
  %c = linalg.matmul ins(%a, %b : tensor<48x64xf32>, tensor<64x48xf32>) outs(%start : tensor<48x48xf32>) -> tensor<48x48xf32>
  return %c : tensor<48x48xf32>
}
