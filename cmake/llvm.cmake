# LLVM, the code generator of fused kernels, linked statically: its symbols stay inside whatever links Rewind, so
# that another LLVM in the process does no harm. Those of the archives the linker hides; the templates and inline
# functions of LLVM that Rewind's own files make are compiled as hidden ones.
find_program(LLVM_CONFIG NAMES llvm-config-19 PATHS /usr/lib/llvm-19/bin)
if(LLVM_CONFIG)
  option(REWIND_LLVM "Native code for fused kernels by LLVM 19" ON)
else()
  option(REWIND_LLVM "Native code for fused kernels by LLVM 19" OFF)
endif()

# `sources` are the only ones that include LLVM's headers.
function(rewind_use_llvm target sources)
  if(NOT LLVM_CONFIG)
    message(FATAL_ERROR "REWIND_LLVM needs LLVM 19's development files (llvm-19-dev)")
  endif()
  set(components nativecodegen runtimedyld scalaropts instcombine vectorize transformutils)
  execute_process(COMMAND ${LLVM_CONFIG} --includedir OUTPUT_VARIABLE include OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${LLVM_CONFIG} --link-static --libfiles ${components} OUTPUT_VARIABLE files
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(files)
  set(hidden "")  # one option an archive: mold 1.10 takes no lists
  foreach(file ${files})
    get_filename_component(name ${file} NAME)
    list(APPEND hidden LINKER:--exclude-libs,${name})
  endforeach()
  # Compressed debug sections, which nobody asks for, are in the archives all the same.
  find_library(ZSTD_LIBRARY NAMES zstd libzstd.so.1 REQUIRED)
  find_library(ZLIB_LIBRARY NAMES z REQUIRED)
  target_link_libraries(${target} PRIVATE ${files} ${ZSTD_LIBRARY} ${ZLIB_LIBRARY} ${CMAKE_DL_LIBS})
  target_link_options(${target} INTERFACE LINKER:--gc-sections ${hidden})
  add_library(rewind_emit OBJECT ${sources})
  target_include_directories(rewind_emit PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(rewind_emit SYSTEM PRIVATE ${include})
  target_compile_options(rewind_emit PRIVATE -fvisibility=hidden -fvisibility-inlines-hidden)
  target_link_libraries(rewind_emit PRIVATE rewind_warnings)
  rewind_unity(rewind_emit 8)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:rewind_emit>)
  target_compile_definitions(${target} PRIVATE REWIND_LLVM)
endfunction()
