# The CPU device: the library cpu_device, and cpu_device_object() for the kernels that it runs.
#
# CPU_DEVICE_CHECKED  whether the checked flavour can be built: races and counters

find_package(Threads REQUIRED)
find_package(Boost CONFIG REQUIRED COMPONENTS context) # the module is gone from newer CMake

include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-ftrivial-auto-var-init=pattern CPU_DEVICE_PATTERN)

set(CPU_DEVICE_DIR ${CMAKE_CURRENT_LIST_DIR})

set(sources
    core/memory.cpp core/program.cpp core/runtime.cpp core/scheduler.cpp core/shared.cpp core/stacks.cpp
    faults/crash.cpp faults/faults.cpp
    ops/atomics.cpp ops/barrier.cpp ops/cp_async.cpp ops/memcpy_async.cpp ops/memory_barrier.cpp ops/pipeline.cpp
    ops/warp.cpp ops/wmma.cpp)
list(TRANSFORM sources PREPEND ${CPU_DEVICE_DIR}/)
add_library(cpu_device STATIC ${sources})
# Before everything else: a program for the CPU device must not see the real CUDA's headers.
target_include_directories(cpu_device BEFORE PUBLIC ${CPU_DEVICE_DIR}/include ${CPU_DEVICE_DIR}
    ${CPU_DEVICE_DIR}/..)
target_compile_features(cpu_device PUBLIC cxx_std_17)
target_compile_options(cpu_device PRIVATE -O3 -g -Wall -Wextra)
target_link_libraries(cpu_device PRIVATE Boost::context Threads::Threads ${CMAKE_DL_LIBS})

# Only the instrumentation of -fsanitize=thread is needed, not its library: compiled, not linked.
set(CPU_DEVICE_TRACING -fsanitize=thread --param=tsan-instrument-func-entry-exit=0 --param=tsan-distinguish-volatile=1)
set(CPU_DEVICE_CHECKED FALSE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|aarch64)$")
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
    list(JOIN CPU_DEVICE_TRACING " " flags)
    check_cxx_compiler_flag("${flags}" CPU_DEVICE_TRACES)
    unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
    set(CPU_DEVICE_CHECKED ${CPU_DEVICE_TRACES})
endif()
if(CPU_DEVICE_CHECKED)
    add_library(cpu_device_checked STATIC ${CPU_DEVICE_DIR}/checked/counters.cpp ${CPU_DEVICE_DIR}/checked/races.cpp)
    target_compile_options(cpu_device_checked PRIVATE -O2 -g -Wall -Wextra)
    target_link_libraries(cpu_device_checked PUBLIC cpu_device PRIVATE Boost::context)
else()
    message(STATUS "Checked programs: left out (they need GCC with -fsanitize=thread on x86-64 or aarch64; this is "
        "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} on ${CMAKE_SYSTEM_PROCESSOR})")
endif()

# cpu_device_object(<target> <path/to/kernel.cu> [CHECKED] [DEFINES name=value ...])
#
# Makes <target>, an object library of the kernel for the CPU device. Link it, as a whole, into an
# executable: not into a shared library, whose thread-local memory lies elsewhere. CHECKED makes the
# checked flavour of it; the executable then links cpu_device_checked.
function(cpu_device_object target kernel)
    cmake_parse_arguments(PARSE_ARGV 2 arg "CHECKED" "" "DEFINES")
    get_filename_component(kernel ${kernel} ABSOLUTE)
    get_filename_component(folder ${kernel} DIRECTORY)
    get_filename_component(step ${folder} NAME)
    get_filename_component(file ${kernel} NAME)
    set(copy ${CMAKE_CURRENT_BINARY_DIR}/${target}.dir/${step}/${file}.cpp)
    add_custom_command(OUTPUT ${copy}
        COMMAND ${CMAKE_COMMAND} -D KERNEL=${kernel} -D COPY=${copy}
            -P ${CPU_DEVICE_DIR}/rewrite.cmake
        DEPENDS ${kernel} ${CPU_DEVICE_DIR}/rewrite.cmake
        COMMENT "Rewriting ${step}/${file} for the CPU device" VERBATIM)
    add_library(${target} OBJECT ${copy})
    target_link_libraries(${target} PUBLIC cpu_device)
    target_include_directories(${target} PRIVATE ${folder})
    target_compile_definitions(${target} PRIVATE ${arg_DEFINES})
    # -fno-strict-aliasing: *(float4 *)&tile[row][col] is everyday CUDA.
    # -fno-optimize-sibling-calls, -crossjumping, -tree-tail-merge: calls keep their lines.
    # -ftrivial-auto-var-init: a forgotten acc[i][j] = 0 is huge rather than zero by luck.
    # -fno-extern-tls-init: `extern __shared__` needs no initialisation. Clang has no such option.
    target_compile_options(${target} PRIVATE -O2 -g -Wall -Wextra -Wno-unknown-pragmas
        -fno-strict-aliasing -fno-optimize-sibling-calls
        $<$<CXX_COMPILER_ID:GNU>:-fno-extern-tls-init;-fno-crossjumping;-fno-tree-tail-merge>
        $<$<BOOL:${CPU_DEVICE_PATTERN}>:-ftrivial-auto-var-init=pattern>)
    if(arg_CHECKED)
        # -O2 whatever the build type, and everything inlined, as on the device: counters do not depend on
        # it. -fno-tree-sra, -fno-ipa-sra: a float4 is read and written as a whole.
        target_link_libraries(${target} PUBLIC cpu_device_checked)
        target_compile_options(${target} PRIVATE -O2 -finline-limit=100000 -fno-tree-sra -fno-ipa-sra
            ${CPU_DEVICE_TRACING})
    endif()
endfunction()
