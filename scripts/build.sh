#!/usr/bin/env bash
# Installs what is missing (Debian packages), configures and builds.
#   scripts/build.sh [--hosts] [PRESET [TARGET...]]     release and everything by default; the command is then build/release/bin/meniscus
# --hosts also installs the programs that tests and renders run in: Blender, a virtual screen, ffmpeg, an emulator of older processors,
# a browser, and npm for the readers that files are held against (tests/npm).
set -euo pipefail
cd "$(dirname "$0")/.."
hosts=
if [ "${1:-}" = --hosts ]; then hosts=1; shift; fi
preset=${1:-release}
targets=("${@:2}")

packages=(cmake ninja-build gcc g++ pkg-config python3 clang-format-14
  libopenvdb-dev libboost-dev libtbb-dev libblosc-dev liblz4-dev zlib1g-dev libpng-dev libcmocka-dev)
if [ -n "$hosts" ]; then packages+=(blender xvfb xauth ffmpeg qemu-user slurm-wlm munge chromium python3-pip); fi
# An npm that came another way is as good, and Debian's does not go with another nodejs.
if [ -n "$hosts" ] && ! command -v npm >/dev/null; then packages+=(nodejs npm); fi
if [ "$preset" = fuzz ]; then packages+=(clang-14 clang libclang-rt-14-dev); fi

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
  echo "installing: ${missing[*]}"
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" ${targets[@]:+--target "${targets[@]}"}
