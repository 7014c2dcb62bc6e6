#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says where the time of a CTest run went.

    slowest.py JUNIT_FILE COUNT     seconds by room, then the slowest tests
"""
import sys
import xml.etree.ElementTree as xml
from collections import Counter

tests = {case.get("name"): float(case.get("time", 0)) for case in xml.parse(sys.argv[1]).iter("testcase")}
rooms = Counter()
for name, seconds in tests.items():
    rooms[name.split("_test_")[0]] += seconds
print("  by room: " + ", ".join(f"{room} {seconds:.0f} s" for room, seconds in rooms.most_common() if seconds >= 0.5))
for name, seconds in sorted(tests.items(), key=lambda test: -test[1])[: int(sys.argv[2])]:
    print(f"  {seconds:7.1f} s  {name}")
