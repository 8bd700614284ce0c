# Experiments: each tests/diffs/variants/NN_slug.diff makes a variant of a step's kernel.cu, that is built,
# verified and timed like a step whose base is that step.
#
#   Step: 06_wmma_db             the step whose kernel.cu is changed
#   What: ...                    the change, in words
#   Asks: ...                    the question that it answers
#   Verifies: no, loads only     instead of a GEMM it computes what says nothing: it is timed, not judged
#
# OVERLAP_VARIANTS             all names, in order
# OVERLAP_VARIANT_PROGRAMS     the targets of their GPU programs

set(OVERLAP_VARIANTS "")
set(OVERLAP_VARIANT_PROGRAMS "")
set(checked ${CPU_DEVICE_CHECKED}) # not built of variants
set(CPU_DEVICE_CHECKED FALSE)
set(variants_dir ${CMAKE_SOURCE_DIR}/tests/diffs/variants)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${variants_dir})
file(GLOB diffs ${variants_dir}/*.diff)
foreach(diff IN LISTS diffs)
  get_filename_component(name ${diff} NAME_WE)
  diff_header(${diff} Asks Verifies)
  if(Asks STREQUAL "" OR NOT Verifies MATCHES "^(no, .+)?$")
    message(FATAL_ERROR "${diff}: wanted a header line Asks: and, if so, Verifies: no, WHY")
  endif()
  string(REPLACE "no, " "" why "${Verifies}")

  set(kernel ${CMAKE_BINARY_DIR}/variants/${name}/kernel.cu)
  diff_kernel(${kernel} ${diff} ${Step})
  diff_step(${name} ${Step})
  set(architectures "")
  if(OVERLAP_HAVE_GPU)
    gpu_architectures(architectures ${STEP_${Step}_ARCH})
  endif()
  step_kernel(${name} ${STEP_${name}_TRACK} ${kernel} "${architectures}")
  foreach(device IN ITEMS cpu gpu)
    if(device STREQUAL "gpu" AND NOT architectures)
      continue()
    endif()
    step_program(${device} ${name} ${Step})
    if(why)
      target_compile_definitions(${device}-${name} PRIVATE STEP_UNJUDGED="${why}")
    endif()
    if(device STREQUAL "gpu" OR NOT BUILD_TESTING)
      set_target_properties(${device}-${name} ${device}-kernel-${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
  endforeach()
  if(architectures)
    list(APPEND OVERLAP_VARIANT_PROGRAMS gpu-${name})
  endif()
  list(APPEND OVERLAP_VARIANTS ${name})
endforeach()
set(CPU_DEVICE_CHECKED ${checked})
add_custom_target(variants DEPENDS ${OVERLAP_VARIANT_PROGRAMS})
