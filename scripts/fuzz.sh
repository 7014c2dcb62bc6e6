#!/usr/bin/env bash
# Feeds random input to readers and mesh operations under the address and undefined-behaviour sanitizers, until one
# fails or the time is up.
#   scripts/fuzz.sh [MINUTES] [NAME...]    10 minutes for each program whose name holds one of these
# Starts from tests/fuzz/seeds; what is new goes to build/fuzz/corpus, input that fails to build/fuzz/found.
#   scripts/fuzz.sh [MINUTES] faults [SEED]  attacks on the whole command instead (tests/faults/faults.py): failing calls of the
#                                            system, kills, parameters at their ends, changed files and scenes
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=10
if [[ "${1:-}" =~ ^[1-9][0-9]*$ ]]; then minutes=$1; shift; fi
if [ "${1:-}" = faults ]; then
  scripts/build.sh release meniscus_command meniscus_faults | tail -n 1
  seed=${2:-$RANDOM}
  exec python3 tests/faults/faults.py --walk --seed "$seed" --seconds $((60 * minutes)) --keep build/faults
fi
programs=()
for source in tests/fuzz/fuzz_*.c; do
  name=$(basename "$source" .c)
  wanted=$#
  for part in "$@"; do [[ $name == *$part* ]] && wanted=0; done
  [ "$wanted" = 0 ] && programs+=("$name")
done
if [ ${#programs[@]} = 0 ]; then
  echo "No program in tests/fuzz has a name with: $*" >&2
  exit 2
fi
scripts/build.sh fuzz "${programs[@]}" | tail -n 1
mkdir -p build/fuzz/found
failed=0
for name in "${programs[@]}"; do
  echo "== $name"
  mkdir -p "build/fuzz/corpus/$name"
  OMP_NUM_THREADS=1 "build/fuzz/bin/$name" "build/fuzz/corpus/$name" "tests/fuzz/seeds/$name" -max_total_time=$((60 * minutes)) \
    -timeout=120 -rss_limit_mb=3000 -verbosity=0 -print_final_stats=1 -artifact_prefix="build/fuzz/found/${name}_" || failed=1
done
exit "$failed"
