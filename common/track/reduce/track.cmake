# The track reduce, see gemm/track.cmake for the words.
set(TRACK_reduce_SYMBOLS reduce reduce_workspace) # reduce.h
set(TRACK_reduce_SOURCES ../vector_problem.c)
include(${CMAKE_CURRENT_LIST_DIR}/../vector.cmake)
# More ones than an FP32 sum can count one by one.
list(APPEND TRACK_reduce_TEST_THOROUGH "ones --shape 2^25 --schedule forward-late")
