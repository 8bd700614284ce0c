# build/check and build/start, which are programs of common/tools in Python, and what they must know of the build:
# build/generated/check.json. A list is a text with semicolons there. OVERLAP_CHECK: whether they are made.
set(OVERLAP_CHECK FALSE)
find_package(Python3 3.10 COMPONENTS Interpreter)
get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT Python3_FOUND OR multi)
  message(STATUS "build/check, build/start: left out (they need Python 3.10, and a generator of one configuration)")
  return()
endif()

set(OVERLAP_CHECK TRUE)

set(flavours cpu)
if(CPU_DEVICE_CHECKED)
  list(APPEND flavours cpu-checked)
endif()
# C++ lets a compiler assume that a loop without effect ends; and a large frame may reach beyond a stack's guard.
include(CheckCXXCompilerFlag)
set(flags "")
foreach(flag IN ITEMS -fno-finite-loops -fstack-clash-protection)
  string(MAKE_C_IDENTIFIER CHECK${flag} known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    list(APPEND flags ${flag})
  endif()
endforeach()
set(libraries "")
foreach(library IN ITEMS overlap_base cpu_device Boost::context)
  list(APPEND libraries $<TARGET_FILE:${library}>)
endforeach()
list(APPEND libraries -Wl,--end-group -lm -pthread -ldl)
set(cpu_libraries -Wl,--start-group $<TARGET_FILE:overlap_cpu> ${libraries})
set(cpu-checked_libraries "")
set(gpu_libraries "")
if(CPU_DEVICE_CHECKED)
  set(cpu-checked_libraries ${cpu_libraries})
  list(INSERT cpu-checked_libraries 1 $<TARGET_FILE:cpu_device_checked>)
endif()
if(OVERLAP_HAVE_GPU)
  set(gpu_libraries $<TARGET_FILE:overlap_gpu> $<TARGET_FILE:overlap_base> $<TARGET_FILE:CUDA::cudart_static>
      $<TARGET_FILE:CUDA::cublas> -Wl,-rpath,$<TARGET_FILE_DIR:CUDA::cublas> -lm -lrt -pthread -ldl)
endif()

set(steps "")
set(comma "")
foreach(name IN LISTS OVERLAP_STEPS)
  string(REPLACE "baseline" "${name}_baseline" base "${STEP_${name}_BASE}")
  set(objects "")
  foreach(flavour IN LISTS flavours)
    string(APPEND objects "\"${flavour}\": \"$<TARGET_OBJECTS:${flavour}-${name}>")
    if(NOT base STREQUAL "-")
      string(APPEND objects ";$<TARGET_OBJECTS:${flavour}-kernel-${base}>")
    endif()
    string(APPEND objects "\", ")
  endforeach()
  set(gpu "")
  if(NOT STEP_${name}_MISSING)
    set(gpu $<TARGET_OBJECTS:gpu-kernel-${name}>)
  endif()
  string(APPEND steps "${comma}
\"${name}\": {\"base\": \"${STEP_${name}_BASE}\", \"track\": \"${STEP_${name}_TRACK}\", \"missing\": \"${STEP_${name}_MISSING}\",
  \"symbols\": \"${TRACK_${STEP_${name}_TRACK}_SYMBOLS}\", \"objects\": {${objects}\"gpu\": \"${gpu}\"}}")
  set(comma ",")
endforeach()
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/generated/check.json CONTENT "{
\"source\": \"${CMAKE_SOURCE_DIR}\", \"folder\": \"${CMAKE_BINARY_DIR}\", \"cmake\": \"${CMAKE_COMMAND}\",
\"cxx\": \"${CMAKE_CXX_COMPILER}\", \"link_flags\": \"${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} ${CMAKE_EXE_LINKER_FLAGS}\",
\"flavours\": \"${flavours}\", \"flags\": \"${flags}\",
\"libraries\": {\"cpu\": \"${cpu_libraries}\", \"cpu-checked\": \"${cpu-checked_libraries}\", \"gpu\": \"${gpu_libraries}\"},
\"steps\": {${steps}}}
")
foreach(tool IN ITEMS check start)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/${tool} CONTENT "#!/bin/sh
exec \"${Python3_EXECUTABLE}\" -B \"${CMAKE_SOURCE_DIR}/common/tools/${tool}.py\" \\
    --settings \"${CMAKE_BINARY_DIR}/generated/check.json\" --program \"$0\" \"$@\"
" FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()
