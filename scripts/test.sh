#!/usr/bin/env bash
# Everything that must hold before a change lands: builds, then runs
#   release   all tests: unit, hosts, fuzz replays and the quick validations
#   asan      unit and fuzz tiers under the address and undefined-behaviour sanitizers
#   tsan      the parallel parts of the unit tier under the thread sanitizer: all but the file formats, which are read
#             on one thread
# scripts/test.sh release   runs only the first.
set -euo pipefail
cd "$(dirname "$0")/.."
presets=("$@")
[ ${#presets[@]} -gt 0 ] || presets=(release asan tsan)

for preset in "${presets[@]}"; do
  echo "== $preset"
  hosts=(); [ "$preset" != release ] || hosts=(--hosts)
  scripts/build.sh "${hosts[@]}" "$preset" | tail -n 1
  labels=(); jobs=2
  case "$preset" in
  asan) labels=(-L 'unit|fuzz') ;;
  tsan) labels=(-L unit -E '^io_test') ;;
  esac
  ctest --test-dir "build/$preset" "${labels[@]}" -j "$jobs" --output-on-failure --no-tests=error
done
