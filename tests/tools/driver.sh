#!/bin/sh
# What is said of drivers and GPUs that are made up by libcuda.so.1 in FOLDER, see fake/driver.c:
# driver.sh FOLDER DOCTOR DOCTOR_WITHOUT_NVCC DOCTOR_WITHOUT_WISH THIS_DOCTOR [GPU_PROGRAM]
folder=$1 doctor=$2 no_nvcc=$3 no_wish=$4 this=$5 program=$6
bad=0
. "$(dirname "$0")/../expect.sh"
LD_LIBRARY_PATH=$folder
PATH=/usr/bin:/bin # without NVIDIA's tools
export LD_LIBRARY_PATH PATH
unset OVERLAP_REQUIRE_GPU

# ---- a doctor of programs that need CUDA 13.0, built for sm_80 (code and PTX) and for sm_90 (code) ----
expect 0 'What was built can run' env FAKE_DRIVER=0 "$doctor"
expect 0 '^driver  *none; .*: sudo apt-get install nvidia-driver' env FAKE_DRIVER=0 "$doctor"
expect 0 '^GPU  *none' env FAKE_DRIVER=13000 "$doctor"
expect 0 '^GPU  *Fake GPU 1, sm_90, 86 GB' env FAKE_GPUS=2 "$doctor"
expect 0 'What was built can run' env FAKE_GPUS=2 "$doctor"
expect 0 'What was built can run' env FAKE_GPUS=1 FAKE_SM=86 "$doctor"
expect 0 'What was built can run' env FAKE_GPUS=1 FAKE_SM=100 "$doctor" # by the PTX
# A driver that is too old: driver, runtime, toolkit and the mend.
for line in '^driver  *serves CUDA 12.2' '^runtime  *13.0' '^toolkit  *nvcc 13.0.88' \
    '^driver  *WRONG: the driver serves CUDA 12.2, the programs need 13.0: update the driver (sudo apt-get' \
    'Something that was built cannot run'; do
    expect 1 "$line" env FAKE_DRIVER=12020 "$doctor"
done
expect 1 'WRONG: built for sm_{80,90-real}, this GPU is sm_75: cmake .*=75$' env FAKE_GPUS=1 FAKE_SM=75 "$doctor"
expect 1 'WRONG: this GPU is sm_61, Overlap needs sm_70' env FAKE_GPUS=1 FAKE_SM=61 "$doctor"
expect 1 'WRONG: the driver does not start (error 803): sudo reboot' env FAKE_GPUS=1 FAKE_INIT=803 "$doctor"
expect 0 '^doxygen  *\(found\|missing (site): sudo apt-get install doxygen\)' "$doctor"
expect 0 '^compute-sanitizer  *missing (tests): sudo apt-get install cuda-sanitizer-13-0' env FAKE_GPUS=1 "$doctor"
expect 0 '^CPU programs  *not built: cmake --build ' "$doctor"
expect 0 '^checked programs  *left out: cmake ' "$doctor"
expect 2 "unrecognized option '--all'" "$doctor" --all

# ---- a build without CUDA beside a GPU is wrong, unless it was wished ----
expect 1 'WRONG: the GPU is not used, for no nvcc: sudo apt-get install cuda-toolkit && cmake -S source -B /' env FAKE_GPUS=1 "$no_nvcc"
expect 0 '^toolkit  *not used: no nvcc' "$no_nvcc"
expect 0 'What was built can run' env FAKE_GPUS=1 "$no_wish"

# ---- this build ----
expect 0 '^CPU programs  *01_naive verifies' "$this"
expect 1 '^CPU programs  *WRONG: CPU device: .*Cannot allocate memory' sh -c 'ulimit -v 100000; exec "$0"' "$this"

# ---- a program of this build, by CUDA's own runtime ----
if [ -n "$program" ]; then
    expect 77 '^no GPU: there is no NVIDIA driver' env FAKE_DRIVER=0 "$program"
    expect 77 '^no GPU: the driver lists none' "$program"
    expect 1 '^no GPU: the driver lists none' env OVERLAP_REQUIRE_GPU=1 "$program"
    expect 1 '^the driver serves CUDA 10.2, the programs need [0-9.]*: update the driver' env FAKE_DRIVER=10020 "$program"
    expect 1 '^the driver does not start: cudaErrorSystemDriverMismatch' env FAKE_INIT=803 "$program"
    expect 1 '^driver  *WRONG: the driver serves CUDA 10.2' env FAKE_DRIVER=10020 "$this"
fi
exit $bad
