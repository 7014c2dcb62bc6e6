#!/usr/bin/env bash
# Builds the Blender add-on, installs it for this user and switches it on. Needs Blender 3.4 or later in PATH; on Debian
# `apt install blender` has it.
#   scripts/install_blender.sh [BLENDER]     the program to install into, `blender` by default
set -euo pipefail
cd "$(dirname "$0")/.."
blender=${1:-blender}
command -v "$blender" >/dev/null || { echo "$blender is not installed: scripts/build.sh --hosts installs Debian's" >&2; exit 1; }
scripts/build.sh release blender_addon | tail -n 1
zip=$PWD/build/release/blender/meniscus_blender.zip
# Blender's exit code says nothing about scripts: the last line does.
said=$("$blender" -b --python-expr "
import bpy
if bpy.app.version < (4, 2):
    bpy.ops.preferences.addon_install(filepath='$zip', overwrite=True)
    bpy.ops.preferences.addon_enable(module='meniscus_blender')
    module = 'meniscus_blender'
else:
    bpy.ops.extensions.package_install_files(filepath='$zip', repo='user_default', enable_on_install=True)
    module = 'bl_ext.user_default.meniscus_blender'
bpy.ops.wm.save_userpref()
import importlib
failure = importlib.import_module(module + '.preferences').failure
print('meniscus: ' + (failure or 'installed; press N in the 3D view and choose the tab Meniscus'))
" | grep '^meniscus: ' || true)
echo "${said:-meniscus: Blender could not install the add-on}"
[[ $said == "meniscus: installed"* ]]
