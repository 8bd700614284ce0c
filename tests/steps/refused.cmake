# Sets of tile constants that do not fit must not compile, and the compiler must name the rule: compiles the steps of
# SOURCE by CXX for the CPU device, with INCLUDES, without making anything of them. That they compile as they are, the
# build has shown.
cmake_policy(VERSION 3.20)
file(MAKE_DIRECTORY ${FOLDER})
separate_arguments(INCLUDES)
file(GLOB tracks ${SOURCE}/common/track/*)
set(includes ${INCLUDES} ${tracks})
list(TRANSFORM includes PREPEND -I)

# refused(step NAME=VALUE ...): the step with these constants.
function(refused step)
  file(READ ${SOURCE}/steps/${step}/kernel.cu text)
  foreach(change IN LISTS ARGN)
    string(REGEX MATCH "^([^=]*)=(.*)$" change "${change}")
    set(name ${CMAKE_MATCH_1})
    set(value ${CMAKE_MATCH_2})
    if(NOT text MATCHES "[^A-Z_]${name} = ")
      message(SEND_ERROR "${step}: no constant ${name}")
    endif()
    string(REGEX REPLACE "([^A-Z_])${name} = [^,\n/]*" "\\1${name} = ${value}" text "${text}")
  endforeach()
  file(WRITE ${FOLDER}/kernel.cu "${text}")
  execute_process(COMMAND ${CMAKE_COMMAND} -DKERNEL=${FOLDER}/kernel.cu -DCOPY=${FOLDER}/kernel.cu.cpp -P ${REWRITE})
  execute_process(COMMAND ${CXX} -std=gnu++17 -fsyntax-only -Wno-unknown-pragmas ${includes} ${FOLDER}/kernel.cu.cpp
                  ERROR_VARIABLE said RESULT_VARIABLE status)
  string(REGEX MATCH "static.assert[a-z]* failed[^\n]*[a-z][^\n]*" rule "${said}")
  message("${step} ${ARGN}: ${rule}")
  if(status EQUAL 0 OR NOT rule)
    message(SEND_ERROR "${step} with ${ARGN}: not refused by a static_assert that names the rule:\n${said}")
  endif()
endfunction()

refused(03_tiled BK=24)              # rows of a tile that threads do not cover
refused(03_tiled BM=64)              # more threads than a block holds
refused(04_regblock BM=128 BN=256 BK=8 TM=8 TN=4 WARPS_M=4 WARPS_N=1) # lanes that do not make a warp
refused(04_regblock PAD_A=1)         # rows that 16-byte vectors do not fit
refused(04_regblock STAGES=4)         # more shared memory than a block may have
refused(05_wmma BM=128 BN=256 BK=8 WARPS_M=4 WARPS_N=1)
refused(05_wmma BM=48)               # fragments that do not cover the tile
refused(05_wmma PAD_B=1)
refused(06_wmma_db STAGES=1)          # a loop that alternates between two stages
refused(11_barrier STAGES=3)         # the same, with two barriers
refused(12_pipeline STAGES=4)
refused(08_reduction_async THREADS=100) # warps that are not whole
refused(09_scan_async THREADS=100)
