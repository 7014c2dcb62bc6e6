#!/usr/bin/env bash
# Everything that must hold before a change lands: builds, then runs
#   release   all tests: unit, hosts, fuzz replays and the quick validations
#   asan      unit and fuzz tiers under the address and undefined-behaviour sanitizers
#   tsan      the parallel parts of the unit tier under the thread sanitizer: every loop that runs on several threads in
#             the shortest test that has it (tests/support/parallel_loops.py)
# scripts/test.sh release   runs only the first.
# Ends with where the time went: building, testing, and the slowest tests of each.
set -euo pipefail
cd "$(dirname "$0")/.."
presets=("$@")
[ ${#presets[@]} -gt 0 ] || presets=(release asan tsan)

times=()
failed=0
for preset in "${presets[@]}"; do
  echo "== $preset"
  hosts=(); [ "$preset" != release ] || hosts=(--hosts)
  start=$SECONDS
  scripts/build.sh "${hosts[@]}" "$preset" | tail -n 1
  built=$SECONDS
  labels=(); jobs=2
  case "$preset" in
  asan) labels=(-L 'unit|fuzz') ;;
  tsan) labels=(-L parallel) ;;
  esac
  ctest --test-dir "build/$preset" "${labels[@]}" -j "$jobs" --output-on-failure --no-tests=error \
    --output-junit tests.xml || failed=1
  times+=("$preset: $((built - start)) s to build, $((SECONDS - built)) s to test; the slowest:"
    "$(python3 tests/support/slowest.py "build/$preset/tests.xml" 8)")
  [ "$failed" = 0 ] || break
done
echo "== where the time went: $SECONDS s"
printf '%s\n' "${times[@]}"
exit "$failed"
