# Solutions of the exercises: each tests/diffs/solutions/NN_slug.diff turns a step's kernel.cu into the solution. The build
# applies it to a copy and makes build/tests/solutions/solution_NN_slug of it; the test passes if that verifies.
#
#   Step: 06_wmma_db             the step whose kernel.cu is changed
#   What: ...                    what the solution does, in words
#   Run: --shape test            the arguments it is run with (this is the default)
#   Says: regular expression     what the program must say (default: anything)
foreach(solution IN LISTS DIFFS_solutions)
  # A program like a step's, whose base is the step itself.
  set(name solution_${solution})
  diff_step(${name} solutions ${solution} ${CMAKE_CURRENT_BINARY_DIR}/solutions)
  if(NOT Run)
    set(Run "--shape test")
  endif()
  step_kernel(${name} ${STEP_${name}_TRACK} ${kernel} "" TRUE)
  step_program(cpu ${name} ${Step})
  set_target_properties(cpu-${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/solutions)
  overlap_test(solution.${solution} cpu 120 ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:cpu-${name}> "-DRUN=${Run}"
               "-DSAYS=${Says}" -DSTALE=${kernel}.stale -P ${CMAKE_CURRENT_LIST_DIR}/solution.cmake)
endforeach()
