# Who links Rewind shows none of what is inside: neither LLVM's symbols, which Debian's archives leave visible and which
# another LLVM in the process would replace, nor Rewind's, which a second plug-in with a Rewind of its own would share.
function(rewind_limit_exports target)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL Linux)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    target_link_options(${target} INTERFACE
      LINKER:--exclude-libs,${CMAKE_STATIC_LIBRARY_PREFIX}${target}${CMAKE_STATIC_LIBRARY_SUFFIX})
  else()
    set(script ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    target_link_options(${target} PRIVATE LINKER:--version-script=${script})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
  endif()
endfunction()
