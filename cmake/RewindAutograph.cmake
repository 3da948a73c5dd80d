# rewind_autograph(target [sources...]): these C++ sources of the target, or all of them, are compiled with their
# control flow on tensors as a graph's. What was rewritten lies in <build>/rewind_autograph/<target>/; errors and
# debuggers show the source itself. Call it behind what names the target's sources.
function(rewind_autograph target)
  if(TARGET rewind-autograph)
    set(tool rewind-autograph)
  elseif(TARGET Rewind::rewind-autograph)
    set(tool Rewind::rewind-autograph)
  else()
    message(FATAL_ERROR "rewind_autograph(${target}) needs the tool rewind-autograph: build Rewind where libclang-19-dev is installed (REWIND_AUTOGRAPH)")
  endif()
  get_target_property(all ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  set(wanted "")
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND wanted ${source})
  endforeach()
  set(kept "")
  foreach(source IN LISTS all)
    set(path ${source})
    cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY ${folder} NORMALIZE)
    if((ARGN AND path IN_LIST wanted) OR (NOT ARGN AND path MATCHES "\\.(cc|cpp|cxx|C|c\\+\\+)$"))
      _rewind_autograph_source(${target} ${tool} ${path} output)
      list(APPEND kept ${output})
      list(REMOVE_ITEM wanted ${path})
    else()
      list(APPEND kept ${source})
    endif()
  endforeach()
  if(wanted)
    message(FATAL_ERROR "rewind_autograph: not among the sources of ${target}: ${wanted}")
  endif()
  set_property(TARGET ${target} PROPERTY SOURCES ${kept})
endfunction()

function(_rewind_autograph_source target tool source result)
  get_target_property(binary ${target} BINARY_DIR)
  get_target_property(folder ${target} SOURCE_DIR)
  cmake_path(IS_PREFIX folder ${source} inside)
  if(inside)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${folder} OUTPUT_VARIABLE name)
  else()
    string(SHA256 hash ${source})
    string(SUBSTRING ${hash} 0 8 hash)
    cmake_path(GET source FILENAME name)
    set(name ${hash}/${name})
  endif()
  set(output ${binary}/rewind_autograph/${target}/${name})
  cmake_path(GET output PARENT_PATH output_folder)
  file(MAKE_DIRECTORY ${output_folder})
  cmake_path(GET source PARENT_PATH source_folder)

  # As the compiler is called.
  set(properties $<TARGET_PROPERTY:${target},)
  set(includes ${properties}INCLUDE_DIRECTORIES>)
  set(definitions ${properties}COMPILE_DEFINITIONS>)
  set(standard ${properties}CXX_STANDARD>)
  set(extensions $<IF:$<STREQUAL:${properties}CXX_EXTENSIONS>,OFF>,c,gnu>)
  set(features ${properties}COMPILE_FEATURES>)
  set(at_least_23 $<OR:$<STREQUAL:${standard},23>,$<STREQUAL:${standard},26>,$<IN_LIST:cxx_std_23,${features}>,$<IN_LIST:cxx_std_26,${features}>>)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" configuration)
  separate_arguments(general UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${configuration}}")
  get_source_file_property(own_definitions ${source} COMPILE_DEFINITIONS)
  get_source_file_property(own_options ${source} COMPILE_OPTIONS)
  set(own "")
  if(own_definitions)
    list(TRANSFORM own_definitions PREPEND -D OUTPUT_VARIABLE own)
  else()
    set(own_definitions "")
  endif()
  if(own_options)
    list(APPEND own ${own_options})
  else()
    set(own_options "")
  endif()
  set(precompiled ${binary}/CMakeFiles/${target}.dir/cmake_pch.hxx)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${tool} ${source} -o ${output} --depfile ${output}.d --line --
            ${general} -std=${extensions}++$<IF:${at_least_23},23,20> ${own}
            "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
            "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
            "${properties}COMPILE_OPTIONS>"
            "$<$<BOOL:${properties}PRECOMPILE_HEADERS>>:-include;${precompiled}>"
    DEPENDS ${source} ${tool}
    DEPFILE ${output}.d
    COMMENT "rewind-autograph ${name}"
    COMMAND_EXPAND_LISTS VERBATIM)
  # What the source includes by a name beside it is found there.
  set_source_files_properties(${output} TARGET_DIRECTORY ${target} PROPERTIES GENERATED ON
    COMPILE_OPTIONS "-iquote;${source_folder};${own_options}" COMPILE_DEFINITIONS "${own_definitions}")
  set(${result} ${output} PARENT_SCOPE)
endfunction()
