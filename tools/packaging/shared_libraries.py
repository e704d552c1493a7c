# Which Debian packages have the shared libraries that files need.
# SPDX-License-Identifier: Apache-2.0

import os
import subprocess
import tempfile


def packages_of(files):
    """["libc6 (>= 2.36)", ...] by dpkg-shlibdeps, for programs and libraries of these paths."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "debian"))
        # The tool must find one; its answer does not depend on it.
        with open(os.path.join(folder, "debian/control"), "w", encoding="utf-8") as control:
            control.write("Source: partita\n\nPackage: partita\nArchitecture: any\n")
        words = ["-e" + os.path.abspath(file) for file in files]
        # It warns that the files are not where a package's build has them.
        done = subprocess.run(["dpkg-shlibdeps", "-O", "--warnings=0"] + words, cwd=folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise ValueError("dpkg-shlibdeps: " + done.stderr)
    found = done.stdout
    name, _, value = found.strip().partition("=")
    if name != "shlibs:Depends" or not value:
        raise ValueError("dpkg-shlibdeps: found %r; expected shlibs:Depends=..." % found)
    return sorted(value.split(", "))
