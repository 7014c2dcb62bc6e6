#!/usr/bin/env bash
# Makes the stills of docs/gallery.md: cooks and renders every shot, and puts its pictures into docs/images, each under 200 KB.
#   scripts/gallery.sh [SHOT ...]      all seven unless some are named: crown rebound mercury contact_angles tap water_bell catenoid
# Frames and simulations stay in render/shot_NAME: a second run goes on where a stopped one was.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"
[ $# -gt 0 ] || set -- crown rebound mercury contact_angles tap water_bell catenoid
for shot in "$@"; do
  mkdir -p render
  [ -f "examples/shot_$shot/scene.json" ] || { echo "gallery.sh: there is no shot $shot" >&2; exit 2; }
  rm -f "render/shot_$shot"/stills/still.*.jpg # those of other frames, from before
  scripts/render.sh "shot_$shot" -o "render/shot_$shot" --stills | tee "render/shot_$shot.log"
  number=0
  for still in "render/shot_$shot"/stills/still.*.jpg; do
    number=$((number + 1))
    picture=docs/images/shot_${shot}_$number.jpg
    # What grain is left is averaged away. Coarser, until it is small enough.
    for quality in 2 3 4 5 7 10; do
      ffmpeg -y -loglevel error -i "$still" -vf nlmeans=s=5:p=7:r=15 -q:v $quality "$picture"
      [ "$(stat -c %s "$picture")" -gt 200000 ] || break
    done
    echo "meniscus: $picture"
  done
done
