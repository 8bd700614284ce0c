# The CPU device: the library cpu_device, and cpu_device_object() for the kernels that it runs.

find_package(Threads REQUIRED)
find_package(Boost REQUIRED COMPONENTS context)

include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-ftrivial-auto-var-init=pattern CPU_DEVICE_PATTERN)

set(CPU_DEVICE_DIR ${CMAKE_CURRENT_LIST_DIR})

add_library(cpu_device STATIC
    ${CPU_DEVICE_DIR}/async_copy.cpp
    ${CPU_DEVICE_DIR}/atomics.cpp
    ${CPU_DEVICE_DIR}/crash.cpp
    ${CPU_DEVICE_DIR}/faults.cpp
    ${CPU_DEVICE_DIR}/kernels.cpp
    ${CPU_DEVICE_DIR}/meet.cpp
    ${CPU_DEVICE_DIR}/memory.cpp
    ${CPU_DEVICE_DIR}/runtime.cpp
    ${CPU_DEVICE_DIR}/scheduler.cpp
    ${CPU_DEVICE_DIR}/shared.cpp
    ${CPU_DEVICE_DIR}/stacks.cpp
    ${CPU_DEVICE_DIR}/symbols.cpp
    ${CPU_DEVICE_DIR}/wmma.cpp)
# Before everything else: a program for the CPU device must not see the real CUDA's headers.
target_include_directories(cpu_device BEFORE PUBLIC ${CPU_DEVICE_DIR}/include ${CPU_DEVICE_DIR}
    ${CPU_DEVICE_DIR}/..)
target_compile_features(cpu_device PUBLIC cxx_std_17)
target_compile_options(cpu_device PRIVATE -O2 -g -Wall -Wextra)
target_link_libraries(cpu_device PRIVATE Boost::context Threads::Threads ${CMAKE_DL_LIBS})

# cpu_device_object(<target> <path/to/kernel.cu> [DEFINES name=value ...])
#
# Makes <target>, an object library of the kernel for the CPU device. Link it, as a whole, into an
# executable: not into a shared library, whose thread-local memory lies elsewhere.
function(cpu_device_object target kernel)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "DEFINES")
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
endfunction()
