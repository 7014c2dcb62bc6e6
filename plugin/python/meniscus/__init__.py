# SPDX-License-Identifier: Apache-2.0
"""Meniscus: surface-tension solvers as networks of nodes.

    import meniscus

    print(list(meniscus.node_types()))
    net = meniscus.Network()
    ball = net.add("shape", "ball", kind="sphere")
    geo = ball.cook(frame=1)
    print(geo, geo["P"][0])
    geo.save("ball.bgeo.sc")

Values of attributes are numpy arrays when numpy can be imported, memoryviews when not; neither copies. Everything that
goes wrong is a meniscus.Error with the sentence of the node that failed."""
from .cook_job import CookJob
from .errors import (ArgumentError, Cancelled, DivergedError, Error, FileError, FormatError, InputError, NotFoundError,
                     OutOfMemory, SceneError, UnsupportedError)
from .frame_read import FrameRead
from .geometry import HINTS, KINDS, OWNERS, TYPES, Attribute, Geometry, Volume
from .library import lib as _lib
from .materials import material, materials, set_material
from .network import Network, Node
from .tables import NodeType, Parm, node_type, node_types
from .wedge import Wedge

__version__ = _lib.mn_plugin_release().decode()

__all__ = ["ArgumentError", "Attribute", "Cancelled", "CookJob", "DivergedError", "Error", "FileError", "FormatError", "FrameRead",
           "Geometry", "HINTS", "InputError", "KINDS", "Network", "Node", "NodeType", "NotFoundError", "OWNERS", "OutOfMemory", "Parm",
           "SceneError", "TYPES", "UnsupportedError", "Volume", "Wedge", "material", "materials", "node_type", "node_types",
           "set_material"]
