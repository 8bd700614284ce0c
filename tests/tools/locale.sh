#!/bin/sh
# A locale with decimal commas changes nothing in what programs read and write: locale.sh STEP_PROGRAM LADDER
step=$1 ladder=$2
bad=0
. "$(dirname "$0")/../expect.sh"
LOCPATH=$(mktemp -d) || exit 1
trap 'rm -rf "$LOCPATH"' EXIT
export LOCPATH
localedef -i de_DE -f ISO-8859-1 "$LOCPATH/de_DE" >"$LOCPATH/said" 2>&1
if [ "$(LC_ALL=de_DE env printf %.1f 1 2>&1)" != 1,0 ]; then
    echo "no locale with decimal commas: $(cat "$LOCPATH/said"); sudo apt-get install locales"
    exit 77
fi

# rows LOCALE HOW: a row of the step and the ladder's of it; the error is a fraction in both, the date is in none.
rows() {
    LC_ALL=$1 "$step" --shape 35x79x19 "$2" - | grep 35x79x19
    LC_ALL=$1 "$ladder" --cpu --steps 01_naive --shapes 35x79x19 "$2" - | grep 35x79x19
}
for how in --csv --json; do
    plain=$(rows C $how) comma=$(rows de_DE $how)
    if [ "$(printf '%s\n' "$plain" | grep -c 35x79x19)" -ne 2 ] || [ "$plain" != "$comma" ]; then
        echo "FAILED: $how: '$plain' and, with decimal commas, '$comma'"
        bad=1
    fi
done
expect 0 '[0-9]\.[0-9]*e-0[0-9]' env LC_ALL=de_DE "$step" --shape 35x79x19 --csv -
expect 2 '^--m 1,5: not allowed' env LC_ALL=de_DE "$step" --m 1,5 --n 1 --k 1
exit $bad
