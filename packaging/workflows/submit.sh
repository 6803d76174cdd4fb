#!/bin/sh
# Scores many proteins as a Slurm array, and merges the shards when all of them are done:
#
#   packaging/workflows/submit.sh SHARDS OUTPUT ARGUMENTS-OF-LABD-SCORE…
#   packaging/workflows/submit.sh 100 scores.tsv --batch pairs.tsv
#
# Shards lie beside the output: scores.tsv.1 to scores.tsv.100. What sbatch takes by variables (SBATCH_PARTITION,
# SBATCH_TIMELIMIT, …) goes for both jobs. Prints the numbers of the array and of the job that merges.
set -eu
shards=$1 output=$2
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
array=$(sbatch --parsable --array="1-$shards" "$here/score.sbatch" "$@")
merge=$(sbatch --parsable --dependency="afterok:$array" --kill-on-invalid-dep=yes \
  "$here/merge.sbatch" "$shards" "$output")
echo "$array $merge"
