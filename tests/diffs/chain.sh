# chain.sh CHAIN LAST FILE FOLDER RUNG...: the last rung of a chain must be the file that the chain leads to, and each rung
# small: a page shows it whole.
chain=$1 last=$2 file=$3 folder=$4 most=62 bad=0
shift 4
if ! diff -u --label "the last rung of $chain" "$last" "$file"; then
    echo "the chain of $chain, $# rungs, does not end in $file: the diff above is missing"
    bad=1
fi
for rung; do
    lines=$(sed '1,/^+++/d' "$folder/$rung.diff" | wc -l)
    echo "$rung: $lines lines shown"
    if [ "$lines" -gt $most ]; then
        echo "$folder/$rung.diff: $lines lines shown; allowed: $most; make two rungs of it"
        bad=1
    fi
done
exit $bad
