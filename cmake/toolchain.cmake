# Speed of building, warnings, sanitizers.
option(REWIND_PCH "Precompiled headers" ON)
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  if(REWIND_PCH)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
    add_compile_options(-fpch-preprocess)
  endif()
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
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
