#!/bin/sh
# golden.sh PROGRAM FILE ARGUMENTS...: compares what a checked program counts with FILE, which holds it
# without line numbers: an edit elsewhere in the kernel changes nothing. With GOLDEN_WRITE=1, writes FILE.
program=$1 golden=$2
shift 2
now=$(mktemp) || exit 1
trap 'rm -f "$now"' EXIT
"$program" --counters --schedule "${GOLDEN_SCHEDULE:-forward-late}" "$@" >"$now.all" || { cat "$now.all"; rm -f "$now.all"; exit 1; }
sed -n '/^counters: /,/^$/p; /^sum /,/^$/p' "$now.all" >"$now"
rm -f "$now.all"
strip='s/^\([^ ]*\.cu\):[0-9]* */\1 /'
if [ "$GOLDEN_WRITE" = 1 ]; then
    sed "$strip" "$now" >"$golden"
    exit
fi
# Every line of one that the other lacks, with its line number where it has one.
awk -v golden="$golden" '
    BEGIN {
        while ((getline line <golden) > 0)
            old[line]++
    }
    {
        stripped = $0
        if (match(stripped, /^[^ ]*\.cu:[0-9]+ */)) {
            head = substr(stripped, 1, RLENGTH)
            sub(/:[0-9]+ *$/, " ", head)
            stripped = head substr(stripped, RLENGTH + 1)
        }
        if (old[stripped] > 0)
            old[stripped]--
        else {
            print "now: " $0
            bad = 1
        }
    }
    END {
        for (line in old)
            for (; old[line] > 0; old[line]--) {
                print "was: " line
                bad = 1
            }
        if (bad)
            print "The counters changed. If they were meant to: cmake --build BUILD --target golden"
        exit bad
    }' "$now"
