#!/bin/sh
# test.sh CMAKE SOURCE [OPTION ...]: the CMake that common/cpu/README.md prints builds a program, which runs.
cmake=$1 source=$2
shift 2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/common" && cp -r "$source/common/cpu" "$folder/common" && cp "$source"/tests/cpu/readme/*.c* "$folder" || exit 1
sed -n '/^```cmake$/,/^```$/{/^```/!p;}' "$source/common/cpu/README.md" >"$folder/CMakeLists.txt"
"$cmake" -S "$folder" -B "$folder/build" "$@" && "$cmake" --build "$folder/build" --target example && "$folder/build/example"
