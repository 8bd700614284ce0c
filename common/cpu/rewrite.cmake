# cmake -D KERNEL=kernel.cu -D COPY=kernel.cu.cpp -P rewrite.cmake
#
# Makes a C++ file of a CUDA file, line for line. What is between <<< and >>> may span lines but
# holds no semicolon, and a statement holds one launch.
file(READ "${KERNEL}" text)
string(REGEX REPLACE "<<<([^;]*)>>>" " ->* cpu::configure(\\1)" text "${text}")
# A place for alignas that nvcc takes and C++ does not.
string(REGEX REPLACE "__shared__[ \t]+alignas\\(" "__shared__ __align__(" text "${text}")
file(WRITE "${COPY}" "#include <cuda_runtime.h>\n#line 1 \"${KERNEL}\"\n${text}")
