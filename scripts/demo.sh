#!/usr/bin/env bash
# Builds what is missing and cooks a few small scenes; leaves frames and pictures in demo/.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/build.sh release | tail -n 1
meniscus=build/release/bin/meniscus

cook() { # SCENE FRAMES
  echo "== $1"
  "$meniscus" cook "examples/$1/scene.json" -f "$2" -o "demo/$1" --preview
}
cook fountain 1-48
cook two_drops 1-1

echo
echo "Look at:"
ls demo/*/*.png
