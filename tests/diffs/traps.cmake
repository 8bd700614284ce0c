# Planted bugs: each tests/diffs/traps/NN_slug.diff turns a step's kernel.cu into a wrong one. The build applies it
# to a copy and makes a program of it; the test passes only if the program is caught as the header says.
#
#   Step: 04_regblock            the step whose kernel.cu is changed
#   What: ...                    the bug, in words
#   Caught: judge.wrong_values   id of the fault that the program must report (docs/records.md), or several with `|`, or a
#                                regular expression; it must also exit with status 1. Without it, the CPU device gives
#                                right values
#   Says: first at row 159       what the fault's text must hold
#   Run: --shape 160x96x224      the arguments it is run with (default: TEST_TRAP of the track)
#   Race: IDS in MEMORY: {TEXT} {TEXT}   the fault that the checked flavour must report under every schedule, between
#                                lines that hold these texts, see trap.cmake; without it, the bug is not a race
#   Device: gpu                  only a GPU can be shown it: too large for the CPU device
#   Device: checked              only the checked flavour is shown it: blocks overlap there
#   RaceRun: --shape 100003      the arguments of the checked flavour (default: TEST_RACE of the track)
#   Shows: ...                   what shows the bug, in words, for the page (default: wrong values)
foreach(trap IN LISTS DIFFS_traps)
  # A program for each device that must catch the bug.
  set(name trap_${trap})
  diff_step(traps ${trap} ${CMAKE_CURRENT_BINARY_DIR}/traps)
  if(NOT Caught AND NOT Race)
    message(FATAL_ERROR "${trap}.diff: wanted a header line Caught: or Race:")
  endif()
  set(track TRACK_${STEP_${Step}_TRACK})
  if(NOT Run)
    set(Run ${${track}_TEST_TRAP})
  endif()
  if(NOT RaceRun)
    set(RaceRun ${${track}_TEST_RACE})
  endif()
  set(devices "")
  if(Device STREQUAL "gpu" AND STEP_${Step}_MISSING)
    overlap_test(gpu.trap.${trap} gpu 60 sh ${OVERLAP_TESTS}/no_gpu.sh "${STEP_${Step}_MISSING}")
  elseif(Device STREQUAL "gpu")
    set(devices gpu)
  elseif(Caught AND NOT Device STREQUAL "checked")
    set(devices cpu)
  endif()
  if((Race OR Device STREQUAL "checked") AND CPU_DEVICE_CHECKED)
    list(APPEND devices cpu-checked)
  endif()
  foreach(device IN LISTS devices)
    diff_program(${device} ${name} ${Step} ${kernel} traps/${device})
    set(run ${Run})
    set(test trap.${trap})
    set(label cpu)
    set(by ${device})
    if(device STREQUAL "gpu")
      set(test gpu.trap.${trap})
      set(label gpu)
    elseif(Device STREQUAL "checked")
      set(by cpu)
    elseif(device STREQUAL "cpu-checked")
      set(test checked-trap.${trap})
      set(run ${RaceRun})
    endif()
    overlap_test(${test} ${label} 60 ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${device}-${name}> "-DRUN=${run}"
                 "-DCAUGHT=${Caught}" "-DSAYS=${Says}" "-DWHAT=${What}" -DDEVICE=${by} -DKERNEL=${kernel} "-DRACE=${Race}"
                 -P ${CMAKE_CURRENT_SOURCE_DIR}/trap.cmake)
    if(Caught STREQUAL "crash.timeout")
      set_tests_properties(${test} PROPERTIES ENVIRONMENT CPU_DEVICE_TIMEOUT=2)
    endif()
    set_tests_properties(${test} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: no GPU")
  endforeach()
endforeach()
