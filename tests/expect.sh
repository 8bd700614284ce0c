# expect STATUS PATTERN COMMAND...: the exit status, and a line on stdout or stderr that matches; else sets `bad`.
expect() {
    status=$1 pattern=$2
    shift 2
    said=$("$@" 2>&1)
    got=$?
    if [ $got -ne "$status" ] || ! printf '%s\n' "$said" | grep -q -e "$pattern"; then
        echo "FAILED: $*: exit status $got, wanted $status; said: $said; wanted: $pattern"
        bad=1
    fi
}
