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
cook two_shapes 1-1
cook splash_ring 1-24
cook drops_colliding 1-24

echo
echo "Look at:"
ls demo/*/*.png
