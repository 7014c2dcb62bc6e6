#!/usr/bin/env bash
# Cooks a scene and renders it in Cycles on the CPU: frames and a film.
#   scripts/render.sh SCENE [-o DIR] [-f A-B] [--size WxH] [--samples N] [--material NAME] [--save FILE.blend]
# SCENE is a scene.json, or the name of an example. DIR (render/NAME) gets cache/, frames/frame.0001.png and film.mp4.
# Cooked frames are kept: a second run renders them again, and goes on where a stopped cook was.
# The liquid looks like the material preset nearest to its density and surface tension unless --material names another.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
usage() { sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }

scene=; out=; frames=; more=()
while [ $# -gt 0 ]; do
  case "$1" in
  -h | --help) usage ;;
  -o | -f | --size | --samples | --material | --save)
    [ $# -gt 1 ] || usage
    case "$1" in -o) out=$2 ;; -f) frames=$2 ;; *) more+=("$1" "$2") ;; esac
    shift 2 ;;
  -*) echo "render.sh: there is no option $1" >&2; usage ;;
  *) [ -z "$scene" ] || usage; scene=$1; shift ;;
  esac
done
[ -n "$scene" ] || usage
[ -e "$scene" ] || scene=$here/examples/$scene/scene.json
[ -f "$scene" ] || { echo "render.sh: there is no scene $scene" >&2; exit 2; }
for program in blender ffmpeg; do
  command -v "$program" >/dev/null || "$here/scripts/build.sh" --hosts release | tail -n 1
done
meniscus=${MENISCUS:-$here/build/release/bin/meniscus}
addon=${MENISCUS_BUILD:-$here/build/release}/blender/meniscus_blender
[ -x "$meniscus" ] && [ -d "$addon" ] || "$here/scripts/build.sh" release | tail -n 1

facts=$(PYTHONPATH=$addon MENISCUS_LIBRARY=$addon/libmeniscus_plugin.so python3 "$addon/scene_pieces.py" "$scene")
fact() { python3 -c "import json, sys; facts = json.loads(sys.argv[1]); print($1)" "$facts"; }
: "${frames:=$(fact "'%d-%d' % tuple(facts['frames'])")}"
: "${out:=render/$(basename "$(dirname "$(realpath "$scene")")")}"
read -ra nodes <<<"$(fact "' '.join('--node %s:%d' % (p['node'], p['output']) if p['output'] else '--node ' + p['node'] for p in facts['pieces'])")"

mkdir -p "$out/cache" "$out/frames"
resume=(); [ -z "$(ls -A "$out/cache")" ] || resume=(--resume)
"$meniscus" cook "$scene" -f "$frames" -o "$out/cache" "${nodes[@]}" "${resume[@]}"
blender -b --factory-startup --python "$addon/render_scene.py" -- "$scene" "$out/cache" "$out/frames" --frames "$frames" "${more[@]}" |
  grep --line-buffered '^meniscus: '

first=${frames%-*}
if [ "${frames#*-}" != "$first" ]; then
  ffmpeg -y -loglevel error -framerate "$(fact "facts['fps']")" -start_number "$first" -i "$out/frames/frame.%04d.png" \
    -c:v libx264 -crf 17 -pix_fmt yuv420p -movflags +faststart "$out/film.mp4"
  echo "meniscus: $out/film.mp4"
fi
