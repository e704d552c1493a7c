"""Tests of recorded cases."""

def recorded_test(name, size):
    """NAME_test.cc over the cases of NAME.txt, which cases.py writes.

    Args:
      name: of both files.
      size: as of a cc_test.
    """
    native.cc_test(
        name = name + "_test",
        size = size,
        srcs = [name + "_test.cc"],
        data = [name + ".txt"],
        deps = [
            ":recorded_case",
            ":recorded_runs",
            "//graph",
            "@system//:gtest",
        ],
    )
