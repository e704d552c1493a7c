"""One fuzz target, built two ways."""

def fuzz_target(name, srcs, deps, seeds, runs = 3000, free_mib = 16, bytes_per_byte = 512, more_seeds = []):
    """Declares NAME_test (any compiler) and NAME_libfuzzer (clang).

    Args:
      name: as in "plan_text".
      srcs: define LLVMFuzzerTestOneInput, which must return 0 for any bytes and
        end the program when it finds a fault.
      deps: what it fuzzes.
      seeds: files to begin from; the more kinds of input, the better.
      free_mib: MiB that any input may take at once.
      bytes_per_byte: what it may take beside, for each of its own bytes.
      more_seeds: arguments that name seeds which the system has.
      runs: mutated inputs that the test tries, the same ones every time.
    """
    native.cc_library(
        name = name + "_target",
        testonly = True,
        srcs = srcs,
        deps = deps,
        # Only the drivers' main refers to the entry point.
        alwayslink = True,
    )
    native.cc_test(
        name = name + "_test",
        size = "small",
        data = seeds,
        args = [
                   "--runs=%d" % runs,
                   "--seconds=20",
                   "--free_mib=%d" % free_mib,
                   "--bytes_per_byte=%d" % bytes_per_byte,
               ] +
               ["$(locations %s)" % seed for seed in seeds] +
               more_seeds,
        deps = [
            ":fuzz_driver",
            ":" + name + "_target",
        ],
    )
    native.cc_binary(
        name = name + "_libfuzzer",
        testonly = True,
        linkopts = ["-fsanitize=fuzzer"],
        # Built by name only, with --config=libfuzzer.
        tags = ["manual"],
        deps = [":" + name + "_target"],
    )
