"""What each step of a first day prints."""

import re
import time

# Where pictures and what terminals have shown are kept; None for nowhere.
keep = None


class Failed(Exception):
    """A line that does not do what README says, with what was seen."""


def told(passed, what, evidence="", began=None):
    """Prints a step with its outcome; what has failed ends the day."""
    took = "" if began is None else f"{time.monotonic() - began:.1f} s"
    print(f"{'ok' if passed else 'failed':6} {took:>7}  {what}", flush=True)
    if not passed:
        raise Failed(str(evidence))


def eventually(what, condition, evidence=lambda: "", seconds=60):
    """Waits for something, prints it as a step and returns what the condition gave."""
    began = time.monotonic()
    while not (found := condition()) and time.monotonic() - began < seconds:
        time.sleep(0.05)
    told(found, what, "" if found else evidence(), began)
    return found


def match(pattern, text):
    """The first place in a text that is of a pattern; without one the day ends."""
    found = re.search(pattern, text, re.M)
    if not found:
        told(False, f"there is '{pattern}'", text)
    return found
