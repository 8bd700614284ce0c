# Planted bugs: each tests/traps/NN_slug.diff turns a step's kernel.cu into a wrong one. The build applies it
# to a copy and makes a program of it; the test passes only if the program is caught as the header says.
#
#   Step: 04_regblock            the step whose kernel.cu is changed
#   What: ...                    the bug, in words
#   Caught: regular expression   what the program must say; it must also exit with status 1
#   Run: --shape 160x96x224      the arguments it is run with (this is the default)
file(GLOB traps ${CMAKE_CURRENT_SOURCE_DIR}/traps/*.diff)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/traps)
foreach(diff IN LISTS traps)
  get_filename_component(trap ${diff} NAME_WE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${diff})
  file(STRINGS ${diff} header LIMIT_COUNT 8)
  foreach(field IN ITEMS Step What Caught Run)
    set(${field} "")
    foreach(line IN LISTS header)
      if(line MATCHES "^${field}: (.*)$")
        set(${field} "${CMAKE_MATCH_1}")
      endif()
    endforeach()
  endforeach()
  if(NOT Step IN_LIST OVERLAP_STEPS OR Caught STREQUAL "" OR What STREQUAL "")
    message(FATAL_ERROR "${diff}: wanted header lines Step: (one of the steps), What: and Caught:")
  endif()
  if(Run STREQUAL "")
    set(Run "--shape 160x96x224")
  endif()
  set(original ${CMAKE_SOURCE_DIR}/steps/${Step}/kernel.cu)
  set(wrong ${CMAKE_CURRENT_BINARY_DIR}/traps/${trap}/kernel.cu)
  add_custom_command(OUTPUT ${wrong}
                     COMMAND ${CMAKE_COMMAND} -DORIGINAL=${original} -DDIFF=${diff} -DOUT=${wrong}
                             -P ${CMAKE_CURRENT_SOURCE_DIR}/apply_diff.cmake
                     DEPENDS ${original} ${diff} ${CMAKE_CURRENT_SOURCE_DIR}/apply_diff.cmake VERBATIM
                     COMMENT "Planting ${trap}")
  step_renames(renames ${STEP_${Step}_TRACK} ${Step})
  cpu_device_object(cpu-kernel-trap-${trap} ${wrong} DEFINES ${renames})
  string(TOUPPER ${STEP_${Step}_TYPE} type)
  add_executable(trap-${trap} ${CMAKE_SOURCE_DIR}/steps/${Step}/main.c $<TARGET_OBJECTS:cpu-kernel-trap-${trap}>)
  target_compile_definitions(trap-${trap} PRIVATE STEP_NAME="trap-${trap}" STEP_TYPE=TYPE_${type}
                             STEP_FUNCTION=${STEP_${Step}_TRACK}_${Step}
                             STEP_FUNCTION_WORKSPACE=${STEP_${Step}_TRACK}_workspace_${Step})
  target_link_libraries(trap-${trap} PRIVATE overlap_cpu)
  set_target_properties(trap-${trap} PROPERTIES LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/traps)
  overlap_test(trap.${trap} cpu 60 ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:trap-${trap}> "-DRUN=${Run}"
               "-DCAUGHT=${Caught}" "-DWHAT=${What}" -DSTALE=${wrong}.stale -P ${CMAKE_CURRENT_SOURCE_DIR}/trap.cmake)
endforeach()
