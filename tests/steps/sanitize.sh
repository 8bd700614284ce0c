#!/bin/sh
# Runs a step under one tool of compute-sanitizer, at odd sizes: sanitize.sh SANITIZER TOOL PROGRAM SHAPES
sanitizer=$1 tool=$2 program=$3
set -- --shape "$4"
# Without a GPU the program says so, and the sanitizer has nothing to do.
"$program" --verify-only "$@" >/dev/null || exit $?
[ -x "$sanitizer" ] || sanitizer=$(command -v compute-sanitizer)
if ! [ -x "$sanitizer" ]; then
    echo "compute-sanitizer not found"
    [ "$OVERLAP_REQUIRE_GPU" = 1 ] && exit 1
    exit 77
fi
exec "$sanitizer" --tool "$tool" --error-exitcode 1 "$program" --verify-only "$@"
