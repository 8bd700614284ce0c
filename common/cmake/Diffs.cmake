# Diffs of a step's kernel.cu, in tests/diffs/traps, tests/diffs/variants and tests/diffs/solutions: header lines `Field: text`,
# then a unified diff. Step: one of the steps, and What: must be; Variants.cmake, tests/diffs/traps.cmake and
# tests/diffs/solutions.cmake tell what else there may be.
#
# DIFFS_<kind>                   names, in order, of kind traps, variants, solutions
# DIFF_<kind>_<name>_<Field>     the header lines; nothing where there is none
set(DIFF_FIELDS_traps Step What Caught Says Run Race RaceRun Device Shows)
set(DIFF_FIELDS_variants Step What Asks Verifies)
set(DIFF_FIELDS_solutions Step What Run Says)
foreach(kind IN ITEMS traps variants solutions)
  set(DIFFS_${kind} "")
  file(GLOB diffs ${CMAKE_SOURCE_DIR}/tests/diffs/${kind}/*.diff)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/diffs/${kind} ${diffs})
  foreach(diff IN LISTS diffs)
    get_filename_component(name ${diff} NAME_WE)
    list(APPEND DIFFS_${kind} ${name})
    file(STRINGS ${diff} header REGEX "^[A-Z][A-Za-z]*: ")
    foreach(line IN LISTS header)
      if(NOT line MATCHES "^([A-Za-z]+): ([^;]*)$" OR NOT CMAKE_MATCH_1 IN_LIST DIFF_FIELDS_${kind})
        message(FATAL_ERROR "${diff}: ${line}: wanted one of ${DIFF_FIELDS_${kind}}, and no ';', at which a list would be cut")
      endif()
      set(DIFF_${kind}_${name}_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
    endforeach()
    if(NOT DIFF_${kind}_${name}_Step IN_LIST OVERLAP_STEPS OR NOT DIFF_${kind}_${name}_What)
      message(FATAL_ERROR "${diff}: wanted header lines Step: (one of the steps) and What:")
    endif()
  endforeach()
endforeach()

# Sets Step, What and the other fields of a diff, and `kernel`: a kernel.cu below `folder` that the build makes by applying
# the diff to a copy of the step's. A macro: it sets variables.
macro(diff_step kind name folder)
  foreach(field IN LISTS DIFF_FIELDS_${kind})
    set(${field} "${DIFF_${kind}_${name}_${field}}")
  endforeach()
  set(kernel ${folder}/${name}/kernel.cu)
  set(original ${CMAKE_SOURCE_DIR}/steps/${Step}/kernel.cu)
  set(diff ${CMAKE_SOURCE_DIR}/tests/diffs/${kind}/${name}.diff)
  set(script ${CMAKE_SOURCE_DIR}/tests/diffs/apply_diff.cmake)
  add_custom_command(OUTPUT ${kernel} DEPENDS ${original} ${diff} ${script} VERBATIM COMMENT "Applying ${name}.diff"
                     COMMAND ${CMAKE_COMMAND} -DORIGINAL=${original} -DDIFF=${diff} -DOUT=${kernel} -P ${script})
endmacro()
