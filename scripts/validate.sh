#!/usr/bin/env bash
# Physics with known answers, all of it, long cases too; writes the measured values into docs/validation.md.
#   scripts/validate.sh [NAME...]    only programs whose name holds one of these
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh release | tail -n 1
exec python3 tests/validation/table.py "$@"
