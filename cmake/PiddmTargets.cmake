# piddm_library(core SOURCES a.cpp b.cpp LINK ops): the static library piddm_core from piddm/core. GLUE: compiled at
# -O1, its time is spent in others.
function(piddm_library name)
  cmake_parse_arguments(ARG "GLUE" "" "SOURCES;LINK" ${ARGN})
  set(target piddm_${name})
  set(level)
  if(ARG_GLUE)
    set(level _light)
  endif()
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(piddm::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:include>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC piddm::torch PRIVATE $<BUILD_INTERFACE:piddm${level}_options>)
  foreach(dep IN LISTS ARG_LINK)
    target_link_libraries(${target} PUBLIC piddm_${dep})
  endforeach()
  target_precompile_headers(${target} REUSE_FROM piddm${level}_pch)
  piddm_group(${target})
  set_property(GLOBAL APPEND PROPERTY PIDDM_LIBRARIES ${target})
endfunction()

# piddm_apart(a.cpp): sources that are compiled alone in grouped builds (PIDDM_UNITY): they include what others must not
# see.
macro(piddm_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endmacro()

# Groups of the target's sources in which no two files define the same name (group_sources.py).
function(piddm_group target)
  if(NOT PIDDM_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources EXCLUDE REGEX "^\\$<")  # objects of other targets
  execute_process(
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/group_sources.py ${PIDDM_GROUP_SIZE}
      ${PROJECT_SOURCE_DIR} ${sources}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" lines "${lines}")
  foreach(line IN LISTS lines)
    string(REPLACE " " ";" pair "${line}")
    list(GET pair 0 source)
    list(GET pair 1 group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP group_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# piddm_test(core SOURCES a_test.cpp LINK core): the GoogleTest program test_core, one ctest entry. SHARDS 2: two
# entries with half of the tests each, for a program that takes long.
function(piddm_test name)
  cmake_parse_arguments(ARG "" "SHARDS" "SOURCES;LINK" ${ARGN})
  add_executable(test_${name} ${ARG_SOURCES})
  target_link_libraries(test_${name} PRIVATE piddm_light_options piddm_testing)
  foreach(dep IN LISTS ARG_LINK)
    target_link_libraries(test_${name} PRIVATE piddm_${dep})
  endforeach()
  target_compile_definitions(test_${name} PRIVATE PIDDM_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/golden")
  target_precompile_headers(test_${name} REUSE_FROM piddm_test_pch)
  piddm_group(test_${name})
  # Waiting threads sleep, so that a busy machine is not slower by factors.
  set(environment GOMP_SPINCOUNT=3000)
  if(NOT ARG_SHARDS)
    add_test(NAME ${name} COMMAND test_${name})
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}")
    return()
  endif()
  math(EXPR last "${ARG_SHARDS} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}_${shard} COMMAND test_${name})
    set_tests_properties(${name}_${shard} PROPERTIES
      ENVIRONMENT "${environment};GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()
