// Without a driver nothing is measured; the message says what is missing, and the kernel's key.
// RUN: rm -rf %t && mkdir %t
// RUN: not env STRATA_CUDA_DRIVER=/none/libcuda.so strata-compile %s --tune --tuning-file=%t/none.json --target=cuda --compile-to=gpu -o %t/none.mlir 2> %t/refused
// RUN: FileCheck %s --check-prefix=REFUSED < %t/refused
// REFUSED: error: --tune cannot measure kernels of sm_80 here: the model runs on an NVIDIA GPU, and no driver is there: /none/libcuda.so: {{.*}}, and '{{.*}}none.json' has no results for sm_80 (any of 1 kernels)
// REFUSED: note: --tune on such a machine, with --tuning-file=FILE, makes them; the first kernel's key is
// RUN: not env STRATA_CUDA_DRIVER=%build/lib/libstrata_cuda_emulator.so STRATA_EMULATOR_DEVICES=0 strata-compile %s --tune --tuning-file=%t/none.json --target=cuda --compile-to=gpu -o %t/none.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: --tune cannot measure kernels of sm_80 here: the model runs on an NVIDIA GPU, and the driver finds none, and

// RUN: not env STRATA_CUDA_DRIVER=%build/lib/libstrata_cuda_emulator.so STRATA_EMULATOR_CAPABILITY=86 strata-compile %s --tune --tuning-file=%t/none.json --target=cuda:sm_90a --compile-to=gpu -o %t/none.mlir 2>&1 | FileCheck %s --check-prefix=OLDER
// OLDER: error: --tune cannot measure kernels of sm_90a here: 'Strata's emulator' has compute capability 8.6, and

// Results that were brought from elsewhere are used: tiles of 128 x 64 in two stages, blocks of 256 threads.
// RUN: sed -n 's/.*key is \([0-9a-f]*\).*/{"strata-tuning": 1, "kernels": {"\1\/Some GPU": {"kernel": "k", "target": "t", "tile": ["warps", 128, 64, 32, 32, 32, 2], "before_us": 2, "after_us": 1}}}/p' %t/refused > %t/known.json
// RUN: env STRATA_CUDA_DRIVER=/none strata-compile %s --tune --tuning-file=%t/known.json --target=cuda --compile-to=gpu -o - | FileCheck %s --check-prefix=CHOSEN
// CHOSEN: gpu.func @kernel_0
// CHOSEN-SAME: workgroup(%{{.*}} : memref<24576xi8
// CHOSEN-SAME: known_block_size = array<i32: 256, 1, 1>
// RUN: strata-compile %s --target=cuda --compile-to=gpu -o - | FileCheck %s --check-prefix=HEURISTIC
// HEURISTIC: gpu.func @kernel_0
// HEURISTIC-SAME: workgroup(%{{.*}} : memref<32768xi8
// HEURISTIC-SAME: known_block_size = array<i32: 128, 1, 1>
// RUN: env STRATA_CUDA_DRIVER=/none strata-compile %s --tune --verbose --tuning-file=%t/known.json --target=cuda --compile-to=gpu -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=FOUND
// FOUND: tune: 0 kernels measured, 0 of them faster now, 1 found, 0 left for want of time; results in '{{.*}}known.json'

// They are of another compute capability's kernels, or of several GPUs, of which nobody can say which one it will be.
// RUN: not env STRATA_CUDA_DRIVER=/none strata-compile %s --tune --tuning-file=%t/known.json --target=cuda:sm_90a --compile-to=gpu -o %t/none.mlir 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: --tune cannot measure kernels of sm_90a here: {{.*}}known.json' has no results for sm_90a (any of 1 kernels)
// RUN: sed 's/.*\("[0-9a-f]*\/\)Some GPU": \({.*}\)}}/{"strata-tuning": 1, "kernels": {\1One": \2, \1Two": \2}}/' %t/known.json > %t/several.json
// RUN: not env STRATA_CUDA_DRIVER=/none strata-compile %s --tune --tuning-file=%t/several.json --target=cuda --compile-to=gpu -o %t/none.mlir 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: --tune cannot measure kernels of sm_80 here: {{.*}}; there are results of several GPUs, and '{{.*}}several.json' has no results for sm_80

// One that is not possible leaves the heuristic's tile.
// RUN: sed 's/"warps", 128, 64/"warps", 128, 48/' %t/known.json > %t/impossible.json
// RUN: env STRATA_CUDA_DRIVER=/none strata-compile %s --tune --tuning-file=%t/impossible.json --target=cuda --compile-to=gpu -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=IMPOSSIBLE
// IMPOSSIBLE: warning: the tile that was chosen is not possible on this target
// RUN: FileCheck %s --check-prefix=HEURISTIC < %t/out.mlir
// RUN: sed 's/"warps", 128, 64/"blocks", 128, 64/' %t/known.json > %t/broken.json
// RUN: not strata-compile %s --tune --tuning-file=%t/broken.json --target=cuda --compile-to=gpu -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: error: '{{.*}}broken.json' is no file of tuning results: expected threads, warps or warpgroups, then rows, columns, partRows, partColumns, depth and stages at results.kernels.{{.*}}.tile

// Where a GPU is, it is measured once, and found the next time; results of another GPU say nothing. A tile that cannot
// be run is left out, and that is said.
// RUN: env STRATA_CUDA_DRIVER=%build/lib/libstrata_cuda_emulator.so STRATA_EMULATOR_TIMES=3x256x49152:fails strata-compile %s --tune --verbose --tuning-file=%t/known.json --target=cuda --gpu-format=bitcode -o %t/here.so 2>&1 | FileCheck %s --check-prefix=MEASURED
// MEASURED: warning: one of its forms cannot be run: {{.*}}failed: too many resources requested for launch (CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
// MEASURED: tune kernel 1 of 1 (128x192xf32, 128x48xf16, 48x192xf16): 1000.0 to 1000.0 us
// MEASURED: tune: 1 kernels measured, 0 of them faster now, 0 found, 0 left for want of time; results in '{{.*}}known.json'
// RUN: env STRATA_CUDA_DRIVER=%build/lib/libstrata_cuda_emulator.so strata-run %s --quiet --tune --verbose --tuning-file=%t/known.json --target=cuda --gpu-format=bitcode 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: tune: 0 kernels measured, 0 of them faster now, 1 found
// RUN: env STRATA_CUDA_DRIVER=%build/lib/libstrata_cuda_emulator.so strata-compile %s --tune --verbose --tuning-seconds=0 --tuning-file=%t/later.json --target=cuda --gpu-format=bitcode -o %t/here.so 2>&1 | FileCheck %s --check-prefix=LATER
// LATER: tune: 0 kernels measured, 0 of them faster now, 0 found, 1 left for want of time

func.func @main(%a: tensor<128x48xf16> {strata.name = "a"}, %b: tensor<48x192xf16> {strata.name = "b"}) -> (tensor<128x192xf32> {strata.name = "c"}) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x192xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x192xf32>) -> tensor<128x192xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x48xf16>, tensor<48x192xf16>) outs(%start : tensor<128x192xf32>) -> tensor<128x192xf32>
  return %c : tensor<128x192xf32>
}
