# Solutions of the exercises: each tests/diffs/solutions/NN_slug.diff turns a step's kernel.cu into the solution. The build
# applies it to a copy and makes build/tests/solutions/solution_NN_slug of it; the test passes if that verifies.
#
#   Step: 06_wmma_db             the step whose kernel.cu is changed
#   What: ...                    what the solution does, in words
#   Run: --shape test            the arguments it is run with (this is the default)
#   Says: regular expression     what the program must say (default: anything)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/diffs/solutions)
file(GLOB solutions ${CMAKE_SOURCE_DIR}/tests/diffs/solutions/*.diff)
foreach(diff IN LISTS solutions)
  get_filename_component(solution ${diff} NAME_WE)
  diff_header(${diff} Run Says)
  if(Run STREQUAL "")
    set(Run "--shape test")
  endif()
  set(changed ${CMAKE_CURRENT_BINARY_DIR}/solutions/${solution}/kernel.cu)
  diff_kernel(${changed} ${diff} ${Step})
  # A program like a step's, whose base is the step itself.
  set(name solution_${solution})
  diff_step(${name} ${Step})
  step_kernel(${name} ${STEP_${name}_TRACK} ${changed} "")
  if(CPU_DEVICE_CHECKED)
    set_target_properties(cpu-checked-kernel-${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  step_program(cpu ${name} ${Step})
  set_target_properties(cpu-${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/solutions)
  overlap_test(solution.${solution} cpu 120 ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:cpu-${name}> "-DRUN=${Run}"
               "-DSAYS=${Says}" -DSTALE=${changed}.stale -P ${CMAKE_CURRENT_LIST_DIR}/solution.cmake)
endforeach()
