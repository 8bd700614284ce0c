#!/bin/sh
# Stands for a test that cannot be run here: skipped, with the reason.
echo "skipped: $1"
exit 77
