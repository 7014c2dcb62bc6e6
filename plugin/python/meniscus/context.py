# SPDX-License-Identifier: Apache-2.0
"""A context: errors as exceptions, cancel, progress, and memory given back at the right moment."""
import collections
import ctypes
import os
import signal
import threading
import weakref

from . import errors
from .library import LOG, PROGRESS, lib


def encode(text):
    """Text, bytes or a path as the library wants it: without zeros inside."""
    data = os.fsencode(text)
    if b"\0" in data:
        raise errors.ArgumentError("a name or path may not hold a zero byte")
    return data


def decode(data):
    return data.decode("utf-8", "replace") if data else ""


class Native:
    """The library's side of a context. It ends when the context and everything made with it are gone, in whatever order
    Python's garbage collector finds them; what it finds while another thread is cooking is freed when that is done."""

    def __init__(self, session):
        self.session = session
        self.lock = threading.RLock()
        self.running = False
        self.live = 0  # pointers that are not freed yet
        self.wanted = True  # the context is there
        self._graves = collections.deque()

    def bury(self, function, pointer):
        self._graves.append((function, pointer))
        self.tidy()

    def leave(self):
        """The context is gone."""
        self.wanted = False
        self.tidy()

    def tidy(self):
        if not self.lock.acquire(blocking=False):
            return  # whoever holds it tidies up after itself
        try:
            while self._graves and not self.running:
                function, pointer = self._graves.popleft()
                getattr(lib, function)(pointer)
                self.live -= 1
            if not self.wanted and self.live == 0 and self.session:
                session, self.session = self.session, None
                lib.mn_plugin_session_free(session)
        finally:
            self.lock.release()


class Context:
    """One caller at a time: every call goes through the lock."""

    def __init__(self, threads=0, scheduler="threads", progress=None, log=None):
        if scheduler not in ("threads", "tbb"):
            raise errors.ArgumentError(f"the scheduler {scheduler!r} is neither 'threads' nor 'tbb'")
        if not 0 <= int(threads) <= 1024:
            raise errors.ArgumentError("threads must be from 0 (all) to 1024")
        self.progress = progress
        self.log = log
        self._raised = None
        # The callbacks must not keep the context alive, or it would never be freed.
        this = weakref.ref(self)
        self._on_progress = PROGRESS(lambda fraction, what: this() and this()._report(fraction, what))
        self._on_log = LOG(lambda level, sentence: this() and this()._write_log(level, sentence))
        session = lib.mn_plugin_session_create(int(threads), int(scheduler == "tbb"), self._on_progress, self._on_log)
        if not session:
            raise errors.OutOfMemory("memory ran out")
        self._take(session)

    def _take(self, session):
        self.native = Native(session)
        self.pointer = lib.mn_plugin_session_context(session)

    @classmethod
    def _of(cls, session):
        """A context for a session that the library made without Python."""
        self = cls.__new__(cls)
        self.progress = self.log = self._raised = None
        self._take(session)
        return self

    def __del__(self):
        native = getattr(self, "native", None)
        if native is not None:
            native.leave()

    # ---- calls ----

    def check(self, status):
        if status == 0:
            return
        name = decode(lib.mn_status_name(status))
        sentence = decode(lib.mn_context_message(self.pointer)) or decode(lib.mn_status_message(status))
        error = errors.BY_STATUS.get(name, errors.Error)(sentence)
        error.status = name
        raise error

    def call(self, name, *arguments):
        """A function that returns a status, checked."""
        with self.native.lock:
            self._refuse_nesting()
            self.check(getattr(lib, name)(*arguments))
        self.native.tidy()

    def make(self, name, *arguments):
        """The same for one whose last argument takes what it makes; that is returned."""
        made = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(made))
        return made.value

    def run(self, name, *arguments):
        """The same for a long job: it can be cancelled, and what a callback raised comes out here."""
        made, native = ctypes.c_void_p(), self.native
        with native.lock:
            self._refuse_nesting()
            self._raised = None
            native.running = True
            catching = self._would_interrupt() and lib.mn_plugin_session_catch_interrupt(native.session, 1)
            interrupted = False
            try:
                status = getattr(lib, name)(*arguments, ctypes.byref(made))
            finally:
                if catching:
                    interrupted = lib.mn_plugin_session_catch_interrupt(native.session, 0)
                native.running = False
                lib.mn_plugin_session_cancel(native.session, 0)
            raised, self._raised = self._raised, None
            if interrupted and raised is None:
                raise KeyboardInterrupt
            if raised is not None:
                raise raised
            self.check(status)
        native.tidy()
        return made.value

    @staticmethod
    def _would_interrupt():
        """Whether Ctrl-C is to raise KeyboardInterrupt here: Python does that on its main thread, unless told otherwise."""
        return threading.current_thread() is threading.main_thread() \
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def _refuse_nesting(self):
        if self.native.running:
            raise errors.Error("this network is cooking; a callback may cancel it but not use it")

    def cancel(self):
        """Stops what runs now, from any thread; nothing when nothing does."""
        if self.native.running:
            lib.mn_plugin_session_cancel(self.native.session, 1)

    # ---- callbacks, from inside a call ----

    def _report(self, fraction, what):
        try:
            if self.progress is not None and self.progress(fraction, decode(what)) is False:
                self.cancel()
        except BaseException as raised:  # also KeyboardInterrupt: it comes out of run()
            self._raised = raised
            self.cancel()

    def _write_log(self, level, sentence):
        try:
            if self.log is not None:
                self.log(("debug", "info", "warning")[level], decode(sentence))
        except Exception as raised:
            self._raised = raised
            self.cancel()


class Owned:
    """A pointer that is freed with this object, and the context that it belongs to."""

    def __init__(self, context, free, pointer):
        self.context, self.pointer = context, pointer
        self._free = free
        with context.native.lock:
            context.native.live += 1

    def __del__(self):
        if getattr(self, "pointer", None):
            pointer, self.pointer = self.pointer, None
            self.context.native.bury(self._free, pointer)


_default = None
_default_lock = threading.Lock()


def default():
    """The context of geometry that does not come out of a network."""
    global _default
    with _default_lock:
        if _default is None:
            _default = Context()
        return _default
