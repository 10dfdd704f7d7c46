// RUN: strata-compile %s --march=x86-64 --mcpu=x86-64-v3 --threads=1 --emit=asm -o - | FileCheck %s --check-prefix=PAIRS
// RUN: strata-compile %s --march=x86-64 --mcpu=icelake-server --threads=1 --emit=asm -o - | FileCheck %s --check-prefix=BYTES
// RUN: strata-compile %s --march=x86-64 --mcpu=sapphirerapids --threads=1 --emit=asm -o - | FileCheck %s --check-prefix=TILES

// The step of the reduction, where vectors multiply 16-bit integers: nothing in it is extended.
// PAIRS:      vpbroadcastd
// PAIRS-NOT:  {{vpmov[sz]x|vpunpck|j[a-z]+ }}
// PAIRS:      vpmaddwd
// PAIRS-NOT:  {{vpmov[sz]x|vpunpck|j[a-z]+ }}
// PAIRS:      vpaddd

// BYTES-NOT:  vpmaddwd
// BYTES:      vpdpbusd

// TILES-NOT:  vpmaddwd
// TILES:      tdpb{{[us]+}}d
func.func @main(%x: tensor<60x64xui8>, %w: tensor<64x64xi8>) -> tensor<60x64xi32> {
  %y = onnx.MatMulInteger_10(%x, %w) : (tensor<60x64xui8>, tensor<64x64xi8>) -> tensor<60x64xi32>
  return %y : tensor<60x64xi32>
}
