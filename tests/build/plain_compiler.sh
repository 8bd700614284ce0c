#!/bin/sh
# With a GCC that has no sanitizers the checked programs are left out, and the rest is configured:
# plain_compiler.sh CMAKE SOURCE C_COMPILER CXX_COMPILER [OPTION ...]    OPTION: more for CMake
cmake=$1 source=$2 c=$3 cxx=$4
shift 4
bad=0
. "$(dirname "$0")/../expect.sh"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cat >"$folder/c++" <<END
#!/bin/sh
case " \$* " in *" -fsanitize="*) echo "error: -fsanitize is not supported for this target" >&2; exit 1 ;; esac
exec "$cxx" "\$@"
END
chmod +x "$folder/c++"
expect 0 'Build files have been written' "$cmake" -S "$source" -B "$folder/build" -DCMAKE_C_COMPILER="$c" \
    -DCMAKE_CXX_COMPILER="$folder/c++" -DOVERLAP_GPU=OFF "$@"
printf '%s\n' "$said" >"$folder/said"
expect 0 'Checked programs: left out (they need GCC with -fsanitize=thread' cat "$folder/said"
expect 0 'cpu-kernel-01_naive' "$cmake" --build "$folder/build" --target help
exit $bad
