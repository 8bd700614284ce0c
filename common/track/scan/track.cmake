# The track scan, see gemm/track.cmake for the words.
set(TRACK_scan_SYMBOLS scan scan_workspace) # scan.h
set(TRACK_scan_SOURCES ../vector/vector_problem.c)
set(TRACK_scan_GPU_SOURCES ../vector/cub.cu)
include(${CMAKE_CURRENT_LIST_DIR}/../vector/vector.cmake)
# 36 tiles of 09: a look-back that meets 32 without a prefix, and goes on.
list(APPEND TRACK_scan_CHECK_RACES "--shape 1200000 --schedule random-3")
