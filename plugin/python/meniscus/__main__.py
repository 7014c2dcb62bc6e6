# SPDX-License-Identifier: Apache-2.0
"""The `meniscus` command by its library: python -m meniscus cook SCENE -o DIR"""
import os
import signal
import sys
from ctypes import c_char_p

from .library import lib


def main():
    words = [b"meniscus", *map(os.fsencode, sys.argv[1:])]
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the command has its own ways to stop
    return lib.mn_plugin_command(len(words), (c_char_p * (len(words) + 1))(*words, None))


if __name__ == "__main__":
    sys.exit(main())
