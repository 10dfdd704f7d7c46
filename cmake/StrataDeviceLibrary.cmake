# strata_device_library(OUTPUT SOURCE TRIPLE): C for a GPU, as the bytes of LLVM bitcode in an array's initialisers.
find_program(STRATA_DEVICE_CLANG NAMES clang-${LLVM_VERSION_MAJOR} clang HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)

function(strata_device_library output source triple)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/EmbedBytes.cmake)
  # Kernels are compiled for their own chip; it only needs to have the instructions.
  set(chip sm_80)
  if(triple MATCHES amdgcn)
    set(chip gfx90a)
  endif()
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${STRATA_DEVICE_CLANG} --target=${triple} -Xclang -target-cpu -Xclang ${chip} -nogpulib -ffreestanding
            -fno-math-errno -ffp-contract=off -O2 -emit-llvm -c ${source} -o ${output}.bc
    COMMAND ${CMAKE_COMMAND} -DINPUT=${output}.bc -DOUTPUT=${output} -P ${script}
    DEPENDS ${source} ${script}
    COMMENT "Compiling the device library for ${triple}"
    VERBATIM)
endfunction()
