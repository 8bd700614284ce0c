# The track reduce, see gemm/track.cmake for the words.
set(TRACK_reduce_SYMBOLS reduce reduce_workspace) # reduce.h
set(TRACK_reduce_SOURCES ../vector/vector_problem.c)
set(TRACK_reduce_GPU_SOURCES ../vector/cub.cu)
include(${CMAKE_CURRENT_LIST_DIR}/../vector/vector.cmake)
set(TRACK_reduce_TEST_CPU "ones --shape 2^25") # more than FP32 can count one by one
# 08's 396 blocks have 794 tiles here: two of them go three times through its loop, the others twice.
list(APPEND TRACK_reduce_CHECK_VALUES "--shape 6500003 --schedule forward-late")
