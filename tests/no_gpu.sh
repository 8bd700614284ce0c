#!/bin/sh
# Stands for the GPU tests of a step that has no GPU program: skipped, with the reason.
echo "no GPU program: $1"
[ "$OVERLAP_REQUIRE_GPU" = 1 ] && exit 1
exit 77
