# Speed of building, warnings, sanitizers.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
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

if(REWIND_SANITIZE)
  add_compile_options(-fsanitize=${REWIND_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${REWIND_SANITIZE})
endif()
