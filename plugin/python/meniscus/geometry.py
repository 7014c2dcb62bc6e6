# SPDX-License-Identifier: Apache-2.0
"""Geometry: points, vertices, primitives, attributes and groups, with their values as buffers without copying.

A buffer is a numpy array when numpy can be imported and a memoryview when not. It keeps what it shows alive, however
long it is used. Buffers to read show the geometry as it was when they were asked for: writing gives the geometry new
memory, never the buffer."""
import ctypes
import math
import os
import tempfile
import weakref
from ctypes import c_double, c_float, c_int32, c_int64, c_uint8

from . import errors
from .context import Owned, decode, default, encode
from .library import Mat4, Vec3, lib
from .shown_mesh import ShownMesh

try:
    import numpy
except ImportError:
    numpy = None

OWNERS = ("point", "vertex", "primitive", "detail")
TYPES = ("f32", "f64", "i32", "i64", "string")
HINTS = ("none", "point", "vector", "normal", "color", "quaternion", "texture")
KINDS = ("polyline", "polygon", "tetrahedron", "volume")
CTYPES = (c_float, c_double, c_int32, c_int64, c_int32)


def number_of(word, words, what):
    try:
        return words.index(word)
    except ValueError:
        raise errors.ArgumentError(f"{word!r} is not a {what}; there are {', '.join(words)}") from None


def shaped(memory, count, size, writable):
    """A ctypes array as rows of `size`."""
    ctype = memory._type_
    if numpy is not None:
        array = numpy.frombuffer(memory, dtype=numpy.dtype(ctype)) if len(memory) else numpy.empty(0, numpy.dtype(ctype))
        array = array.reshape((count, size)) if size > 1 else array
        array.flags.writeable = writable
        return array
    letter = "q" if ctype is c_int64 else ctype._type_
    view = memoryview(memory).cast("B")
    view = view.cast(letter, shape=[count, size]) if size > 1 and count > 0 else view.cast(letter)
    return view if writable else view.toreadonly()


def buffer(ctype, address, count, size, owner, writable=False):
    """Memory of the library, which keeps `owner` alive, and an array over it."""
    memory = (ctype * (count * size)).from_address(address) if address else (ctype * 0)()
    memory._owner, memory._rows, memory._size = owner, count, size
    return memory, shaped(memory, count, size, writable)


def flat(values):
    """Numbers out of rows, arrays or a single number, one after the other."""
    if numpy is not None and isinstance(values, numpy.ndarray) and values.dtype.kind in "biuf":
        return values.ravel().tolist()
    if isinstance(values, memoryview):
        values = values.tolist()
    if isinstance(values, (int, float)):
        return [values]
    if isinstance(values, (str, bytes, dict)) or values is None:
        raise errors.ArgumentError(f"{values!r} is not a number")
    try:
        rows = list(values)
    except TypeError:
        try:
            return [float(values)]  # a number of another library
        except (TypeError, ValueError):
            raise errors.ArgumentError(f"{values!r} is not a number") from None
    out = []
    for value in rows:
        if isinstance(value, (int, float)):
            out.append(value)
        else:
            out.extend(flat(value))
    return out


def matrix_of(rows):
    """Four rows of four numbers as the library takes them."""
    numbers = flat(rows)
    if len(numbers) != 16:
        raise errors.ArgumentError("a transform has four rows of four numbers")
    matrix = Mat4()
    for i, number in enumerate(numbers):
        matrix.m[i // 4][i % 4] = number
    return matrix


class Attribute:
    """One attribute of a geometry as it was when asked for: `name`, `owner`, `type` ("f32", "f64", "i32", "i64",
    "string"), `size` (components), `hint`, and its values."""

    def __init__(self, handle, owner, pointer):
        self._handle, self._pointer = handle, pointer
        self.owner = OWNERS[owner]
        self.name = decode(lib.mn_attribute_name(pointer))
        self.type = TYPES[lib.mn_attribute_type(pointer)]
        self.size = lib.mn_attribute_size(pointer)
        self.hint = HINTS[lib.mn_attribute_hint(pointer)]

    def __len__(self):
        return lib.mn_attribute_count(self._pointer)

    def __repr__(self):
        return f"<meniscus.Attribute {self.owner} {self.name} {self.type}[{self.size}] x {len(self)}>"

    @property
    def values(self):
        """All values, to read, without copying: shape (count, size), or (count,) when size is 1. Strings are a list."""
        if self.type == "string":
            return self.strings()
        ctype = CTYPES[TYPES.index(self.type)]
        return buffer(ctype, lib.mn_attribute_data(self._pointer), len(self), self.size, self._handle)[1]

    def strings(self):
        """The values of a string attribute as a list, of lists when size is more than 1."""
        if self.type != "string":
            raise errors.ArgumentError(f"{self.name} holds numbers, not strings")
        rows = [[decode(lib.mn_attribute_string(self._pointer, i, k)) for k in range(self.size)] for i in range(len(self))]
        return [row[0] for row in rows] if self.size == 1 else rows


class Volume:
    """A volume of a geometry: `name`, `kind` ("fog" or "level_set"), `components`, `voxel_size`, `active_voxels`, and its
    values anywhere by sample()."""

    def __init__(self, handle, volume):
        self._handle, self._volume = handle, volume
        info = lib.mn_volume_get_info(volume)
        self.name = decode(info.name)
        self.kind = ("fog", "level_set")[info.kind]
        self.components = info.components
        self.voxel_size = info.voxel_size
        self.background = info.background
        self.active_voxels = info.active_voxels

    def __repr__(self):
        return f"<meniscus.Volume {self.name} {self.kind}, {self.active_voxels} voxels of {self.voxel_size:g} m>"

    def sample(self, position):
        """The value at a position, between the voxels: a number, or three for a vector volume."""
        x, y, z = (float(value) for value in position)
        if self.components == 1:
            return lib.mn_volume_sample(self._volume, Vec3(x, y, z))
        value = lib.mn_volume_sample_vec3(self._volume, Vec3(x, y, z))
        return (value.x, value.y, value.z)


class Geometry:
    """Points, vertices, primitives, attributes and groups. geo["P"] is the positions; see attribute(), set() and write()."""

    def __init__(self, _handle=None):
        if _handle is None:
            context = default()
            _handle = Owned(context, "mn_geo_free", context.make("mn_geo_create", context.pointer))
        self._handle = _handle
        self._sealed = False  # somebody reads its memory: the next change goes to a copy
        self._writers = {}

    @classmethod
    def _borrowed(cls, context, pointer):
        """A geometry of its own that shares all data with one that the library keeps."""
        return cls(Owned(context, "mn_geo_free", context.make("mn_geo_copy", pointer)))

    @classmethod
    def read(cls, path):
        """Reads .geo, .bgeo, .bgeo.gz, .bgeo.sc, .obj, .ply, .stl or .vdb."""
        context = default()
        return cls(Owned(context, "mn_geo_free", context.run("mn_io_read", context.pointer, encode(path))))

    def save(self, path):
        """Writes the file by its ending, whole or not at all. What the format cannot hold is refused."""
        context = self._context
        context.call("mn_io_write", context.pointer, encode(path), self._pointer)

    def copy(self):
        """A copy that shares all data until one of the two is written."""
        self._refuse_writers("copied")
        return Geometry(self._copied_handle())

    def shown_mesh(self):
        """Faces of polygons and of the skin of tetrahedra, edges of polylines and the points that they use, as flat arrays."""
        context = self._context
        return ShownMesh(Owned(context, "mn_shown_mesh_free", context.make("mn_shown_mesh_create", context.pointer, self._pointer)))

    def preview(self, path, size=(960, 540)):
        """A shaded picture as a PNG file."""
        context = self._context
        geos = (ctypes.c_void_p * 1)(self._pointer)
        context.call("mn_plugin_preview", context.pointer, geos, 1, int(size[0]), int(size[1]), encode(path))

    def _repr_png_(self):
        """A picture for notebooks; None where there is nothing to see."""
        if self.point_count == 0:
            return None
        with tempfile.TemporaryDirectory(prefix="meniscus-") as folder:
            path = os.path.join(folder, "picture.png")
            try:
                self.preview(path, (640, 360))
            except errors.Error:
                return None
            with open(path, "rb") as file:
                return file.read()

    def __reduce__(self):
        raise errors.UnsupportedError("a Geometry cannot be pickled; save() it to a file and read() it there")

    def __repr__(self):
        return f"<meniscus.Geometry {self.point_count} points, {self.primitive_count} primitives>"

    # ---- elements ----

    point_count = property(lambda self: lib.mn_geo_count(self._pointer, 0), doc="how many points")
    vertex_count = property(lambda self: lib.mn_geo_count(self._pointer, 1), doc="how many vertices")
    primitive_count = property(lambda self: lib.mn_geo_count(self._pointer, 2), doc="how many primitives")

    def kind_count(self, kind):
        """How many primitives of a kind: "polyline", "polygon", "tetrahedron" or "volume"."""
        return lib.mn_geo_kind_count(self._pointer, number_of(kind, KINDS, "kind of primitive"))

    @property
    def bounds(self):
        """((x, y, z), (x, y, z)): the box around everything, or None when there is nothing."""
        box = lib.mn_geo_bounds(self._pointer)
        low, high = (box.min.x, box.min.y, box.min.z), (box.max.x, box.max.y, box.max.z)
        return None if any(a > b or math.isnan(a) for a, b in zip(low, high)) else (low, high)

    @property
    def bytes(self):
        """Bytes held, those shared with copies counted in full."""
        return lib.mn_geo_bytes(self._pointer)

    @property
    def hash(self):
        """A number that is the same for the same contents."""
        return lib.mn_geo_hash(self._pointer)

    @property
    def vertex_points(self):
        """The point of each vertex."""
        return self._table(c_int64, "mn_geo_vertex_points", self.vertex_count)

    @property
    def primitive_starts(self):
        """primitive_count + 1 numbers: primitive i owns vertices starts[i] to starts[i + 1] - 1."""
        return self._table(c_int64, "mn_geo_primitive_starts", self.primitive_count + 1)

    @property
    def primitive_kinds(self):
        """The kind of each primitive, a place in meniscus.KINDS."""
        return self._table(c_uint8, "mn_geo_primitive_kinds", self.primitive_count)

    def primitive(self, index):
        """(kind, [points]) of one primitive."""
        if not 0 <= index < self.primitive_count:
            raise errors.ArgumentError(f"there is no primitive {index}; there are {self.primitive_count}")
        starts, points = self.primitive_starts, self.vertex_points
        return KINDS[self.primitive_kinds[index]], [int(points[v]) for v in range(starts[index], starts[index + 1])]

    @property
    def volumes(self):
        """All volumes, in order."""
        if self.kind_count("volume") == 0:
            return []
        handle = self._pin()
        all_volumes = (lib.mn_geo_volume(handle.pointer, i) for i in range(self.primitive_count))
        return [Volume(handle, volume) for volume in all_volumes if volume.ops]

    def add_points(self, positions):
        """Appends points, given as rows of three numbers or as how many (at the origin). Returns the first one's number."""
        rows = None if isinstance(positions, int) else flat(positions)
        if rows is not None and len(rows) % 3:
            raise errors.ArgumentError("positions come in threes")
        count = positions if rows is None else len(rows) // 3
        first = c_int64()
        self._context.call("mn_geo_add_points", self._mutable(), count, ctypes.byref(first))
        if rows:
            target = self.write("P")
            if numpy is not None:
                target[first.value:] = numpy.array(rows, numpy.float32).reshape(-1, 3)
            else:
                target.cast("B").cast("f")[3 * first.value:] = memoryview((c_float * len(rows))(*rows)).cast("B").cast("f")
            del target
        return first.value

    def add_primitives(self, kind, primitives):
        """Appends primitives of one kind ("polygon", "polyline", "tetrahedron"), each a list of point numbers. Returns the
        first one's number."""
        rows = [[int(point) for point in row] for row in primitives]
        counts = (c_int32 * len(rows))(*(len(row) for row in rows))
        points = (c_int64 * sum(counts))(*(point for row in rows for point in row))
        first = c_int64()
        self._context.call("mn_geo_add_primitives", self._mutable(), number_of(kind, KINDS, "kind of primitive"), len(rows),
                           counts, 0, points, ctypes.byref(first))
        return first.value

    def append(self, other):
        """Appends everything in another geometry of the same network or, like it, of none."""
        if other._context is not self._context:
            raise errors.ArgumentError("the two belong to different networks; save one to a file and read it back")
        self._context.call("mn_geo_append", self._mutable(), other._pointer)

    def keep(self, kinds):
        """Keeps the primitives of these kinds ("polygon", "volume", ...) with their points, and drops everything else."""
        wanted = {number_of(kind, KINDS, "kind of primitive") for kind in kinds}
        self.keep_primitives([kind in wanted for kind in self.primitive_kinds])

    def keep_primitives(self, wanted):
        """Keeps the primitives that are true in `wanted`, which has one entry for each, with their points, and drops
        everything else."""
        if len(wanted) != self.primitive_count:
            raise errors.ArgumentError(f"there are {self.primitive_count} primitives; got {len(wanted)} entries")
        starts, vertex_points = self.primitive_starts, self.vertex_points
        primitives = (c_uint8 * max(self.primitive_count, 1))()
        points = (c_uint8 * max(self.point_count, 1))()
        for i, keep in enumerate(wanted):
            if keep:
                primitives[i] = 1
                for vertex in range(starts[i], starts[i + 1]):
                    points[vertex_points[vertex]] = 1
        self._context.call("mn_geo_compact", self._mutable(), points, primitives)

    def transform(self, rows):
        """Moves everything by a 4 x 4 matrix that acts on columns: the translation is in its last column."""
        self._context.call("mn_geo_transform", self._mutable(), matrix_of(rows))

    # ---- attributes ----

    def attributes(self, owner=None):
        """All attributes, or those of "point", "vertex", "primitive" or "detail"."""
        owners = range(len(OWNERS)) if owner is None else [number_of(owner, OWNERS, "owner")]
        handle = self._pin()
        return [Attribute(handle, o, lib.mn_geo_attribute_at(handle.pointer, o, i))
                for o in owners for i in range(lib.mn_geo_attribute_count(handle.pointer, o))]

    def attribute(self, name, owner=None):
        """One attribute; without an owner the first of point, vertex, primitive and detail that has it."""
        o = self._owner_of(name, owner)
        handle = self._pin()
        return Attribute(handle, o, lib.mn_geo_find(handle.pointer, o, encode(name)))

    def _owner_of(self, name, owner):
        owners = range(len(OWNERS)) if owner is None else [number_of(owner, OWNERS, "owner")]
        for o in owners:
            if lib.mn_geo_find(self._pointer, o, encode(name)):
                return o
        have = ", ".join(sorted({attribute.name for attribute in self.attributes(owner)}))
        raise errors.NotFoundError(f"there is no {owner + ' ' if owner else ''}attribute {name!r}; there are {have or 'none'}")

    def __contains__(self, name):
        return any(lib.mn_geo_find(self._pointer, o, encode(name)) for o in range(len(OWNERS)))

    def __getitem__(self, name):
        """The values of an attribute, to read."""
        return self.attribute(name).values

    def __setitem__(self, name, values):
        """The values of a point attribute, or of the attribute that is there."""
        owner = self.attribute(name).owner if name in self else "point"
        self.set(name, values, owner)

    def set(self, name, values, owner="point", type=None, size=None, hint=None):
        """Sets all values of an attribute, made when it is missing. Type and size follow from the values unless given."""
        o = number_of(owner, OWNERS, "owner")
        count = lib.mn_geo_count(self._pointer, o)
        if o == 3 and isinstance(values, (int, float, str)):
            values = [values]
        is_text = _is_text(values)
        numbers = list(values) if is_text else flat(values)
        pointer = lib.mn_geo_find(self._pointer, o, encode(name))
        if pointer:
            type, size = TYPES[lib.mn_attribute_type(pointer)], lib.mn_attribute_size(pointer)
            hint = hint or HINTS[lib.mn_attribute_hint(pointer)]
        else:
            whole = not is_text and all(isinstance(number, int) for number in numbers)
            type = type or ("string" if is_text else "i32" if whole else "f32")
            size = size or (max(len(numbers) // count, 1) if count else 1)
        if len(numbers) != count * size:
            raise errors.ArgumentError(f"{name}: {count} elements of {size} need {count * size} values; got {len(numbers)}")
        if is_text != (type == "string"):
            raise errors.ArgumentError(f"{name}: strings and numbers do not mix")
        self.add_attribute(name, owner, type, size, hint or "none")
        if is_text:
            attribute = lib.mn_geo_find(self._mutable(), o, encode(name))
            for i, text in enumerate(numbers):
                self._context.call("mn_attribute_set_string", self._pointer, attribute, i // size, i % size, encode(text))
        elif numbers:
            target = self.write(name, owner)
            if numpy is not None:
                target.reshape(-1)[:] = numbers
            else:
                ctype = CTYPES[TYPES.index(type)]
                source = memoryview((ctype * len(numbers))(*numbers)).cast("B")
                target.cast("B")[:] = source
            del target

    def add_attribute(self, name, owner="point", type="f32", size=1, hint="none"):
        """Adds an attribute of zeros, or finds the one that is there."""
        self._context.make("mn_geo_add_attribute", self._mutable(), number_of(owner, OWNERS, "owner"), encode(name),
                           number_of(type, TYPES, "type"), size, number_of(hint, HINTS, "hint"))

    def remove_attribute(self, name, owner="point"):
        """Removes an attribute; P stays."""
        self._context.call("mn_geo_remove_attribute", self._mutable(), number_of(owner, OWNERS, "owner"), encode(name))

    def write(self, name, owner=None):
        """The values of a numeric attribute to write to, without copying. While the buffer is used, points, primitives,
        attributes and groups cannot be added or removed: del it first."""
        o = self._owner_of(name, owner)
        kept = self._writers.get((o, name), lambda: None)()
        if kept is not None:
            return _view_again(kept)
        pointer = self._mutable(writing=True)
        attribute = lib.mn_geo_find(pointer, o, encode(name))
        kind, count, size = lib.mn_attribute_type(attribute), lib.mn_attribute_count(attribute), lib.mn_attribute_size(attribute)
        if TYPES[kind] == "string":
            raise errors.ArgumentError(f"{name} holds strings; use set()")
        address = lib.mn_attribute_write(pointer, attribute)
        if not address and count:
            raise errors.OutOfMemory("memory ran out")
        memory, array = buffer(CTYPES[kind], address, count, size, self._handle, writable=True)
        self._writers[o, name] = weakref.ref(memory)
        return array

    # ---- groups ----

    def groups(self, owner=None):
        """Names of all groups, or of those of "point", "vertex" or "primitive"."""
        owners = range(3) if owner is None else [number_of(owner, OWNERS[:3], "owner of groups")]
        return [decode(lib.mn_group_name(lib.mn_geo_group_at(self._pointer, o, i)))
                for o in owners for i in range(lib.mn_geo_group_count(self._pointer, o))]

    def group(self, name, owner="point"):
        """A byte per element, 0 or 1, to read."""
        o = number_of(owner, OWNERS[:3], "owner of groups")
        handle = self._pin()
        pointer = lib.mn_geo_find_group(handle.pointer, o, encode(name))
        if not pointer:
            raise errors.NotFoundError(f"there is no {owner} group {name!r}; there are {', '.join(self.groups(owner)) or 'none'}")
        return buffer(c_uint8, lib.mn_group_data(pointer), lib.mn_geo_count(self._pointer, o), 1, handle)[1]

    def set_group(self, name, members, owner="point"):
        """Makes a group of these elements, given by their numbers."""
        o = number_of(owner, OWNERS[:3], "owner of groups")
        count = lib.mn_geo_count(self._pointer, o)
        chosen = [int(i) for i in members]
        if any(not 0 <= i < count for i in chosen):
            raise errors.ArgumentError(f"{name}: members are numbers from 0 to {count - 1}")
        pointer = self._mutable()
        group = self._context.make("mn_geo_add_group", pointer, o, encode(name))
        if count == 0:
            return
        address = lib.mn_group_write(pointer, group)
        if not address:
            raise errors.OutOfMemory("memory ran out")
        memory = (c_uint8 * count).from_address(address)
        ctypes.memset(memory, 0, count)
        for i in chosen:
            memory[i] = 1

    def remove_group(self, name, owner="point"):
        """Removes a group; its elements stay."""
        self._context.call("mn_geo_remove_group", self._mutable(), number_of(owner, OWNERS[:3], "owner of groups"), encode(name))

    # ---- inside ----

    _context = property(lambda self: self._handle.context)
    _pointer = property(lambda self: self._handle.pointer)

    def _table(self, ctype, function, count):
        handle = self._pin()
        return buffer(ctype, getattr(lib, function)(handle.pointer), count, 1, handle)[1]

    def _has_writers(self):
        self._writers = {key: kept for key, kept in self._writers.items() if kept() is not None}
        return bool(self._writers)

    def _refuse_writers(self, what):
        if self._has_writers():
            names = ", ".join(name for _, name in self._writers)
            raise BufferError(f"the geometry cannot be {what} while {names} is being written: del that buffer first")

    def _copied_handle(self):
        return Owned(self._context, "mn_geo_free", self._context.make("mn_geo_copy", self._pointer))

    def _pin(self):
        """What a buffer to read keeps alive: memory that no later change of this geometry touches."""
        if self._has_writers():
            return self._copied_handle()
        self._sealed = True
        return self._handle

    def _mutable(self, writing=False):
        """The library's geometry to change: a copy when somebody reads this one. Buffers that write forbid it."""
        if not writing:
            self._refuse_writers("changed")
        if self._sealed:
            self._handle, self._sealed = self._copied_handle(), False
        return self._pointer


def _is_text(values):
    return isinstance(values, (list, tuple)) and len(values) > 0 and all(isinstance(value, str) for value in values)


def _view_again(memory):
    """Another array over memory that buffer() made."""
    return shaped(memory, memory._rows, memory._size, True)
