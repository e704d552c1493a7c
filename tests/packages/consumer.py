# For all tests of packages: the packages, and folders to use them in.
# SPDX-License-Identifier: Apache-2.0

import os
import subprocess
import sys
import tarfile
import tempfile

PACKAGES = "tools/packaging"
# Of examples/linear_training.graph, in any language (docs/guide/from_c.md).
LOSSES = "step    1: loss 2635.0\nstep   10: loss 429.7\nstep  100: loss 0.2\nstep 1000: loss 0.0\n"
# Of examples/installed/run_plan.cc: a row of x sums the weights of a column to 22, 26 and 30, and t is 25 everywhere.
LOSS_OF_RUN_PLAN = "loss %.1f\n" % (5 * (3**2 + 1**2 + 5**2))


def versions():
    """Version and soversion, which it takes from the command line."""
    version, soversion = sys.argv[1:3]
    del sys.argv[1:3]
    return version, soversion


def run(*words, environment=None, **others):
    """Its output, both streams. An error shows it."""
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(os.environ, **(environment or {})), **others)
    if done.returncode:
        raise AssertionError("%s ended with %d:\n%s" % (" ".join(map(str, words)), done.returncode, done.stdout))
    return done.stdout


class InstalledTree:
    """The tarball, unpacked in a folder of its own outside of the source tree."""

    def __init__(self, version):
        self.scratch = tempfile.TemporaryDirectory()
        with tarfile.open(os.path.join(PACKAGES, "partita-%s-linux-x86_64.tar.gz" % version)) as archive:
            archive.extractall(self.scratch.name)
        (folder,) = os.listdir(self.scratch.name)
        self.prefix = os.path.join(self.scratch.name, folder)

    def path(self, *names):
        return os.path.join(self.prefix, *names)

    def examples(self, *names):
        return self.path("share/partita/examples", *names)

    def training(self):
        """The operands of linear_training."""
        return [self.examples("linear_training.graph"), self.examples("machines/two_small_cpus.json")]
