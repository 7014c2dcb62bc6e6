#!/usr/bin/env bash
# Long runs: every small scene of tests/golden and tests/faults/soak goes on for MINUTES (10) of processor time, far beyond its frames. Memory and the time of
# a step must stay flat, and mass must be kept where nothing enters or leaves.
#   scripts/soak.sh [MINUTES [NAME...]]    only scenes whose name holds one of these
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh release meniscus_command | tail -n 1
exec nice -n 10 python3 tests/faults/soak.py "$@"
