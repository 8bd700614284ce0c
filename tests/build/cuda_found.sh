#!/bin/sh
# What common/cmake/Gpu.cmake makes of CUDA compilers that are made up: cuda_found.sh CMAKE SOURCE
cmake=$1 source=$2
bad=0
. "$(dirname "$0")/../expect.sh"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cat >"$folder/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(found LANGUAGES NONE)
include("$source/common/cmake/Gpu.cmake")
message(STATUS "missing: \${OVERLAP_GPU_MISSING}")
END
printf '#!/bin/sh\necho compute_75\necho compute_80\necho compute_90\n' >"$folder/nvcc"
printf '#!/bin/sh\necho "unknown option: $1" >&2\nexit 1\n' >"$folder/old-nvcc"
chmod +x "$folder/nvcc" "$folder/old-nvcc"
unset CUDAARCHS

# found STATUS PATTERN NVCC OPTION...: configures afresh; CMake wraps its messages, so their words are one line here.
found() {
    wanted=$1 words=$2 nvcc=$3
    shift 3
    rm -rf "$folder/build"
    expect "$wanted" "$words" sh -c 'said=$("$@" 2>&1); got=$?; echo "$said" | tr -s "\n " " "; exit $got' - \
        env CUDACXX="$nvcc" "$cmake" -S "$folder" -B "$folder/build" "$@"
}
found 1 'OVERLAP_GPU=MAYBE: not allowed; allowed: AUTO, ON, OFF' "$folder/nvcc" -DOVERLAP_GPU=MAYBE
found 0 'left out (OVERLAP_GPU=OFF).*missing: OVERLAP_GPU=OFF' "$folder/nvcc" -DOVERLAP_GPU=OFF
found 1 '/nowhere/nvcc does not exist; set CUDACXX' /nowhere/nvcc -DOVERLAP_GPU=ON
found 1 'OVERLAP_GPU=ON: .*old-nvcc --list-gpu-arch failed, CUDA 12 or newer is needed' "$folder/old-nvcc" -DOVERLAP_GPU=ON
found 0 'left out (.*old-nvcc --list-gpu-arch failed, CUDA 12 or newer is needed)' "$folder/old-nvcc"
found 1 'CMAKE_CUDA_ARCHITECTURES=60: .*nvcc does not build for it; allowed: 75, 80, 90' "$folder/nvcc" -DCMAKE_CUDA_ARCHITECTURES=60
found 1 'CMAKE_CUDA_ARCHITECTURES=120: ' "$folder/nvcc" '-DCMAKE_CUDA_ARCHITECTURES=80;120'
exit $bad
