# SPDX-License-Identifier: Apache-2.0
"""A simulation on a thread of its own. It touches nothing of Blender's: a scene as text goes in, files come out, and the
main thread looks at a few plain values. So the interface stays alive, and undo can take back whatever it likes."""
import threading
import time

from . import cache
from .native import meniscus

CHECKPOINT_SHARE = 15  # at most a fifteenth of the time goes into checkpoints


class BakeJob:
    def __init__(self, plan, folder, frames, skip=(), resume=False, threads=0, memory=1 << 30):
        self.text, self.folder, self.results = plan.text, str(folder), list(plan.results)
        self.frames, self.skip, self.resume = list(frames), set(skip), resume
        self.frame = self.frames[0] if self.frames else 0
        self.fraction, self.what = 0.0, ""
        self.done_frames = 0
        self.kinds = {result.stem: set() for result in self.results}
        self.errors, self.warnings = {}, {}  # by the scene's node names
        self.sentence, self.cancelled, self.is_done = "", False, False
        self.started = time.monotonic()
        self._threads, self._memory = threads, memory
        self._network, self._stop = None, False
        self._thread = threading.Thread(target=self._run, name="meniscus-bake", daemon=True)

    @property
    def is_started(self):
        return self._thread.ident is not None

    def start(self):
        # While an operator runs in a context that a script has overridden, Blender reads the script's dictionary without
        # Python's lock if any thread holds it (3.4: BPY_context_member_get asks whether Python is active, not whose turn it
        # is). So a job starts when no operator is being called, from the timer, and what it needs of Python is made here.
        for table in meniscus.node_types().values():
            meniscus.network.node_class(table)
        self._thread.start()
        return self

    def run(self):
        """The same on the caller's thread."""
        self._run()
        return self

    def cancel(self):
        """Stops within a substep; frames that are done stay."""
        self._stop = True
        network = self._network
        if network is not None:
            network.cancel()

    def wait(self, seconds=None):
        if not self.is_started and self._stop:
            self.cancelled = self.is_done = True
            return True
        if not self.is_started:  # nobody else would
            self.start()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def progress(self):
        """The whole, from 0 to 1."""
        count = max(len(self.frames), 1)
        return min(1.0, (self.done_frames + min(max(self.fraction, 0.0), 1.0) * (not self.is_done)) / count)

    @property
    def seconds_left(self):
        """A guess, or None at the beginning."""
        passed, progress = time.monotonic() - self.started, self.progress
        return passed * (1 - progress) / progress if progress > 0.02 and passed > 1 else None

    # ---- on the thread ----

    def _report(self, fraction, what):
        self.fraction, self.what = fraction, what
        return not self._stop

    def _run(self):
        try:
            self._cook()
        except meniscus.Cancelled:
            self.cancelled = True
        except meniscus.Error as error:
            self.sentence = str(error)
        except Exception as error:  # a thread that dies in silence would leave the artist waiting
            self.sentence = f"{type(error).__name__}: {error}"
        finally:
            self._leave_checkpoint()
            self._network = None
            self.is_done = True

    def _cook(self):
        network = meniscus.Network.from_text(self.text, name="scene.json", threads=self._threads, scheduler="tbb",
                                             progress=self._report)
        network.folder = self.folder
        network.set_cache_limit(self._memory)
        self._network = network
        if self.resume:
            self._load_checkpoint()
        saved, spent = time.monotonic(), 0.0
        for frame in self.frames:
            if self._stop:
                raise meniscus.Cancelled("stopped")
            self.frame, self.fraction = frame, 0.0
            if frame not in self.skip:
                self._cook_frame(network, frame)
            self.done_frames += 1
            now = time.monotonic()
            if now - saved > max(5.0, CHECKPOINT_SHARE * spent):
                self._leave_checkpoint()
                saved, spent = time.monotonic(), time.monotonic() - now

    def _cook_frame(self, network, frame):
        for result in self.results:
            try:
                geo = network.cook(result.source, frame, result.output)
            finally:
                self._collect(network)
            self.kinds[result.stem] |= cache.save_frame(self.folder, result.stem, frame, geo)

    def _collect(self, network):
        for node in network.nodes:
            if node.error:
                self.errors[node.name] = node.error
            for warning in node.warnings:
                self.warnings[node.name] = warning

    def _load_checkpoint(self):
        for result in self.results:
            try:
                self._network.load_checkpoint(result.source, self.folder)
            except meniscus.Cancelled:
                raise
            except meniscus.Error:
                pass  # it does not fit: the simulation runs through from its start and gives the same frames

    def _leave_checkpoint(self):
        """A cook that was stopped or ended goes on from here."""
        for result in self.results if self._network is not None else ():
            try:
                self._network.save_checkpoint(result.source, self.folder)
            except meniscus.Error:
                pass  # without it a resumed bake takes longer, and is the same
