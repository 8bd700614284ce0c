"""What a test in Python checks, and its exit status: for scripts that go on after the first thing that is wrong."""
import sys

bad = False


def check(what, good, said=""):
    """Says what is wrong unless `good`."""
    global bad
    if not good:
        print(f"FAILED: {what}: {said}")
        bad = True


def end():
    """Ends the test: with status 1 if something was wrong."""
    sys.exit(bad)
