# Experiments: each tests/diffs/variants/NN_slug.diff makes a variant of a step's kernel.cu, that is built,
# verified and timed like a step whose base is that step.
#
#   Step: 06_wmma_db             the step whose kernel.cu is changed
#   What: ...                    the change, in words
#   Asks: ...                    the question that it answers
#   Verifies: no, loads only     instead of a GEMM it computes what says nothing: it is timed, not judged
#
# OVERLAP_VARIANTS, and the target `variants`: all names, and their GPU programs. Those that a line of docs/pictures/pictures.csv
# names have a checked program too.

set(OVERLAP_VARIANTS ${DIFFS_variants})
add_custom_target(variants)
file(READ ${CMAKE_SOURCE_DIR}/docs/pictures/pictures.csv OVERLAP_PICTURES)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/pictures/pictures.csv)
foreach(name IN LISTS OVERLAP_VARIANTS)
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
  step_programs(${name} ${devices})
  foreach(program IN LISTS programs)
    if(Verifies)
      target_compile_definitions(${program} PRIVATE STEP_UNJUDGED="${why}")
    endif()
    if(program MATCHES "^gpu" OR NOT BUILD_TESTING)
      string(REGEX REPLACE "${name}$" "kernel-\\0" object ${program})
      set_target_properties(${program} ${object} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
    if(program MATCHES "^gpu")
      add_dependencies(variants ${program})
    endif()
  endforeach()
endforeach()
