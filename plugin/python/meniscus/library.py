# SPDX-License-Identifier: Apache-2.0
"""Finds libmeniscus_plugin and says which functions it has. Nothing here is for users."""
import ctypes
import os
from ctypes import POINTER, Structure, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_uint64, c_void_p
from pathlib import Path

VERSION = 7  # MN_PLUGIN_VERSION of plugin/python/library.h
NAME = "libmeniscus_plugin.so"

PROGRESS = ctypes.CFUNCTYPE(None, c_double, c_char_p)
LOG = ctypes.CFUNCTYPE(None, c_int32, c_char_p)


class Vec3(Structure):
    _fields_ = [("x", c_double), ("y", c_double), ("z", c_double)]


class Mat4(Structure):
    _fields_ = [("m", (c_double * 4) * 4)]


class Box(Structure):
    _fields_ = [("min", Vec3), ("max", Vec3)]


class ParmValue(Structure):
    _fields_ = [("number", c_double * 4), ("string", c_char_p)]


class Key(Structure):
    _fields_ = [("frame", c_double), ("value", c_double * 4)]


class Volume(Structure):
    _fields_ = [("ops", c_void_p), ("handle", c_void_p)]


class VolumeInfo(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_int), ("components", c_int32), ("index_to_world", Mat4),
                ("voxel_size", c_double), ("background", c_double), ("active_voxels", c_int64), ("bounds", Box),
                ("bytes", ctypes.c_size_t)]


POINTER_OUT = POINTER(c_void_p)
INT_OUT = POINTER(c_int32)

# Name, what it returns, what it takes. A call that returns a status has None here and is checked by Context.
STATUS = c_int
FUNCTIONS = {
    "mn_plugin_version": (c_int, []),
    "mn_plugin_release": (c_char_p, []),
    "mn_plugin_command": (c_int, [c_int, POINTER(c_char_p)]),
    "mn_plugin_report": (STATUS, [c_void_p, c_int32, c_int32, POINTER_OUT]),
    "mn_plugin_session_create": (c_void_p, [c_int32, c_int32, PROGRESS, LOG]),
    "mn_plugin_session_free": (None, [c_void_p]),
    "mn_plugin_session_context": (c_void_p, [c_void_p]),
    "mn_plugin_session_cancel": (None, [c_void_p, c_int32]),
    "mn_plugin_session_catch_interrupt": (c_int32, [c_void_p, c_int32]),
    "mn_cook_thread_start": (c_void_p, [c_void_p]),
    "mn_cook_thread_look": (None, [c_void_p, c_void_p]),
    "mn_cook_thread_wait": (c_int32, [c_void_p, c_double]),
    "mn_cook_thread_release": (None, [c_void_p]),
    "mn_cook_thread_cancel": (None, [c_void_p]),
    "mn_cook_thread_free": (None, [c_void_p]),
    "mn_cook_thread_status": (c_int, [c_void_p]),
    "mn_cook_thread_message": (c_char_p, [c_void_p]),
    "mn_cook_thread_kinds": (c_int32, [c_void_p, c_int32]),
    "mn_cook_thread_note_count": (c_int32, [c_void_p]),
    "mn_cook_thread_note": (c_char_p, [c_void_p, c_int32, POINTER(c_char_p), POINTER(c_int32)]),
    "mn_plugin_preview": (STATUS, [c_void_p, POINTER_OUT, c_int32, c_int32, c_int32, c_char_p]),
    "mn_shown_mesh_create": (STATUS, [c_void_p, c_void_p, POINTER_OUT]),
    "mn_shown_mesh_arrays": (None, [c_void_p, c_void_p]),
    "mn_shown_mesh_pick": (None, [c_void_p, c_void_p, c_int32, c_float, c_void_p]),
    "mn_shown_mesh_free": (None, [c_void_p]),
    "mn_frame_read_start": (c_void_p, [c_char_p, Mat4]),
    "mn_frame_read_take": (STATUS, [c_void_p, POINTER_OUT, POINTER_OUT, POINTER_OUT]),
    "mn_frame_read_free": (None, [c_void_p]),
    "mn_context_message": (c_char_p, [c_void_p]),
    "mn_status_name": (c_char_p, [c_int]),
    "mn_status_message": (c_char_p, [c_int]),
    # networks
    "mn_network_create": (STATUS, [c_void_p, c_void_p, POINTER_OUT]),
    "mn_network_free": (None, [c_void_p]),
    "mn_network_set_fps": (STATUS, [c_void_p, c_double]),
    "mn_network_fps": (c_double, [c_void_p]),
    "mn_network_set_dx": (STATUS, [c_void_p, c_double]),
    "mn_network_dx": (c_double, [c_void_p]),
    "mn_network_set_range": (STATUS, [c_void_p, c_int32, c_int32]),
    "mn_network_range": (None, [c_void_p, INT_OUT, INT_OUT]),
    "mn_network_set_cache_limit": (None, [c_void_p, c_int64]),
    "mn_network_set_folder": (STATUS, [c_void_p, c_char_p]),
    "mn_network_folder": (c_char_p, [c_void_p]),
    "mn_network_title": (c_char_p, [c_void_p]),
    "mn_network_set_title": (STATUS, [c_void_p, c_char_p]),
    "mn_network_output": (c_int32, [c_void_p]),
    "mn_network_set_output": (STATUS, [c_void_p, c_int32]),
    "mn_network_add_node": (STATUS, [c_void_p, c_char_p, c_char_p, INT_OUT]),
    "mn_network_remove_node": (STATUS, [c_void_p, c_int32]),
    "mn_network_node_limit": (c_int32, [c_void_p]),
    "mn_network_node_type": (c_void_p, [c_void_p, c_int32]),
    "mn_network_node_name": (c_char_p, [c_void_p, c_int32]),
    "mn_network_require": (STATUS, [c_void_p, c_char_p, INT_OUT]),
    "mn_network_connect": (STATUS, [c_void_p, c_int32, c_int32, c_int32, c_int32]),
    "mn_network_input_count": (c_int32, [c_void_p, c_int32]),
    "mn_network_input": (None, [c_void_p, c_int32, c_int32, INT_OUT, INT_OUT]),
    "mn_network_set_number": (STATUS, [c_void_p, c_int32, c_char_p, c_int32, c_double]),
    "mn_network_set_string": (STATUS, [c_void_p, c_int32, c_char_p, c_char_p]),
    "mn_network_set_text": (STATUS, [c_void_p, c_int32, c_char_p, c_char_p]),
    "mn_network_reset_parm": (STATUS, [c_void_p, c_int32, c_char_p]),
    "mn_network_set_keys": (STATUS, [c_void_p, c_int32, c_char_p, c_int32, POINTER(Key)]),
    "mn_network_keys": (c_int32, [c_void_p, c_int32, c_char_p, POINTER(POINTER(Key))]),
    "mn_network_parm": (STATUS, [c_void_p, c_int32, c_char_p, c_double, POINTER(ParmValue)]),
    "mn_network_cook": (STATUS, [c_void_p, c_int32, c_int32, c_double, POINTER_OUT]),
    "mn_network_reset_node": (STATUS, [c_void_p, c_int32]),
    "mn_network_cook_count": (c_int64, [c_void_p, c_int32]),
    "mn_network_node_error": (c_char_p, [c_void_p, c_int32]),
    "mn_network_warning_count": (c_int32, [c_void_p, c_int32]),
    "mn_network_warning": (c_char_p, [c_void_p, c_int32, c_int32]),
    "mn_network_save_checkpoint": (STATUS, [c_void_p, c_int32, c_char_p]),
    "mn_network_load_checkpoint": (STATUS, [c_void_p, c_int32, c_char_p, INT_OUT]),
    "mn_scene_read": (STATUS, [c_void_p, c_void_p, c_char_p, POINTER_OUT]),
    "mn_scene_read_memory": (STATUS, [c_void_p, c_void_p, c_char_p, ctypes.c_size_t, c_char_p, POINTER_OUT]),
    "mn_scene_write": (STATUS, [c_void_p, c_char_p]),
    "mn_scene_write_text": (STATUS, [c_void_p, POINTER_OUT]),
    "mn_scene_free_text": (None, [c_void_p, c_void_p]),
    "mn_node_types_json": (STATUS, [c_void_p, c_char_p, POINTER_OUT]),
    # geometry
    "mn_geo_create": (STATUS, [c_void_p, POINTER_OUT]),
    "mn_geo_free": (None, [c_void_p]),
    "mn_geo_copy": (STATUS, [c_void_p, POINTER_OUT]),
    "mn_geo_bytes": (c_int64, [c_void_p]),
    "mn_geo_hash": (c_uint64, [c_void_p]),
    "mn_geo_count": (c_int64, [c_void_p, c_int]),
    "mn_geo_kind_count": (c_int64, [c_void_p, c_int]),
    "mn_geo_add_points": (STATUS, [c_void_p, c_int64, POINTER(c_int64)]),
    "mn_geo_add_primitives": (STATUS, [c_void_p, c_int, c_int64, POINTER(c_int32), c_int32, POINTER(c_int64),
                                       POINTER(c_int64)]),
    "mn_geo_vertex_points": (c_void_p, [c_void_p]),
    "mn_geo_primitive_starts": (c_void_p, [c_void_p]),
    "mn_geo_primitive_kinds": (c_void_p, [c_void_p]),
    "mn_geo_volume": (Volume, [c_void_p, c_int64]),
    "mn_volume_get_info": (VolumeInfo, [Volume]),
    "mn_volume_sample": (c_double, [Volume, Vec3]),
    "mn_volume_sample_vec3": (Vec3, [Volume, Vec3]),
    "mn_geo_attribute_count": (c_int32, [c_void_p, c_int]),
    "mn_geo_attribute_at": (c_void_p, [c_void_p, c_int, c_int32]),
    "mn_geo_find": (c_void_p, [c_void_p, c_int, c_char_p]),
    "mn_geo_add_attribute": (STATUS, [c_void_p, c_int, c_char_p, c_int, c_int32, c_int, POINTER_OUT]),
    "mn_geo_remove_attribute": (STATUS, [c_void_p, c_int, c_char_p]),
    "mn_attribute_name": (c_char_p, [c_void_p]),
    "mn_attribute_type": (c_int, [c_void_p]),
    "mn_attribute_size": (c_int32, [c_void_p]),
    "mn_attribute_hint": (c_int, [c_void_p]),
    "mn_attribute_count": (c_int64, [c_void_p]),
    "mn_attribute_data": (c_void_p, [c_void_p]),
    "mn_attribute_write": (c_void_p, [c_void_p, c_void_p]),
    "mn_attribute_string": (c_char_p, [c_void_p, c_int64, c_int32]),
    "mn_attribute_set_string": (STATUS, [c_void_p, c_void_p, c_int64, c_int32, c_char_p]),
    "mn_geo_group_count": (c_int32, [c_void_p, c_int]),
    "mn_geo_group_at": (c_void_p, [c_void_p, c_int, c_int32]),
    "mn_geo_find_group": (c_void_p, [c_void_p, c_int, c_char_p]),
    "mn_geo_add_group": (STATUS, [c_void_p, c_int, c_char_p, POINTER_OUT]),
    "mn_geo_remove_group": (STATUS, [c_void_p, c_int, c_char_p]),
    "mn_group_name": (c_char_p, [c_void_p]),
    "mn_group_data": (c_void_p, [c_void_p]),
    "mn_group_write": (c_void_p, [c_void_p, c_void_p]),
    "mn_geo_append": (STATUS, [c_void_p, c_void_p]),
    "mn_geo_compact": (STATUS, [c_void_p, c_void_p, c_void_p]),
    "mn_geo_transform": (STATUS, [c_void_p, Mat4]),
    "mn_geo_bounds": (Box, [c_void_p]),
    "mn_io_read": (STATUS, [c_void_p, c_char_p, POINTER_OUT]),
    "mn_io_write": (STATUS, [c_void_p, c_char_p, c_void_p]),
}


def candidates():
    """Where the library may be, best first."""
    named = os.environ.get("MENISCUS_LIBRARY")
    if named:
        yield Path(named)
        return
    here = Path(__file__).resolve().parent
    yield here / NAME
    # Installed: lib/python3/dist-packages/meniscus beside lib/libmeniscus_plugin.so. In the source tree: build/release/lib.
    for folder in here.parents:
        yield folder / NAME
        yield folder / "build" / "release" / "lib" / NAME


def load():
    tried = []
    for path in candidates():
        if path.is_file():
            library = ctypes.CDLL(str(path))
            break
        tried.append(str(path))
    else:
        raise ImportError("libmeniscus_plugin.so was not found. Build it with scripts/build.sh, or say where it is in "
                          "the environment variable MENISCUS_LIBRARY. Looked for " + ", ".join(tried[:4]) + ".")
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"{path} has no function {name}: it does not belong to this Python module. Build both anew.")
        function.restype, function.argtypes = result, arguments
    if library.mn_plugin_version() != VERSION:
        raise ImportError(f"{path} is of version {library.mn_plugin_version()}, this Python module of {VERSION}. Build both anew.")
    return library


lib = load()
