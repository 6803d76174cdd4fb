#!/bin/bash
# Scores many proteins by GNU parallel, and merges the shards:
#
#   packaging/workflows/parallel.sh SHARDS OUTPUT ARGUMENTS-OF-LABD-SCORE…
#   packaging/workflows/parallel.sh 100 scores.tsv --batch pairs.tsv
#
# Called again, it goes on where it was. PARALLEL holds further options of parallel, such as
# PARALLEL='--sshlogin big1,big2 --workdir .' for machines that share this directory.
set -eu
shards=$1 output=$2
shift 2
seq "$shards" | parallel --will-cite --quote --retries 3 \
  labd score "$@" --shard "{}/$shards" --workers 1 --output "$output.{}" --resume
parts=()
for ((i = 1; i <= shards; i++)); do parts+=("$output.$i"); done
exec labd merge "${parts[@]}" --output "$output"
