# Diffs of a step's kernel.cu, in tests/diffs/traps, tests/diffs/variants, tests/diffs/solutions and tests/diffs/rungs:
# header lines `Field: text`, then a unified diff. Step: one of the steps, and What: must be; Variants.cmake and
# tests/diffs/traps.cmake tell what else there may be.
#
# DIFFS_<kind>                   names, in order, of kind traps, variants, solutions, rungs
# DIFF_<kind>_<name>_<Field>     the header lines; nothing where there is none
# RUNGS                          the chains: a step, or STEP_baseline; where each ends
# RUNGS_<chain>                  names of its rungs, in order
# DIFF_rungs_<name>_{Chain,Number,Base,Original}  its chain and its place there, the rung or step before it, and its file
set(DIFF_FIELDS_traps Step What Caught Says Run Race RaceRun Device Shows)
set(DIFF_FIELDS_variants Step What Asks Verifies)
set(DIFF_FIELDS_solutions Step What Run Says)
set(DIFF_FIELDS_rungs Step What Idea)
foreach(kind IN ITEMS traps variants solutions rungs)
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

# A rung NN_K_slug leads to step NN, NN_baseline_K_slug to its baseline; each is a diff of the one before. The first of a
# baseline is a diff of nothing.
set(RUNGS "")
list(SORT DIFFS_rungs COMPARE NATURAL)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/rungs/nothing.cu CONTENT "")
foreach(name IN LISTS DIFFS_rungs)
  set(chain ${DIFF_rungs_${name}_Step})
  string(REGEX MATCH "^[0-9]+_" number ${chain})
  if(NOT name MATCHES "^${number}(baseline_)?([1-9][0-9]*)_." OR NOT DIFF_rungs_${name}_Idea)
    message(FATAL_ERROR "tests/diffs/rungs/${name}.diff: wanted a name ${number}K_SLUG or ${number}baseline_K_SLUG, by its "
            "Step: ${chain}, and a header line Idea:")
  endif()
  set(number ${CMAKE_MATCH_2})
  set(before "${STEP_${chain}_BASE_ID}")
  if(CMAKE_MATCH_1)
    string(APPEND chain _baseline)
    set(before "")
  endif()
  if(NOT STEP_${chain}_KERNEL)
    message(FATAL_ERROR "tests/diffs/rungs/${name}.diff: ${DIFF_rungs_${name}_Step} has no baseline")
  endif()
  set(original ${CMAKE_SOURCE_DIR}/${STEP_${before}_KERNEL})
  if(NOT before)
    set(original ${CMAKE_BINARY_DIR}/rungs/nothing.cu)
  endif()
  list(LENGTH RUNGS_${chain} count)
  if(count EQUAL 0)
    list(APPEND RUNGS ${chain})
  else()
    list(GET RUNGS_${chain} -1 before)
    set(original ${CMAKE_BINARY_DIR}/rungs/${before}/kernel.cu)
  endif()
  math(EXPR wanted "${count} + 1")
  if(NOT number EQUAL wanted)
    message(FATAL_ERROR "tests/diffs/rungs/${name}.diff: rung ${number} of ${chain} where rung ${wanted} should be; wanted: "
            "rungs from 1 on, without a gap")
  endif()
  list(APPEND RUNGS_${chain} ${name})
  set(DIFF_rungs_${name}_Chain ${chain})
  set(DIFF_rungs_${name}_Number ${number})
  set(DIFF_rungs_${name}_Base "${before}")
  set(DIFF_rungs_${name}_Original ${original})
endforeach()
list(APPEND DIFF_FIELDS_rungs Chain Number Base Original)

# Sets Step, What and the other fields of a diff, and `kernel`: a kernel.cu below `folder` that the build makes by applying
# the diff to a copy of the step's, or of the rung before. A macro: it sets variables.
macro(diff_step kind name folder)
  foreach(field IN LISTS DIFF_FIELDS_${kind})
    set(${field} "${DIFF_${kind}_${name}_${field}}")
  endforeach()
  set(kernel ${folder}/${name}/kernel.cu)
  set(original ${CMAKE_SOURCE_DIR}/steps/${Step}/kernel.cu)
  if("${kind}" STREQUAL "rungs")
    set(original ${Original})
  endif()
  set(diff ${CMAKE_SOURCE_DIR}/tests/diffs/${kind}/${name}.diff)
  set(script ${CMAKE_SOURCE_DIR}/tests/diffs/apply_diff.cmake)
  add_custom_command(OUTPUT ${kernel} DEPENDS ${original} ${diff} ${script} VERBATIM COMMENT "Applying ${name}.diff"
                     COMMAND ${CMAKE_COMMAND} -DORIGINAL=${original} -DDIFF=${diff} -DOUT=${kernel} -P ${script})
endmacro()
