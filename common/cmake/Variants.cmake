# Experiments: each tests/diffs/variants/NN_slug.diff makes a variant of a step's kernel.cu, that is built,
# verified and timed like a step whose base is that step.
#
#   Step: 06_wmma_db             the step whose kernel.cu is changed
#   What: ...                    the change, in words
#   Asks: ...                    the question that it answers
#   Verifies: no, loads only     instead of a GEMM it computes what says nothing: it is timed, not judged
#
# Rungs: each tests/diffs/rungs/NN_K_slug.diff is one of the small diffs, one idea each, that lead from a step's base to the
# step, or from nothing to its baseline (NN_baseline_K_slug). Each is a step too, whose base is the one before.
#
#   Step: 04_regblock            the step that the chain leads to
#   What: ...                    the change, in words
#   Idea: ...                    two sentences: what it changes, and why that helps or costs
#
# OVERLAP_VARIANTS, and the target `variants`: all names, and their GPU programs. Those that a line of docs/pictures/pictures.csv
# names have a checked program too.
# The target `rungs`: the kernel files of all rungs, build/rungs/NAME/kernel.cu

set(OVERLAP_VARIANTS ${DIFFS_variants} ${DIFFS_rungs})
add_custom_target(variants)
file(READ ${CMAKE_SOURCE_DIR}/docs/pictures/pictures.csv OVERLAP_PICTURES)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/pictures/pictures.csv)

# Makes the programs of a variant for these devices; a GPU program is made only where it is asked for.
function(variant_programs name)
  step_programs(${name} ${ARGN})
  foreach(program IN LISTS programs)
    if(program MATCHES "^gpu" OR NOT BUILD_TESTING)
      string(REGEX REPLACE "-${name}$" "-kernel-${name}" object ${program})
      set_target_properties(${program} ${object} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
    if(program MATCHES "^gpu")
      add_dependencies(variants ${program})
    endif()
  endforeach()
  set(programs "${programs}" PARENT_SCOPE)
endfunction()

foreach(name IN LISTS DIFFS_variants)
  diff_step(variants ${name} ${CMAKE_BINARY_DIR}/variants)
  if(NOT Asks OR NOT Verifies MATCHES "^(no, .+)?$")
    message(FATAL_ERROR "${name}.diff: wanted a header line Asks: and, if so, Verifies: no, WHY")
  endif()
  string(REPLACE "no, " "" why "${Verifies}")
  step_like(${name} ${Step} ${kernel})
  set(devices cpu gpu)
  if(OVERLAP_PICTURES MATCHES " ${name}[;\n]")
    list(APPEND devices cpu-checked)
  endif()
  variant_programs(${name} ${devices})
  if(Verifies)
    foreach(program IN LISTS programs)
      target_compile_definitions(${program} PRIVATE STEP_UNJUDGED="${why}")
    endforeach()
  endif()
endforeach()

set(kernels "")
foreach(name IN LISTS DIFFS_rungs)
  diff_step(rungs ${name} ${CMAKE_BINARY_DIR}/rungs)
  list(APPEND kernels ${kernel})
  step_like(${name} ${Step} ${kernel})
  set(STEP_${name}_BASE_ID "${Base}")
  set(STEP_${name}_BASE ${Base})
  if(NOT Base)
    set(STEP_${name}_BASE -)
  endif()
  variant_programs(${name} cpu cpu-checked gpu)
endforeach()
# Each is made of the one before: all of them first, by one target, so that no two make the same file at once.
add_custom_target(rungs ALL DEPENDS ${kernels})
foreach(name IN LISTS DIFFS_rungs)
  foreach(device IN ITEMS cpu cpu-checked gpu)
    if(TARGET ${device}-kernel-${name})
      add_dependencies(${device}-kernel-${name} rungs)
    endif()
  endforeach()
endforeach()
