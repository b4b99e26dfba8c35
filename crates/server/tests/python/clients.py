"""What the scripts that drive a client share: operations by name, each tried once, printed as one JSON object."""

import json
import sys
import time
import traceback
from contextlib import contextmanager


class Operations:
    def __init__(self):
        self.tried = []

    @contextmanager
    def __call__(self, name):
        """Records whether the block did what it says; a failure does not stop the next one."""
        failure = None
        begun = time.time()
        try:
            yield
        except Exception as error:  # whatever the client throws is a failure of this operation
            failure = f"{type(error).__name__}: {error}"[:500]
            traceback.print_exc()
        print(f"{name}: {'ok' if failure is None else failure} ({time.time() - begun:.1f} s)", file=sys.stderr)
        self.tried.append({"name": name, "failure": failure})

    def finish(self):
        print(json.dumps({"operations": self.tried}))
        sys.stdout.flush()


def check(condition, *seen):
    if not condition:
        raise AssertionError(" ".join(str(one)[:300] for one in seen) or "not so")


def centre(xml, **wanted):
    """The middle of the first node whose attributes have these values; underscores stand for hyphens."""
    import re
    from xml.etree import ElementTree

    for node in ElementTree.fromstring(xml).iter("node"):
        if all(node.get(key.replace("_", "-")) == value for key, value in wanted.items()):
            left, top, right, bottom = map(int, re.findall(r"\d+", node.get("bounds")))
            return (left + right) // 2, (top + bottom) // 2
    raise AssertionError(f"no node with {wanted} in {xml[:2000]}")
