# Diffs of a step's kernel.cu, in tests/diffs/traps, tests/diffs/variants and tests/diffs/solutions: header lines `Field: text`,
# then a unified diff.

# Reads a diff's header: sets each of the fields named behind it in the caller's scope, to "" if it is not there.
# Step: and What: must be, and no text may hold a ';', at which a CMake list would be cut.
function(diff_header diff)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${diff})
  file(STRINGS ${diff} header LIMIT_COUNT 8)
  foreach(field IN ITEMS Step What ${ARGN})
    set(value "")
    foreach(line IN LISTS header)
      if(line MATCHES "^${field}: (.*)$")
        set(value "${CMAKE_MATCH_1}")
      endif()
    endforeach()
    if(value MATCHES ";")
      message(FATAL_ERROR "${diff}: ${field}: holds a ';', which would cut it")
    endif()
    set(${field} "${value}")
    set(${field} "${value}" PARENT_SCOPE)
  endforeach()
  if(NOT Step IN_LIST OVERLAP_STEPS OR What STREQUAL "")
    message(FATAL_ERROR "${diff}: wanted header lines Step: (one of the steps) and What:")
  endif()
endfunction()

# Makes `out`, a kernel.cu, by applying the diff to a copy of the step's.
function(diff_kernel out diff step)
  set(original ${CMAKE_SOURCE_DIR}/steps/${step}/kernel.cu)
  set(script ${CMAKE_SOURCE_DIR}/tests/diffs/apply_diff.cmake)
  get_filename_component(name ${diff} NAME)
  add_custom_command(OUTPUT ${out}
                     COMMAND ${CMAKE_COMMAND} -DORIGINAL=${original} -DDIFF=${diff} -DOUT=${out} -P ${script}
                     DEPENDS ${original} ${diff} ${script} VERBATIM
                     COMMENT "Applying ${name}")
endfunction()

# Makes `name` a step of the build like `step`, whose base is that step itself. A macro: it sets STEP_<name>_*.
macro(diff_step name step)
  foreach(column IN ITEMS TRACK TYPE ARCH MAIN MISSING)
    set(STEP_${name}_${column} "${STEP_${step}_${column}}")
  endforeach()
  set(STEP_${name}_BASE ${step})
endmacro()
