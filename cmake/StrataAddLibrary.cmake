# Installed programs find the runtime beside them, and LLVM where it was when they were linked.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# strata_add_library(NAME [EXCEPTIONS] SOURCES ... [LINK libs...] [DEPENDS targets...])
#   One static library of C++ against libMLIR.so/libLLVM.so. EXCEPTIONS: compiled with exceptions and RTTI
#   (for code that calls libraries that throw; nothing may escape from it).
function(strata_add_library name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  if(ARG_EXCEPTIONS)
    target_compile_options(${name} PRIVATE -fexceptions)
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_include_directories(${name} INTERFACE $<INSTALL_INTERFACE:include/strata>)
  install(TARGETS ${name} EXPORT StrataTargets ARCHIVE DESTINATION lib)
endfunction()

# strata_precompile(NAME [HEADERS...])
#   Reading upstream's headers is nearly all of the time that a file takes to compile: it is done once for a library.
#   Without headers, for libraries of few files, they are those of StrataCodegen, which has to come before.
function(strata_precompile name)
  if(ARGN)
    target_precompile_headers(${name} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${name} REUSE_FROM StrataCodegen)
  endif()
  # A header compiled twice is the same file, so that ccache knows what is compiled with it again.
  target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
endfunction()

# strata_add_tool(NAME SOURCES ... LINK libs...)
function(strata_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()
