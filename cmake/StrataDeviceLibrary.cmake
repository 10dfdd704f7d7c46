# strata_device_library(OUTPUT SOURCE): C for the GPU, as the bytes of LLVM bitcode in an array's initialisers.
find_program(STRATA_DEVICE_CLANG NAMES clang-${LLVM_VERSION_MAJOR} clang HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)

function(strata_device_library output source)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/EmbedBytes.cmake)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${STRATA_DEVICE_CLANG} --target=nvptx64-nvidia-cuda -Xclang -target-cpu -Xclang sm_80 -nogpulib -ffreestanding
            -fno-math-errno -ffp-contract=off -O2 -emit-llvm -c ${source} -o ${output}.bc
    COMMAND ${CMAKE_COMMAND} -DINPUT=${output}.bc -DOUTPUT=${output} -P ${script}
    DEPENDS ${source} ${script}
    COMMENT "Compiling the device library"
    VERBATIM)
endfunction()
