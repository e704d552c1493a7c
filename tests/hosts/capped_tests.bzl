"""Runs tests again as on processors with fewer instructions."""

def capped_tests(name, tests, caps = ["SSE41", "AVX2"], tags = []):
    """Declares NAME_sse41_test and NAME_avx2_test, which run what is built for `tests`.

    Args:
      name: of the part of the project.
      tests: {test target: the GoogleTest filter of what runs of it}. They must need no arguments.
      caps: in oneDNN's words; a processor that has no more skips the cap, and says so.
      tags: of each of the targets. Sanitizers see the tests themselves, without a cap.
    """
    for cap in caps:
        native.sh_test(
            name = "%s_%s_test" % (name, cap.lower()),
            size = "medium",
            srcs = [":capped_tests.sh"],
            args = [
                "$(location //tools/partita)",
                cap,
            ] + ["$(location %s)=%s" % (test, only) for test, only in tests.items()],
            data = ["//tools/partita"] + tests.keys(),
            env = {"OMP_WAIT_POLICY": "passive"},
            tags = tags + [
                "no-asan",
                "no-tsan",
                "no-ubsan",
            ],
        )
