// RUN: strata-opt %s --split-input-file --strata-explain-placement -o /dev/null 2>&1 | FileCheck %s

// Kernels of one node are one line, with the reason where the host runs them; copies have the caller's names.
// CHECK:      what runs where:
// CHECK-NEXT:   GPU   kernel_0 and 1 more  conv_1, relu_1{{$}}
// CHECK-NEXT:   host  kernel_2             check_1         checks its input, which only the host can report
// CHECK-NEXT:   host  strata_rt_sort       sort_1          a function of the runtime
// CHECK-NEXT:   -     no code              reshape_1       computed when compiled, or another view of its input
// CHECK-NEXT: copies in each run:
// CHECK-NEXT:   to the GPU   400 bytes    input 'image', unless it is there
// CHECK-NEXT:   to the host  400 bytes    what sort_1 reads there, if it has changed on the GPU
// CHECK-NEXT:   to the GPU   400 bytes    what sort_1 has written, before the GPU uses it
// CHECK-NEXT:   to the host  ? x 8 bytes  result 'scores'
// CHECK-NOT:  once in a session
#global = #gpu.address_space<global>
module attributes {gpu.container_module, strata.nodes = ["conv_1", "relu_1", "reshape_1", "check_1", "sort_1"],
    strata.interface = {inputs = [{name = "image"}], outputs = [{name = "scores"}]}} {
  func.func @main(%x: memref<100xf32>, %z: memref<?xf64, #global>) -> memref<?xf64> {
    %c1 = arith.constant 1 : index
    %in = call @input(%x) : (memref<100xf32>) -> memref<100xf32, #global>
    gpu.launch_func @kernels::@kernel_0 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%in : memref<100xf32, #global>) loc(#both)
    gpu.launch_func @kernels::@kernel_1 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%in : memref<100xf32, #global>) loc(#both)
    call @kernel_2(%x) {strata.on_host = "checks its input, which only the host can report"} : (memref<100xf32>) -> () loc("check_1")
    %h = call @to_host(%in) : (memref<100xf32, #global>) -> memref<100xf32> loc("sort_1")
    call @sort(%h) : (memref<100xf32>) -> () loc("sort_1")
    call @host_wrote(%in) : (memref<100xf32, #global>) -> () loc("sort_1")
    %y = call @result(%z) : (memref<?xf64, #global>) -> memref<?xf64>
    return %y : memref<?xf64>
  }
  func.func private @kernel_2(memref<100xf32>) attributes {strata.kernel}
  func.func private @sort(memref<100xf32>) attributes {strata.symbol = "strata_rt_sort"}
  func.func private @input(memref<100xf32>) -> memref<100xf32, #global> attributes {strata.gpu = "input"}
  func.func private @result(memref<?xf64, #global>) -> memref<?xf64> attributes {strata.gpu = "result"}
  func.func private @to_host(memref<100xf32, #global>) -> memref<100xf32> attributes {strata.gpu = "to_host"}
  func.func private @host_wrote(memref<100xf32, #global>) attributes {strata.gpu = "host_wrote"}
  gpu.module @kernels {
    gpu.func @kernel_0(%a: memref<100xf32, #global>) kernel { gpu.return }
    gpu.func @kernel_1(%a: memref<100xf32, #global>) kernel { gpu.return }
  }
}
#conv = loc("conv_1")
#relu = loc("relu_1")
#both = loc(fused[#conv, #relu])

// -----

// A constant goes to the GPU once, however many use it; nothing else is copied here.
// CHECK:      copies in each run:
// CHECK-NEXT:   none
// CHECK-NEXT: once in a session: 1 constant of 36 bytes to the GPU
#global = #gpu.address_space<global>
memref.global "private" constant @w : memref<9xf32>
func.func @main() {
  %a = memref.get_global @w : memref<9xf32>
  %b = memref.get_global @w : memref<9xf32>
  %c = call @constant(%a) : (memref<9xf32>) -> memref<9xf32, #global>
  %d = call @constant(%b) : (memref<9xf32>) -> memref<9xf32, #global>
  return
}
func.func private @constant(memref<9xf32>) -> memref<9xf32, #global> attributes {strata.gpu = "constant"}
