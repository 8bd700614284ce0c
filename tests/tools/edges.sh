#!/bin/sh
# Where programs end early: a full disk, Ctrl-C, a second ladder, no memory, an odd path: edges.sh STEP_PROGRAM LADDER FAKE_LADDER FAKE_DRIVER
# FAKE_LADDER has steps that are made up, see fake/steps.c; in the folder FAKE_DRIVER lies a libcuda.so.1, see fake/driver.c.
step=$1 ladder=$2 fake_ladder=$3 fake_driver=$4
bad=0
. "$(dirname "$0")/../expect.sh"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# ---- a full disk ----
expect 1 '/dev/full could not be written: No space left' "$step" --shape 3x5x7,5x5x5 --json /dev/full
expect 1 'stdout could not be written: No space left' sh -c '"$0" --shape 3x5x7 >/dev/full' "$step"
expect 1 '/dev/full could not be written: No space left' "$ladder" --cpu --steps 01_naive --shapes 3x5x7 --csv /dev/full
expect 1 'stdout could not be written: No space left' sh -c '"$0" --cpu --steps 01_naive --shapes 3x5x7 >/dev/full' "$ladder"

for program in "$step" "$ladder"; do
    for option in --help --list; do
        expect 1 'stdout could not be written: No space left' sh -c '"$0" $1 >/dev/full' "$program" $option
    done
done

# ---- a closed stdout: no file gets its number ----
expect 1 'stdout could not be written: Bad file descriptor' sh -c '"$0" --shape 3x5x7 --csv "$1" >&-' "$step" "$folder/csv"
expect 0 '^1$' grep -c 3x5x7 "$folder/csv"

# ---- a time limit ----
for limit in 0 0.0 1e10 inf; do
    expect 0 ' yes$' env CPU_DEVICE_TIMEOUT=$limit "$step" --shape 3x5x7
done
for limit in '' abc nan -1 5s; do
    expect 2 "^CPU_DEVICE_TIMEOUT $limit: not allowed; allowed: seconds" env CPU_DEVICE_TIMEOUT=$limit "$step" --shape 3x5x7
done

# ---- no GPU: skipped, with the reason; a failure where there must be one ----
expect 77 'no GPU program: why' env OVERLAP_REQUIRE_GPU=0 sh "$(dirname "$0")/../no_gpu.sh" why
expect 1 'no GPU program: why' env OVERLAP_REQUIRE_GPU=1 sh "$(dirname "$0")/../no_gpu.sh" why

# ---- no memory ----
expect 1 'Cannot allocate memory' sh -c 'ulimit -v 100000; exec "$0" --shape 3x5x7' "$step"
expect 1 'FAILED.*Cannot allocate memory' sh -c 'ulimit -v 100000; exec "$0" --cpu --steps 01_naive --shapes 3x5x7' "$ladder"

# ---- paths with a space, one that is a folder, and the same one twice ----
odd="$folder/a b"
mkdir -p "$odd/cpu"
cp "$ladder" "$odd/ladder"
cp "$step" "$odd/cpu/01_naive"
expect 0 '^1 verified' "$odd/ladder" --cpu --steps 01_naive --shapes 3x5x7 --csv "$odd/of rows.csv"
expect 0 '^01_naive,.*,verified,' cat "$odd/of rows.csv"
expect 2 'a b: cannot be written: Is a directory' "$odd/ladder" --cpu --csv "$odd"
expect 2 'a b/x: cannot be written: another option names it too' "$odd/ladder" --cpu --csv "$odd/x" --json "$odd/../a b/x"

# ---- Ctrl-C in the middle: a made-up program measures one shape, and would take a minute for the next ----
cat >"$odd/slow" <<'END'
#!/bin/sh
echo '01_naive,,CPU device,7x1x1,7,1,1,f32,,verified,1e-7,,,,,,,,,,,,,,,,,,'
exec sleep 60
END
chmod +x "$odd/slow"
mv "$odd/slow" "$odd/cpu/01_naive"
# Starts a ladder with these options, and waits until its first row is written.
start_ladder() {
    rm -f "$odd/csv" # whose rows would be taken for this one's
    "$odd/ladder" --steps 01_naive --shapes 7x1x1,2x1x1 --csv "$odd/csv" "$@" >"$odd/out" 2>"$odd/err" &
    first=$!
    tries=0
    until grep -qs 7x1x1 "$odd/csv" || [ $tries -eq 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
}
interrupt_ladder() {
    kill -INT $first
    wait $first
    expect 130 '' sh -c "exit $?"
}
start_ladder --cpu --json "$odd/json"
expect 2 'csv: cannot be written: another program is writing it' "$ladder" --cpu --csv "$odd/csv"
interrupt_ladder
expect 0 '^01_naive,.*,7x1x1,.*,verified,' cat "$odd/csv"
expect 0 '"shape": "7x1x1"' python3 -m json.tool "$odd/json"
expect 0 '^interrupted: ' cat "$odd/err"
expect 0 '^interrupted, so not complete: 1 verified, 0 failed, 0 skipped' cat "$odd/out"

# ---- two ladders on one GPU, whatever CUDA_VISIBLE_DEVICES calls it; with a driver, and without ----
mkdir "$odd/gpu"
mv "$odd/cpu/01_naive" "$odd/gpu/01_naive"
cp "$fake_ladder" "$odd/ladder"
export FAKE_BUS=edges-$$ LD_LIBRARY_PATH="$fake_driver"
refused='another ladder is at work on the GPU'
export CUDA_VISIBLE_DEVICES=0 FAKE_GPUS=2
start_ladder --gpu
for same in 0 0,1 GPU-fake-0; do
    expect 2 "$refused" env CUDA_VISIBLE_DEVICES=$same "$odd/ladder" --gpu --steps 01_naive
done
expect 77 'needs sm_90a' env CUDA_VISIBLE_DEVICES=1,0 FAKE_SM=100 "$odd/ladder" --gpu --steps 90_exact --shapes 7x1x1
interrupt_ladder
CUDA_VISIBLE_DEVICES=edges-$$ FAKE_GPUS=0
start_ladder --gpu
expect 2 "$refused" env CUDA_VISIBLE_DEVICES=edges-$$,1 "$odd/ladder" --gpu --steps 01_naive
interrupt_ladder
exit $bad
