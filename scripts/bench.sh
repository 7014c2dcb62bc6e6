#!/usr/bin/env bash
# Speed of every kernel and solver step, each beside a simple baseline measured in the same run.
#   scripts/bench.sh [NAME...]    only programs whose name holds one of these
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh release | tail -n 1
for program in build/release/bin/bench_*; do
  name=$(basename "$program")
  wanted=$#
  for part in "$@"; do [[ $name == *$part* ]] && wanted=0; done
  [ "$wanted" = 0 ] || continue
  echo "== $name"
  "$program"
done
