# SPDX-License-Identifier: Apache-2.0
"""What went wrong, as exceptions. The text is the sentence that Meniscus has for the artist."""


class Error(RuntimeError):
    """Anything that Meniscus could not do. `status` is its code's name, such as "MN_ERROR_INPUT"."""

    status = ""


class OutOfMemory(Error, MemoryError):
    """Memory ran out."""


class Cancelled(Error):
    """The cook was stopped by cancel(), by a callback, or by Ctrl-C. Frames already made are kept."""


class ArgumentError(Error, ValueError):
    """A parameter is outside what it may be."""


class InputError(Error):
    """The input geometry cannot be used as it is."""


class FormatError(Error):
    """A file is damaged or not of the format it claims."""


class UnsupportedError(Error):
    """This cannot be represented here."""


class FileError(Error, OSError):
    """Reading or writing failed."""


class NotFoundError(Error, LookupError):
    """There is no such thing."""


class SceneError(Error, ValueError):
    """The scene is not valid."""


class DivergedError(Error):
    """The solver could not take the step even at its smallest time step."""


BY_STATUS = {
    "MN_ERROR_MEMORY": OutOfMemory,
    "MN_ERROR_CANCELLED": Cancelled,
    "MN_ERROR_ARGUMENT": ArgumentError,
    "MN_ERROR_INPUT": InputError,
    "MN_ERROR_FORMAT": FormatError,
    "MN_ERROR_UNSUPPORTED": UnsupportedError,
    "MN_ERROR_IO": FileError,
    "MN_ERROR_NOT_FOUND": NotFoundError,
    "MN_ERROR_SCENE": SceneError,
    "MN_ERROR_DIVERGED": DivergedError,
}
