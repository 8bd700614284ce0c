#!/bin/sh
# A locale with decimal commas changes nothing in what programs read and write: locale.sh STEP_PROGRAM LADDER
step=$1 ladder=$2
bad=0
. "$(dirname "$0")/expect.sh"
LOCPATH=$(mktemp -d) || exit 1
trap 'rm -rf "$LOCPATH"' EXIT
export LOCPATH
localedef -i de_DE -f UTF-8 "$LOCPATH/de_DE.UTF-8" >"$LOCPATH/said" 2>&1
if [ "$(LC_ALL=de_DE.UTF-8 env printf %.1f 1 2>&1)" != 1,0 ]; then
    echo "no locale with decimal commas: $(cat "$LOCPATH/said"); sudo apt-get install locales"
    exit 77
fi
for arguments in "--csv -" "--json -"; do
    for program in "$step --shape" "$ladder --cpu --steps 01_naive --shapes"; do
        # The error is a fraction in every row; the date is in no row.
        plain=$(LC_ALL=C $program 35x79x19 $arguments | grep 35x79x19)
        comma=$(LC_ALL=de_DE.UTF-8 $program 35x79x19 $arguments | grep 35x79x19)
        if [ -z "$plain" ] || [ "$plain" != "$comma" ]; then
            echo "FAILED: $program $arguments: '$plain' and, with decimal commas, '$comma'"
            bad=1
        fi
    done
done
expect 0 '[0-9]\.[0-9]*e-0[0-9]' env LC_ALL=de_DE.UTF-8 "$step" --shape 35x79x19 --csv -
expect 2 '^--m 1,5: not allowed' env LC_ALL=de_DE.UTF-8 "$step" --m 1,5 --n 1 --k 1
exit $bad
