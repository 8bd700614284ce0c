# The track gemm: C (M x N) = A (M x K) * B (K x N). What the build, the tests and the scripts must know of a track stands
# here, and nowhere else; course.json has it all, in lower case and as lists.
set(TRACK_gemm_SYMBOLS gemm)                                 # what a kernel.cu defines, see gemm.h
set(TRACK_gemm_SOURCES gemm_problem.c)                       # of the judge; beside it GPU_SOURCES and CPU_SOURCES
set(TRACK_gemm_GPU_SOURCES cublas.c)
set(TRACK_gemm_KIND gemm)                                    # of its sizes: gemm is MxNxK, vector a length
set(TRACK_gemm_TIMED book)                                   # the size of predictions and verdicts
set(TRACK_gemm_LADDER book square-4096 square-8192)          # the sizes of the table of results
set(TRACK_gemm_PROFILED book 256x128x256)                    # the sizes of hardware counters
set(TRACK_gemm_COUNTED "--shape 160x96x80" "--shape 33x40x129 --pad 1") # counters: whole tiles, then rows that start anywhere
# What CTest runs of every step, as `NAME ARGUMENTS`: sizes that show a fault soon. THOROUGH, and also every one of SETS of
# shapes.txt, and ODD with each of SHIFTS, for rows that are not aligned: on a GPU, and under `ctest -C thorough`. CPU
# and GPU: there alone; those of the CPU device are thorough.
set(TRACK_gemm_TEST "edges --shape 0x5x7,64x48x0,1x1x1,2x4x3,3x3x161,17x19x17,33x32x32,128x64x16,35x79x19,33x17x48,130x66x33"
    "odd --shape 2x4x3,35x79x19,130x66x33 --pad 1")
set(TRACK_gemm_TEST_SETS test k-tiles)
set(TRACK_gemm_TEST_ODD 2x4x3,33x32x32,35x79x19,1x105x107,160x96x224,130x66x81)
set(TRACK_gemm_TEST_SHIFTS "--pad 1" "--pad 2" "--pad 4")
set(TRACK_gemm_TEST_GPU "limits --shape gpu --repeats 3" "index --shape index --repeats 3")
set(TRACK_gemm_TEST_CHECKED "tiles --shape 35x79x19,72x48x80")
set(TRACK_gemm_TEST_CHECKED_THOROUGH "edges --shape 130x66x81" "odd --shape 33x40x129 --pad 1")
set(TRACK_gemm_TEST_VARIANT "edges --shape 33x17x65,130x66x17")
set(TRACK_gemm_TEST_VARIANT_THOROUGH "test --shape 1x105x107,160x96x224,33x17x129,257x129x33"
    "odd --shape 35x79x19,130x66x81 --pad 1")
set(TRACK_gemm_TEST_SANITIZED 1x1x1,33x32x32,35x79x19,1x105x107,130x66x81,257x129x33)
set(TRACK_gemm_TEST_TRAP "--shape 160x96x224")               # a planted bug, unless its header says otherwise
set(TRACK_gemm_TEST_RACE "--shape 72x48x80")                 # a planted race: several iterations, as small as can be
# What build/check runs: for values beside the sets, and for races.
set(TRACK_gemm_CHECK_ODD 2x4x3,33x32x32,35x79x19,1x105x107,160x96x32,130x66x81)
set(TRACK_gemm_CHECK_VALUES "--shape 96x160x32")
set(TRACK_gemm_CHECK_RACES "--shape 35x79x19,66x40x49" "--shape 72x48x80" "--shape 33x40x65 --pad 1")
