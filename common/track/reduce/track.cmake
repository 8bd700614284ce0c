# The track reduce, see gemm/track.cmake for the words.
set(TRACK_reduce_SYMBOLS reduce reduce_workspace) # reduce.h
set(TRACK_reduce_SOURCES ../vector_problem.c)
include(${CMAKE_CURRENT_LIST_DIR}/../vector.cmake)
