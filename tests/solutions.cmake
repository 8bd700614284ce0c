# Solutions of the exercises: each docs/solutions/NN_slug.diff turns a step's kernel.cu into the solution. The build
# applies it to a copy and makes build/tests/solutions/solution-NN_slug of it; the test passes if that verifies.
#
#   Step: 06_wmma_db             the step whose kernel.cu is changed
#   What: ...                    what the solution does, in words
#   Run: --shape test            the arguments it is run with (this is the default)
#   Says: regular expression     what the program must say (default: anything)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/solutions)
file(GLOB solutions ${CMAKE_SOURCE_DIR}/docs/solutions/*.diff)
foreach(diff IN LISTS solutions)
  get_filename_component(solution ${diff} NAME_WE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${diff})
  file(STRINGS ${diff} header LIMIT_COUNT 8)
  foreach(field IN ITEMS Step What Run Says)
    set(${field} "")
    foreach(line IN LISTS header)
      if(line MATCHES "^${field}: (.*)$")
        set(${field} "${CMAKE_MATCH_1}")
      endif()
    endforeach()
  endforeach()
  if(NOT Step IN_LIST OVERLAP_STEPS OR What STREQUAL "")
    message(FATAL_ERROR "${diff}: wanted header lines Step: (one of the steps) and What:")
  endif()
  if(Run STREQUAL "")
    set(Run "--shape test")
  endif()
  set(original ${CMAKE_SOURCE_DIR}/steps/${Step}/kernel.cu)
  set(changed ${CMAKE_CURRENT_BINARY_DIR}/solutions/${solution}/kernel.cu)
  add_custom_command(OUTPUT ${changed}
                     COMMAND ${CMAKE_COMMAND} -DORIGINAL=${original} -DDIFF=${diff} -DOUT=${changed}
                             -P ${CMAKE_CURRENT_SOURCE_DIR}/apply_diff.cmake
                     DEPENDS ${original} ${diff} ${CMAKE_CURRENT_SOURCE_DIR}/apply_diff.cmake VERBATIM
                     COMMENT "Solving ${solution}")
  step_renames(renames ${STEP_${Step}_TRACK} ${Step})
  cpu_device_object(cpu-kernel-solution-${solution} ${changed} DEFINES ${renames})
  string(TOUPPER ${STEP_${Step}_TYPE} type)
  add_executable(solution-${solution} ${CMAKE_SOURCE_DIR}/steps/${Step}/main.c $<TARGET_OBJECTS:cpu-kernel-solution-${solution}>)
  target_compile_definitions(solution-${solution} PRIVATE STEP_TYPE=TYPE_${type})
  foreach(macro IN ITEMS STEP BASE)
    if(macro STREQUAL "STEP" OR NOT STEP_${Step}_TRACK STREQUAL "gemm") # the other tracks verify a base
      target_compile_definitions(solution-${solution} PRIVATE ${macro}_FUNCTION=${STEP_${Step}_TRACK}_${Step}
                                 ${macro}_FUNCTION_WORKSPACE=${STEP_${Step}_TRACK}_workspace_${Step}
                                 ${macro}_NAME="solution-${solution}")
    endif()
  endforeach()
  target_link_libraries(solution-${solution} PRIVATE overlap_cpu)
  set_target_properties(solution-${solution} PROPERTIES LINKER_LANGUAGE CXX
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/solutions)
  overlap_test(solution.${solution} cpu 120 ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:solution-${solution}> "-DRUN=${Run}"
               "-DSAYS=${Says}" -DSTALE=${changed}.stale -P ${CMAKE_CURRENT_SOURCE_DIR}/solution.cmake)
endforeach()
