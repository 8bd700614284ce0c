# Planted bugs: each tests/diffs/traps/NN_slug.diff turns a step's kernel.cu into a wrong one. The build applies it
# to a copy and makes a program of it; the test passes only if the program is caught as the header says.
#
#   Step: 04_regblock            the step whose kernel.cu is changed
#   What: ...                    the bug, in words
#   Caught: regular expression   what the program must say; it must also exit with status 1. Without it, the
#                                CPU device gives right values
#   Run: --shape 160x96x224      the arguments it is run with (this is the default)
#   Race: regular expression     what the checked flavour must say under every schedule, see trap.cmake;
#                                without it, the bug is not a race
#   Device: gpu                  only a GPU can be shown it: too large for the CPU device
#   RaceRun: --shape 100003      the arguments of the checked flavour (default: 72x48x80, or what Run: says)
file(GLOB traps ${CMAKE_CURRENT_LIST_DIR}/traps/*.diff)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/traps)
foreach(diff IN LISTS traps)
  get_filename_component(trap ${diff} NAME_WE)
  diff_header(${diff} Caught Run Race RaceRun Device)
  if("${Caught}${Race}" STREQUAL "")
    message(FATAL_ERROR "${diff}: wanted a header line Caught: or Race:")
  endif()
  if(Run STREQUAL "")
    set(Run "--shape 160x96x224")
  endif()
  set(wrong ${CMAKE_CURRENT_BINARY_DIR}/traps/${trap}/kernel.cu)
  diff_kernel(${wrong} ${diff} ${Step})
  # A program like a step's, whose base is the step itself, for each device that must catch the bug.
  set(name trap_${trap})
  diff_step(${name} ${Step})
  set(devices "")
  set(architectures "")
  if(Device STREQUAL "gpu")
    if(STEP_${Step}_MISSING)
      overlap_test(gpu.trap.${trap} gpu 60 sh ${CMAKE_CURRENT_SOURCE_DIR}/no_gpu.sh "${STEP_${Step}_MISSING}")
      continue()
    endif()
    gpu_architectures(architectures ${STEP_${Step}_ARCH})
    set(devices gpu)
  elseif(Caught)
    set(devices cpu)
  endif()
  if(Race AND CPU_DEVICE_CHECKED)
    list(APPEND devices cpu-checked)
  endif()
  step_kernel(${name} ${STEP_${name}_TRACK} ${wrong} "${architectures}")
  set_target_properties(cpu-kernel-${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  if(CPU_DEVICE_CHECKED)
    set_target_properties(cpu-checked-kernel-${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
  foreach(device IN LISTS devices)
    step_program(${device} ${name} ${Step})
    set_target_properties(${device}-${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/traps/${device})
    set(run ${Run})
    set(test trap.${trap})
    set(label cpu)
    set(schedules "")
    if(device STREQUAL "gpu")
      set(test gpu.trap.${trap})
      set(label gpu)
    elseif(device STREQUAL "cpu-checked")
      set(test checked-trap.${trap})
      set(schedules "-DSCHEDULES=forward-late reverse-late forward-early reverse-early random-1 random-2 random-3")
      if(RaceRun)
        set(run ${RaceRun})
      elseif(STEP_${Step}_TRACK STREQUAL "gemm")
        set(run "--shape 72x48x80") # several K-tiles, as small as can be
      endif()
    endif()
    overlap_test(${test} ${label} 60 ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${device}-${name}> "-DRUN=${run}"
                 "-DCAUGHT=${Caught}" "-DWHAT=${What}" -DDEVICE=${device} -DKERNEL=${wrong} "-DRACE=${Race}" ${schedules}
                 -P ${CMAKE_CURRENT_LIST_DIR}/trap.cmake)
    set_tests_properties(${test} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: no GPU")
  endforeach()
endforeach()
