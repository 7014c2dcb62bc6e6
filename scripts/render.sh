#!/usr/bin/env bash
# Cooks a scene and renders it in Cycles on the CPU: stills, frames and a film.
#   scripts/render.sh SCENE [-o DIR] [-f A-B] [--stills [A,B,...] | --film | --sheet] [--size WxH] [--samples N] [--material NAME] [--save FILE.blend]
# SCENE is a scene.json, or the name of an example. DIR (render/NAME) gets cache/, stills/still.0024.jpg, frames/frame.0001.png and film.mp4.
# --sheet makes sheet.png alone: sixteen of the frames side by side by `meniscus preview`, in seconds and without Blender.
# A scene with a "render" block says which frames are stills, how large and fine; its film is half as large, with a quarter of the samples.
# --stills makes those alone (or others), --film the film alone.
# Cooked frames are kept: a second run renders them again, and goes on where a stopped cook was.
# The liquid looks like the scene's "looks" say, or like the material preset nearest to its density and surface tension; --material names another.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
usage() { sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }

scene=; out=; frames=; size=; samples=; stills=scene; film=yes; sheet=; more=()
while [ $# -gt 0 ]; do
  case "$1" in
  -h | --help) usage ;;
  --film) stills=; film=yes; shift ;;
  --sheet) stills=; film=; sheet=yes; shift ;;
  --stills)
    film=; shift
    if [[ "${1:-}" =~ ^-?[0-9]+(,-?[0-9]+)*$ ]]; then stills=$1; shift; fi ;;
  -o | -f | --size | --samples | --material | --save)
    [ $# -gt 1 ] || usage
    case "$1" in -o) out=$2 ;; -f) frames=$2 ;; --size) size=$2 ;; --samples) samples=$2 ;; *) more+=("$1" "$2") ;; esac
    shift 2 ;;
  -*) echo "render.sh: there is no option $1" >&2; usage ;;
  *) [ -z "$scene" ] || usage; scene=$1; shift ;;
  esac
done
[ -n "$scene" ] || usage
[ -e "$scene" ] || scene=$here/examples/$scene/scene.json
[ -f "$scene" ] || { echo "render.sh: there is no scene $scene" >&2; exit 2; }
for program in blender ffmpeg; do
  [ -z "$sheet" ] || break
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

# What the scene's "render" block asks for; without one there are no stills, and the film is 960 x 540.
[ "$stills" != scene ] || stills=$(fact "','.join(map(str, (facts['render'] or {}).get('stills', [])))")
still_size=${size:-$(fact "'%dx%d' % tuple((facts['render'] or {}).get('size', [960, 720]))")}
still_samples=${samples:-$(fact "(facts['render'] or {}).get('samples', 96)")}
film_size=${size:-$(fact "'%dx%d' % tuple(n // 4 * 2 for n in facts['render']['size']) if facts['render'] else '960x540'")}
film_samples=${samples:-$(fact "max(1, facts['render']['samples'] // 4) if facts['render'] else 96")}

took() { printf 'meniscus: %s %d:%02d\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); SECONDS=0; }

mkdir -p "$out/cache"
SECONDS=0
resume=(); [ -z "$(ls -A "$out/cache")" ] || resume=(--resume)
"$meniscus" cook "$scene" -f "$frames" -o "$out/cache" "${nodes[@]}" "${resume[@]}"
took "cooked in"
if [ -n "$sheet" ]; then
  first=${frames%-*}; last=${frames#*-}; files=()
  for stem in $(fact "' '.join(p['stem'] for p in facts['pieces'])"); do
    for frame in $(for i in {0..15}; do echo $((first + ((last - first) * i + 7) / 15)); done | uniq); do
      files+=("$out/cache/$stem.$(printf %04d "$frame").bgeo.sc")
    done
  done
  read -ra side <<<"$(fact "'--azimuth %.1f --elevation %.1f' % tuple(facts['side'])")"
  "$meniscus" preview "${files[@]}" -o "$out/sheet.png" --columns 4 --size "${size:-640x480}" --color none "${side[@]}" >/dev/null
  echo "meniscus: $out/sheet.png"
fi
render() { # FOLDER SIZE SAMPLES [--stills A,B]
  local folder=$1 size=$2 samples=$3; shift 3
  mkdir -p "$folder"
  blender -b --factory-startup --python "$addon/render_scene.py" -- "$scene" "$out/cache" "$folder" --frames "$frames" \
    --size "$size" --samples "$samples" "$@" "${more[@]}" | grep --line-buffered '^meniscus: '
}
if [ -n "$stills" ]; then
  render "$out/stills" "$still_size" "$still_samples" --stills "$stills"
  took "stills in"
fi
[ -n "$film" ] || exit 0
render "$out/frames" "$film_size" "$film_samples"

first=${frames%-*}
if [ "${frames#*-}" != "$first" ]; then
  # There is no denoiser in Debian's Blender: grain is averaged away here.
  ffmpeg -y -loglevel error -framerate "$(fact "facts['fps']")" -start_number "$first" -i "$out/frames/frame.%04d.png" \
    -vf nlmeans=s=6:p=5:r=9 -c:v libx264 -crf 17 -pix_fmt yuv420p -movflags +faststart "$out/film.mp4"
  echo "meniscus: $out/film.mp4"
  took "film in"
fi
