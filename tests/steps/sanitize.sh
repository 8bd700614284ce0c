#!/bin/sh
# Runs a step under one tool of compute-sanitizer, at odd sizes: sanitize.sh SANITIZER TOOL PROGRAM TRACK
sanitizer=$1 tool=$2 program=$3 track=$4
case $track in
gemm) set -- --shape 1x1x1,33x32x32,35x79x19,1x105x107,130x66x81,257x129x33 ;;
*) set -- --shape 1,33,1000,1025,100003 ;;
esac
# Without a GPU the program says so, and the sanitizer has nothing to do.
"$program" --verify-only "$@" >/dev/null || exit $?
[ -x "$sanitizer" ] || sanitizer=$(command -v compute-sanitizer)
if ! [ -x "$sanitizer" ]; then
    echo "compute-sanitizer not found"
    [ "$OVERLAP_REQUIRE_GPU" = 1 ] && exit 1
    exit 77
fi
exec "$sanitizer" --tool "$tool" --error-exitcode 1 "$program" --verify-only "$@"
