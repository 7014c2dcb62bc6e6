# SPDX-License-Identifier: Apache-2.0
"""A simulation on a thread of the library's own. It touches nothing of Blender's and nothing of Python's: a scene as text
goes in, files come out, and the main thread looks at a few plain values. So the interface stays alive, undo can take back
whatever it likes, and no operator can stand in its way."""
import time

from .native import meniscus

TICK = 0.2  # seconds between looks at a job


class BakeJob:
    """`frames` are those of the range, `skip` the ones that are there already. With `hold` it waits before it writes its
    first frame: what is to give way for it goes then, and release() lets it go on."""

    def __init__(self, plan, folder, frames, skip=(), resume=False, hold=False, threads=0, memory=1 << 30, branch=None):
        self.plan, self.folder, self.results = plan, str(folder), list(plan.results)
        self.frames, self.skip, self.resume, self.hold = list(frames), set(skip), resume, hold
        self._settings = {"threads": threads, "memory": memory, "branch": branch}
        self._wanted = [frame for frame in self.frames if frame not in self.skip]
        self._job, self._stop = None, False
        self.started = time.monotonic()
        self.is_done = self.cancelled = False
        self.sentence, self.errors, self.warnings = "", {}, {}  # the latter by the scene's node names

    @property
    def is_started(self):
        return self._job is not None

    def start(self):
        if self._job is None and not self._stop:
            results = [(result.source, result.output, result.stem) for result in self.results]
            self._job = meniscus.CookJob(self.plan.text, self.folder, results, self._wanted, resume=self.resume,
                                         hold=self.hold, **self._settings)
        return self

    def cancel(self):
        """Stops within a substep; frames that are done stay."""
        self._stop = True
        if self._job is not None:
            self._job.cancel()

    def wait(self, seconds=1e6):
        """Until it is held or has ended, at most so long. True when it has ended."""
        if self.is_done:
            return True
        if self._job is None and self._stop:
            self.cancelled = self.is_done = True
            return True
        self.start()
        if self._job.wait(seconds) == meniscus.CookJob.ENDED:
            self._end()
        return self.is_done

    def look(self):
        """The state as it is now, without waiting."""
        return self.wait(0.0)

    @property
    def is_held(self):
        return self._job is not None and self._job.look()[0] == meniscus.CookJob.HELD

    def release(self):
        self._job.release()

    def _end(self):
        for node, sentence, is_error in self._job.notes():
            (self.errors if is_error else self.warnings)[node] = sentence
        status = self._job.status
        self.cancelled = status == "MN_ERROR_CANCELLED"
        if status != "MN_OK" and not self.cancelled:
            self.sentence = self._job.message
        self.is_done = True

    # ---- how far it is ----

    @property
    def written(self):
        """Frames that this run has written."""
        return self._job.look()[1] if self._job is not None else 0

    @property
    def done_frames(self):
        """Frames of the range that are there, counted from its beginning."""
        written = set(self._wanted[:self.written])
        for i, frame in enumerate(self.frames):
            if frame not in self.skip and frame not in written:
                return i
        return len(self.frames)

    @property
    def frame(self):
        return self._job.look()[2] if self._job is not None and self._wanted else self.frames[0] if self.frames else 0

    def kinds_of(self, stem):
        number = [result.stem for result in self.results].index(stem)
        return self._job.kinds(number) if self._job is not None else set()

    @property
    def progress(self):
        """The whole, from 0 to 1."""
        if self._job is None or not self._wanted:
            return float(self.is_done)
        _, done, _, fraction = self._job.look()
        return min(1.0, (done + min(max(fraction, 0.0), 1.0) * (not self.is_done)) / len(self._wanted))

    @property
    def seconds_left(self):
        """A guess, or None at the beginning."""
        passed, progress = time.monotonic() - self.started, self.progress
        return passed * (1 - progress) / progress if progress > 0.02 and passed > 1 else None
