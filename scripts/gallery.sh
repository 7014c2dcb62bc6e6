#!/usr/bin/env bash
# Makes the pictures of docs/gallery.md: cooks and renders every shot, and puts three stills and a sheet of frames into docs/images,
# each under 200 KB.
#   scripts/gallery.sh [--sheets] [SHOT ...]      all seven unless some are named: crown rebound mercury contact_angles tap water_bell catenoid
# --sheets makes the sheets of frames alone, in seconds when the shots are cooked.
# Frames and simulations stay in render/shot_NAME: a second run goes on where a stopped one was.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"
stills=yes
if [ "${1:-}" = --sheets ]; then stills=; shift; fi
[ $# -gt 0 ] || set -- crown rebound mercury contact_angles tap water_bell catenoid

put() { # PICTURE FILTER AS: into docs/images, coarser until it is small enough
  local quality picture=docs/images/$3.jpg
  for quality in 2 3 4 5 7 10; do
    ffmpeg -y -loglevel error -i "$1" -vf "$2" -q:v $quality "$picture"
    [ "$(stat -c %s "$picture")" -gt 200000 ] || break
  done
  echo "meniscus: $picture"
}

for shot in "$@"; do
  mkdir -p render
  [ -f "examples/shot_$shot/scene.json" ] || { echo "gallery.sh: there is no shot $shot" >&2; exit 2; }
  if [ -n "$stills" ]; then
    rm -f "render/shot_$shot"/stills/still.*.jpg # those of other frames, from before
    scripts/render.sh "shot_$shot" -o "render/shot_$shot" --stills | tee "render/shot_$shot.log"
    number=0
    for still in "render/shot_$shot"/stills/still.*.jpg; do
      number=$((number + 1))
      put "$still" nlmeans=s=9:p=5:r=11 "shot_${shot}_$number" # what grain is left is averaged away
    done
  fi
  scripts/render.sh "shot_$shot" -o "render/shot_$shot" --sheet
  put "render/shot_$shot/sheet.png" null "shot_${shot}_sheet"
done
