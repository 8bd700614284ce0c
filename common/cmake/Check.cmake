# build/check, build/start and build/picture, which are programs of common/tools in Python, and what they need to compile and link a
# kernel of a student; Course.cmake writes it down.
#
# CHECK_FLAVOURS                         of the CPU device: cpu, cpu-checked; none if the programs are not made
# CHECK_FLAGS                            more flags for their kernels
# CHECK_LIBRARIES_{cpu,cpu-checked,gpu}  what a program of the flavour is linked with
set(CHECK_FLAVOURS "")
get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT Python3_FOUND OR multi)
  message(STATUS "build/check, build/start, build/picture: left out (they need Python 3.10, and a generator of one configuration)")
  return()
endif()

# C++ lets a compiler assume that a loop without effect ends; and a large frame may reach beyond a stack's guard.
include(CheckCXXCompilerFlag)
set(CHECK_FLAGS "")
foreach(flag IN ITEMS -fno-finite-loops -fstack-clash-protection)
  string(MAKE_C_IDENTIFIER CHECK${flag} known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    list(APPEND CHECK_FLAGS ${flag})
  endif()
endforeach()
set(libraries overlap_cpu overlap_base cpu_device Boost::context)
list(TRANSFORM libraries REPLACE ".+" "$<TARGET_FILE:\\0>")
set(CHECK_FLAVOURS cpu)
set(CHECK_LIBRARIES_cpu -Wl,--start-group ${libraries} -Wl,--end-group -lm -pthread -ldl)
if(CPU_DEVICE_CHECKED)
  list(APPEND CHECK_FLAVOURS cpu-checked)
  set(CHECK_LIBRARIES_cpu-checked ${CHECK_LIBRARIES_cpu})
  list(INSERT CHECK_LIBRARIES_cpu-checked 1 $<TARGET_FILE:cpu_device_checked>)
endif()
if(OVERLAP_HAVE_GPU)
  set(CHECK_LIBRARIES_gpu overlap_gpu overlap_base CUDA::cudart_static CUDA::cublas)
  list(TRANSFORM CHECK_LIBRARIES_gpu REPLACE ".+" "$<TARGET_FILE:\\0>")
  list(APPEND CHECK_LIBRARIES_gpu -Wl,-rpath,$<TARGET_FILE_DIR:CUDA::cublas> -lm -lrt -pthread -ldl)
endif()
foreach(tool IN ITEMS check start picture)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/${tool} CONTENT "#!/bin/sh
export OVERLAP_BUILD=\"${CMAKE_BINARY_DIR}\"
exec \"${Python3_EXECUTABLE}\" -B \"${CMAKE_SOURCE_DIR}/common/tools/${tool}.py\" \\
    --settings \"${CMAKE_BINARY_DIR}/generated/course.json\" --program \"$0\" \"$@\"
" FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()
