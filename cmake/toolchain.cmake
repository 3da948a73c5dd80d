# Speed of building, warnings, sanitizers.
option(REWIND_PCH "Precompiled headers" ON)
option(REWIND_UNITY "Files of a folder compiled several at a time: half the time of a full build" ON)
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What a file includes is told by the compiler, so that what is not cached is read once and not twice.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 ${CCACHE})
  if(REWIND_PCH)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
    add_compile_options(-fpch-preprocess)
  endif()
endif()
find_program(MOLD mold)
if(MOLD)
  # What runs once at the start lies together, so that it does not make the code around it resident.
  add_link_options(-fuse-ld=mold -Wl,-z,keep-text-section-prefix)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # The compiler collects its garbage from 1 GiB on: an eighth of the time of the large files, for 200 MB each.
  add_compile_options("SHELL:--param ggc-min-heapsize=1048576")
endif()

# No fast-math anywhere, and no contraction: an op's bits do not depend on the code around it. Signed overflow
# wraps, as it does in TensorFlow's integer ops.
add_compile_options(-ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv -ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections)

add_library(rewind_warnings INTERFACE)
target_compile_options(rewind_warnings INTERFACE -Wall -Wextra -Werror -Wno-missing-field-initializers)
if(REWIND_PCH)
  # GCC 12 gives false alarms inside the standard library when that comes from a precompiled header, whose lines it
  # no longer takes for a system's. Builds without one ask for these as well.
  target_compile_options(rewind_warnings INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
    -Wno-stringop-overread -Wno-maybe-uninitialized)
endif()

if(REWIND_SANITIZE)
  add_compile_options(-fsanitize=${REWIND_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${REWIND_SANITIZE})
endif()

# What nearly every file of a target reads is parsed once. The build without oneDNN and LLVM does without, so that a
# file which does not name what it uses is found.
function(rewind_precompile target)
  if(REWIND_PCH)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# The same, read from another target that is compiled with the same options.
function(rewind_reuse_precompiled target other)
  if(REWIND_PCH)
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()

# Files of one folder are compiled some at a time, so that what they share is read and instantiated once. Names in
# unnamed namespaces of a folder are therefore different ones. A new file moves only those behind it in its folder.
function(rewind_unity target size)
  if(NOT REWIND_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/kernel/cpu/")  # one family a file, much alike: their names would meet
  list(SORT sources)
  set(folder "")
  foreach(source ${sources})
    get_filename_component(here ${source} ABSOLUTE)
    get_filename_component(here ${here} DIRECTORY)
    if(NOT here STREQUAL folder)
      set(folder ${here})
      set(count 0)
      file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${folder})
      string(REPLACE "/" "_" name "${name}")
    endif()
    math(EXPR group "${count} / ${size}")
    math(EXPR count "${count} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
