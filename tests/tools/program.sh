#!/bin/sh
# What the programs do with good and bad command lines: program.sh STEP_PROGRAM LADDER FAKE_LADDER FAKE_DRIVER
step=$1 ladder=$2 fake_ladder=$3 # which has steps that are made up, see fake/steps.c
bad=0

. "$(dirname "$0")/../expect.sh"

expect 0 'exit status: 0 verified' "$step" --help
expect 0 '^book ' "$step" --list
expect 0 ' yes$' "$step" --m 3 --n 5 --k 7
expect 0 ' yes$' "$step" --shape 0x5x7
expect 0 '^# date' "$step" --shape 3x5x7 --csv -
expect 0 '"status": "verified"' "$step" --shape 3x5x7 --json -
expect 0 ' yes$' "$step" --shape 3x5x7 --schedule reverse-late
expect 2 'schedule sideways: not allowed; allowed: forward-late' "$step" --schedule sideways
expect 2 'schedule forward-late,reverse-late: not allowed; ' "$step" --schedule forward-late,reverse-late
expect 2 'device 1: not allowed' "$step" --device 1
expect 2 'under cpu-checked/' "$step" --counters
expect 2 'base (alone): not allowed; allowed: with --counters' "$step" --base
expect 2 '^--m -4: not allowed; allowed: a whole number from 0' "$step" --m -4 --n 1 --k 1
expect 2 'needs .* GB of memory' "$step" --shape 1000000000x1000x1
expect 2 'cannot be written: No such file' "$step" --shape 3x5x7 --csv /nonexistent/file
expect 2 '^-: cannot be written: another option names it too' "$step" --shape 3x5x7 --csv - --json -
expect 1 'could not be written: No space left' "$step" --shape 3x5x7 --csv /dev/full

expect 0 'exit status: 0 verified' "$ladder" --help
expect 0 '^01_naive ' "$ladder" --list
expect 2 'steps 99_none: not allowed' "$ladder" --steps 99_none
expect 2 'samples 0: not allowed' "$ladder" --samples 0
expect 2 'cannot be written: No such file' "$ladder" --cpu --csv /nonexistent/file
expect 0 '^1 verified, 0 failed, 0 skipped' "$ladder" --cpu --steps 01_naive --shapes 3x5x7,3x5x7
expect 2 "'nowhere': allowed are MxNxK (each 0 to 2147483392) or 0 to 2^33, such" "$ladder" --shapes nowhere
expect 77 'too large for the CPU device' "$ladder" --cpu --steps 01_naive --shapes square-8192
expect 0 '"rows": ' "$ladder" --cpu --steps 01_naive --shapes 3x5x7 --json -

# A made-up GPU program beside the real CPU one: rows in the order of the shapes, a library once a shape,
# the facts of both devices, and the shapes behind one that ended the program are not called failed.
fake=$(mktemp -d)
trap 'rm -rf "$fake"' EXIT
mkdir "$fake/gpu" "$fake/cpu"
cp "$fake_ladder" "$fake/ladder"
ln -s "$step" "$fake/cpu/01_naive"
{
    echo '#!/bin/sh'
    echo 'echo "# device: Fake GPU"'
    for shape in 7x1x1 2x1x1; do
        echo "echo '01_naive,,Fake GPU,$shape,1,1,1,f32,,verified,1e-7,TFLOP/s,1,1,1,9,5,cold,50,9,,,,,,,,,'"
        echo "echo 'cuBLAS FP32,,Fake GPU,$shape,1,1,1,f32,,library,,TFLOP/s,2,2,2,9,5,cold,,9,,,,,,,,,'"
    done
    echo 'echo "the third shape is at fault" >&2'
    echo 'exit 1'
} >"$fake/gpu/01_naive"
chmod +x "$fake/gpu/01_naive"
said=$(CUDA_VISIBLE_DEVICES=program-$$ "$fake/ladder" --steps 01_naive --shapes 7x1x1,2x1x1,3x1x1,4x1x1 2>/dev/null)
order=$(printf '%s\n' "$said" | sed -n 's/^\([0-9a-zA-Z_]*\).*\(Fake GPU\|GPU\) *\([0-9]x1x1\) *\([a-zA-Z]*\).*/\1 \3 \4/p' | tr '\n' ';')
wanted='01_naive 7x1x1 yes;cuBLAS 7x1x1 library;01_naive 2x1x1 yes;cuBLAS 2x1x1 library;01_naive 3x1x1 FAILED;01_naive 4x1x1 skipped;'
if [ "$order" != "$wanted" ]; then
    echo "FAILED: rows '$order', wanted '$wanted'; said: $said"
    bad=1
fi
for pattern in '^device: Fake GPU' '^device: CPU device' 'third shape is at fault' 'ended at 3x1x1' '^6 verified, 1 failed, 1 skipped'; do
    if ! printf '%s\n' "$said" | grep -q "$pattern"; then
        echo "FAILED: wanted '$pattern'; said: $said"
        bad=1
    fi
done

# ---- what a GPU must be, by the made-up driver: see fake/driver.c ----
export LD_LIBRARY_PATH="$4" FAKE_GPUS=1 FAKE_BUS=program-$$
expect 77 'needs sm_90a, this GPU is sm_100$' env FAKE_SM=100 "$fake/ladder" --gpu --steps 90_exact --shapes 7x1x1
expect 77 'needs sm_90 or newer, this GPU is sm_80$' env FAKE_SM=80 "$fake/ladder" --gpu --steps 91_newer --shapes 7x1x1
expect 77 'needs 2 GPUs, there is 1$' "$fake/ladder" --gpu --steps 92_two --shapes 7x1x1
expect 1 'cannot be run' env FAKE_GPUS=2 "$fake/ladder" --gpu --steps 90_exact,91_newer,92_two --shapes 7x1x1
exit $bad
