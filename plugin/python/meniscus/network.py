# SPDX-License-Identifier: Apache-2.0
"""Networks of nodes, built in code or read from a scene, cooked frame by frame."""
import ctypes
import html
import json
from ctypes import c_int32

from . import errors
from .context import Context, Owned, decode, encode
from .geometry import Geometry, flat
from .library import Key, ParmValue, lib
from .tables import node_types


def number_of_frame(frame):
    try:
        return float(frame)
    except (TypeError, ValueError):
        raise errors.ArgumentError(f"{frame!r} is not a frame") from None


def whole(frame):
    return int(number_of_frame(frame))


class Node:
    """A node of a network. Its parameters are attributes: node.radius = 0.1; node["radius"] is the same, for a parameter
    whose name means something else here. A dict or a list of (frame, value) animates: node.radius = {1: 0, 24: 1}."""

    table = None  #: the NodeType

    def __init__(self, network, number):
        self.__dict__["network"], self.__dict__["_number"] = network, number

    def __repr__(self):
        return f"<meniscus.Node {self.name} ({self.table.name})>"

    def __eq__(self, other):
        return isinstance(other, Node) and other.network is self.network and other._number == self._number

    def __hash__(self):
        return hash((id(self.network), self._number))

    def __setattr__(self, name, value):
        if name in self.table.parms:
            self[name] = value
        else:
            raise AttributeError(self._no_parm(name))

    def __getattr__(self, name):
        if not name.startswith("_") and self.table is not None and name in self.table.parms:
            return self[name]
        raise AttributeError(self._no_parm(name))

    def _no_parm(self, name):
        parms = ", ".join(self.table.parms) if self.table is not None else ""
        return f"{self.table.name} has no parameter {name!r}; it has {parms}"

    @property
    def name(self):
        """The node's name."""
        return decode(lib.mn_network_node_name(self.network._pointer, self._number))

    # ---- parameters ----

    def __setitem__(self, name, value):
        if isinstance(value, dict):
            self.animate(name, value)
            return
        parm, pointer, number = self._parm(name), self.network._pointer, self._number
        if isinstance(value, str):
            self.network._context.call("mn_network_set_string" if parm.type in ("string", "file", "menu") else
                                       "mn_network_set_text", pointer, number, encode(name), encode(value))
            return
        if parm.type in ("string", "file") and hasattr(value, "__fspath__"):
            self.network._context.call("mn_network_set_string", pointer, number, encode(name), encode(value))
            return
        numbers = self._numbers(parm, value)
        if parm.size == 1:
            self.network._context.call("mn_network_set_number", pointer, number, encode(name), 0, numbers[0])
        else:  # all components at once, or none
            self.network._context.call("mn_network_set_text", pointer, number, encode(name), encode(" ".join(map(repr, numbers))))

    def _numbers(self, parm, value):
        """A value as one number per component."""
        try:
            numbers = [float(one) for one in flat(value)]
        except (errors.ArgumentError, OverflowError) as error:
            raise errors.ArgumentError(f"{self.table.name} '{self.name}': {parm.name}: {error}") from None
        numbers = numbers * parm.size if len(numbers) == 1 else numbers
        if len(numbers) != parm.size:
            raise errors.ArgumentError(f"{self.table.name} '{self.name}': {parm.name} has {parm.size} components; got {len(numbers)}")
        return numbers

    def __getitem__(self, name):
        return self.value(name)

    def value(self, name, frame=1):
        """The value of a parameter at a frame: a number, a tuple, a string or True."""
        parm, value = self._parm(name), ParmValue()
        self.network._context.call("mn_network_parm", self.network._pointer, self._number, encode(name), frame, ctypes.byref(value))
        if parm.type in ("string", "file"):
            return decode(value.string)
        if parm.type == "menu":
            return parm.items[int(value.number[0])]
        if parm.type == "toggle":
            return value.number[0] != 0
        numbers = tuple(int(n) if parm.type == "int" else n for n in value.number[:parm.size])
        return numbers[0] if parm.size == 1 else numbers

    def animate(self, name, keys):
        """Keys {frame: value} or [(frame, value)], linear between them. None takes the animation away."""
        parm = self._parm(name)
        if parm.type in ("menu", "string", "file"):
            raise errors.ArgumentError(f"{self.table.name} '{self.name}': {name} cannot be animated")
        if keys is None:
            self.reset_parm(name)
            return
        try:
            pairs = sorted(keys.items()) if isinstance(keys, dict) else [(frame, value) for frame, value in keys]
        except (TypeError, ValueError):
            raise errors.ArgumentError(f"{self.table.name} '{self.name}': keys of {name} are {{frame: value}}") from None
        if not pairs:
            raise errors.ArgumentError(f"{self.table.name} '{self.name}': {name} got no keys; reset_parm takes an animation away")
        table = (Key * len(pairs))()
        for key, (frame, value) in zip(table, pairs):
            key.frame = self._numbers(parm, frame)[0] if not isinstance(frame, (int, float)) else frame
            key.value[:parm.size] = self._numbers(parm, value)
        self.network._context.call("mn_network_set_keys", self.network._pointer, self._number, encode(name), len(pairs), table)

    def keys(self, name):
        """The keys of a parameter as [(frame, value)], empty when it is not animated."""
        parm, keys = self._parm(name), ctypes.POINTER(Key)()
        count = lib.mn_network_keys(self.network._pointer, self._number, encode(name), ctypes.byref(keys))
        return [(keys[i].frame, keys[i].value[0] if parm.size == 1 else tuple(keys[i].value[:parm.size])) for i in range(count)]

    def reset_parm(self, name):
        """Back to the default."""
        self._parm(name)
        self.network._context.call("mn_network_reset_parm", self.network._pointer, self._number, encode(name))

    def _is_changed(self, name):
        """Whether a parameter is animated or has another value than its default."""
        default = self.table.parms[name].default
        return bool(self.keys(name)) or self[name] != (tuple(default) if isinstance(default, list) else default)

    def _shown(self, name):
        return "animated" if self.keys(name) else repr(self[name])

    def _parm(self, name):
        if name not in self.table.parms:
            # The library's sentence has the nearest spelling.
            self.network._context.call("mn_network_reset_parm", self.network._pointer, self._number, encode(name))
        return self.table.parms[name]

    # ---- connections ----

    def connect(self, source, input=0, output=0):
        """Connects an output of another node to an input of this one; None disconnects. Returns this node."""
        self.network._context.call("mn_network_connect", self.network._pointer, self._number, input,
                                   -1 if source is None else self.network._number_of(source), output)
        return self

    @property
    def inputs(self):
        """What is connected: (node, output) or None for each input."""
        found = []
        for i in range(lib.mn_network_input_count(self.network._pointer, self._number)):
            source, output = c_int32(), c_int32()
            lib.mn_network_input(self.network._pointer, self._number, i, ctypes.byref(source), ctypes.byref(output))
            found.append(None if source.value < 0 else (self.network._node(source.value), output.value))
        return found

    # ---- cooking ----

    def cook(self, frame=1, output=0):
        """The geometry at a frame. Cooks only what has changed; simulations go on from what they have."""
        return self.network.cook(self, frame, output)

    def report(self, frame=1):
        """What a simulating node says about a frame, in SI units, as --report writes it: energies, momenta, volume, steps,
        seconds. None for other nodes."""
        text = self.network._context.run("mn_plugin_report", self.network._pointer, self._number, whole(frame))
        if not text:
            return None
        try:
            return json.loads(decode(ctypes.string_at(text)))
        finally:
            lib.mn_scene_free_text(self.network._context.pointer, text)

    def reset(self):
        """Forgets what the node has cooked or simulated."""
        self.network._context.call("mn_network_reset_node", self.network._pointer, self._number)

    def remove(self):
        """Takes the node out of the network."""
        self.network._context.call("mn_network_remove_node", self.network._pointer, self._number)

    @property
    def error(self):
        """The sentence of its last failure, or ""."""
        return decode(lib.mn_network_node_error(self.network._pointer, self._number))

    @property
    def warnings(self):
        """What it warned about in its last cook."""
        count = lib.mn_network_warning_count(self.network._pointer, self._number)
        return [decode(lib.mn_network_warning(self.network._pointer, self._number, i)) for i in range(count)]

    @property
    def cook_count(self):
        """How often it has really been cooked or advanced."""
        return lib.mn_network_cook_count(self.network._pointer, self._number)


def _parm_property(parm):
    return property(lambda self: self[parm.name], lambda self, value: self.__setitem__(parm.name, value), doc=parm.doc)


_classes = {}


def node_class(table):
    """The class of nodes of a type, with a documented property for each parameter."""
    if table.name not in _classes:
        members = {name: _parm_property(parm) for name, parm in table.parms.items() if not hasattr(Node, name)}
        members.update(table=table, __doc__=table.__doc__, __module__="meniscus")
        _classes[table.name] = type(table.name, (Node,), members)
    return _classes[table.name]


class Network:
    """Nodes and their connections.

    net = meniscus.Network()
    ball = net.add("shape", "ball", kind="sphere")
    fill = net.add("fill", "fill", inputs=[ball], dx=0.02)
    geo = fill.cook(frame=1)

    `progress` is called with (fraction, what) from the cooking thread; False or an exception from it cancels.
    `threads` 0 means all; results do not depend on it, nor on the scheduler ("threads" or "tbb")."""

    def __init__(self, threads=0, scheduler="threads", progress=None, log=None, _make=None):
        self._context = Context(threads, scheduler, progress, log)
        make = _make or (lambda context: context.make("mn_network_create", context.pointer, None))
        self._handle = Owned(self._context, "mn_network_free", make(self._context))

    _pointer = property(lambda self: self._handle.pointer)

    def __repr__(self):
        return f"<meniscus.Network {self.title or 'untitled'}: {', '.join(node.name for node in self.nodes) or 'empty'}>"

    def _repr_html_(self):
        """For notebooks: nodes, what they get and what was changed about them."""
        rows = []
        for node in self.nodes:
            inputs = ", ".join(f"{i}: {one[0].name}" + (f":{one[1]}" if one[1] else "") for i, one in enumerate(node.inputs) if one)
            changed = ", ".join(f"{name} {node._shown(name)}" for name in node.table.parms if node._is_changed(name))
            rows.append("".join(f"<td style='text-align:left'>{html.escape(text)}</td>" for text in (node.name, node.table.name, inputs, changed)))
        head = "".join(f"<th style='text-align:left'>{word}</th>" for word in ("node", "type", "inputs", "parameters"))
        title = html.escape(self.title or "untitled")
        return (f"<table><caption>{title}, frames {self.frames[0]} to {self.frames[1]} at {self.fps:g} fps</caption>"
                f"<tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>")

    # ---- scenes ----

    @classmethod
    def load(cls, path, **options):
        """Reads a scene. Options are those of Network()."""
        return cls(_make=lambda context: context.make("mn_scene_read", context.pointer, None, encode(path)), **options)

    @classmethod
    def from_text(cls, text, name="scene", **options):
        """Reads a scene from a string."""
        data = text.encode("utf-8")
        return cls(_make=lambda context: context.make("mn_scene_read_memory", context.pointer, None, data, len(data),
                                                      encode(name)), **options)

    def save(self, path):
        """Writes the network as a scene."""
        self._context.call("mn_scene_write", self._pointer, encode(path))

    def to_text(self):
        """The network as the text of a scene."""
        text = self._context.make("mn_scene_write_text", self._pointer)
        try:
            return decode(ctypes.string_at(text))
        finally:
            lib.mn_scene_free_text(self._context.pointer, text)

    # ---- settings ----

    @property
    def fps(self):
        """Frames per second."""
        return lib.mn_network_fps(self._pointer)

    @fps.setter
    def fps(self, value):
        self._context.call("mn_network_set_fps", self._pointer, value)

    @property
    def dx(self):
        """Grid spacing in metres that nodes follow unless their own is set; 0 for none."""
        return lib.mn_network_dx(self._pointer)

    @dx.setter
    def dx(self, value):
        self._context.call("mn_network_set_dx", self._pointer, value)

    @property
    def frames(self):
        """(first, last): what the scene wants cooked."""
        first, last = c_int32(), c_int32()
        lib.mn_network_range(self._pointer, ctypes.byref(first), ctypes.byref(last))
        return first.value, last.value

    @frames.setter
    def frames(self, value):
        self._context.call("mn_network_set_range", self._pointer, *value)

    @property
    def title(self):
        """What the scene is called."""
        return decode(lib.mn_network_title(self._pointer))

    @title.setter
    def title(self, value):
        self._context.call("mn_network_set_title", self._pointer, encode(value))

    @property
    def folder(self):
        """Where relative paths of file parameters start; "" is the working folder."""
        return decode(lib.mn_network_folder(self._pointer))

    @folder.setter
    def folder(self, value):
        self._context.call("mn_network_set_folder", self._pointer, encode(value))

    @property
    def output(self):
        """The node that the scene is about, or None."""
        number = lib.mn_network_output(self._pointer)
        return None if number < 0 else self._node(number)

    @output.setter
    def output(self, node):
        self._context.call("mn_network_set_output", self._pointer, -1 if node is None else self._number_of(node))

    def set_cache_limit(self, bytes):
        """Bytes that simulated frames may take in memory."""
        lib.mn_network_set_cache_limit(self._pointer, bytes)

    @property
    def progress(self):
        """Called with (fraction, what) while cooking, at most twenty times a second."""
        return self._context.progress

    @progress.setter
    def progress(self, function):
        self._context.progress = function

    # ---- nodes ----

    def add(self, type, name=None, inputs=(), **parms):
        """Adds a node, connects its inputs (nodes, (node, output) pairs or None) and sets its parameters."""
        number = c_int32()
        self._context.call("mn_network_add_node", self._pointer, encode(type), encode(name or self._free_name(type)),
                           ctypes.byref(number))
        node = self._node(number.value)
        try:
            for i, source in enumerate(inputs):
                pair = source if isinstance(source, tuple) else (source, 0)
                node.connect(pair[0], i, pair[1])
            for parm, value in parms.items():
                node[parm] = value
        except Exception:
            node.remove()
            raise
        return node

    def __getitem__(self, name):
        """A node by name."""
        number = c_int32()
        self._context.call("mn_network_require", self._pointer, encode(name), ctypes.byref(number))
        return self._node(number.value)

    def __contains__(self, name):
        return any(node.name == name for node in self.nodes)

    @property
    def nodes(self):
        """All nodes, in the order they were added."""
        limit = lib.mn_network_node_limit(self._pointer)
        return [self._node(i) for i in range(limit) if lib.mn_network_node_type(self._pointer, i)]

    def cook(self, node=None, frame=1, output=0):
        """The geometry of a node (or its name; default the scene's output) at a frame."""
        number = lib.mn_network_output(self._pointer) if node is None else self._number_of(node)
        if number < 0:
            raise errors.ArgumentError("the network has no output; say which node to cook")
        with self._context.native.lock:  # what is borrowed is good until the next cook
            borrowed = self._context.run("mn_network_cook", self._pointer, number, output, number_of_frame(frame))
            return Geometry._borrowed(self._context, borrowed)

    def save_checkpoint(self, node, folder):
        """Writes the state of every simulation that `node` gets something from into `folder`, at the latest frame that all
        of them have reached. Works after a cancelled cook."""
        self._context.call("mn_network_save_checkpoint", self._pointer, self._number_of(node), encode(folder))

    def load_checkpoint(self, node, folder):
        """Loads what save_checkpoint wrote. Returns the frame it holds, to go on after, or None when there is none. Fails
        when it is damaged, or of other parameters or inputs; cooking then starts from the beginning."""
        frame = c_int32()
        self._context.call("mn_network_load_checkpoint", self._pointer, self._number_of(node), encode(folder), ctypes.byref(frame))
        return None if frame.value == -2 ** 31 else frame.value

    def cancel(self):
        """Stops the running cook, from any thread. It raises meniscus.Cancelled within a substep."""
        self._context.cancel()

    # ---- inside ----

    def _free_name(self, type):
        taken = {node.name for node in self.nodes}
        return next(name for name in (f"{type}{i}" for i in range(1, len(taken) + 2)) if name not in taken)

    def _number_of(self, node):
        if isinstance(node, str):
            node = self[node]
        if node.network is not self:
            raise errors.ArgumentError(f"{node!r} belongs to another network")
        return node._number

    def _node(self, number):
        return node_class(node_types()[self._type_name(number)])(self, number)

    def _type_name(self, number):
        # mn_node_type begins with its name.
        pointer = lib.mn_network_node_type(self._pointer, number)
        if not pointer:
            raise errors.NotFoundError("the node has been removed")
        return decode(ctypes.c_char_p.from_address(pointer).value)
