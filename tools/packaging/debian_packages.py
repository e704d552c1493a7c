# Debian packages of the installable tree.
# SPDX-License-Identifier: Apache-2.0
"""debian_packages.py --version V --soversion N --tree TARBALL --licence FILE PACKAGE...

Each PACKAGE is a file to write, NAME_VERSION_ARCHITECTURE.deb; NAME is partita or libpartita-runtimeN. The former has
all but the runtime's library, which the latter has alone. What they depend on is what dpkg-shlibdeps finds on this host.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile

import shared_libraries

CONTROL = """Package: %(name)s
Version: %(version)s
Architecture: %(architecture)s
Maintainer: The Partita authors <partita@localhost>
Installed-Size: %(kibibytes)d
Depends: %(depends)s
Section: %(section)s
Priority: optional
Description: %(summary)s
%(text)s
"""
WHAT_IT_IS = """ Partita compiles a dataflow graph for several devices: it decides what runs
 where, inserts transfers, lays out memory, and writes one file, the plan. A
 checker proves the plan before it runs."""
TEXT = {
    "partita": ("compiler and executor of dataflow graphs for several devices",
                WHAT_IT_IS + "\n .\n This package has the program, the libraries, their headers, and examples.", "science"),
    "libpartita-runtime": ("runs plans of Partita, without its compiler",
                           WHAT_IT_IS + "\n .\n This package has the library that programs which only run plans need.",
                           "libs"),
}


def is_elf(path):
    if os.path.islink(path):
        return False
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def files_below(folder):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)


def unpack(tarball, root):
    """The tree at root/usr."""
    with tarfile.open(tarball) as archive:
        archive.extractall(root)  # made by this build
    (folder,) = os.listdir(root)
    os.rename(os.path.join(root, folder), os.path.join(root, "usr"))


def keep(root, wanted):
    """Removes the files for which `wanted` is false, then empty folders."""
    for path in files_below(root):
        if not wanted(os.path.relpath(path, root)):
            os.remove(path)
    for folder, _, _ in os.walk(root, topdown=False):
        if not os.listdir(folder):
            os.rmdir(folder)


def write_control(root, name, kind, given, depends):
    summary, text, section = TEXT[kind]
    size = sum(os.path.getsize(path) for path in files_below(root) if not os.path.islink(path))
    sums = md5sums_of(root)
    os.mkdir(os.path.join(root, "DEBIAN"))
    with open(os.path.join(root, "DEBIAN/md5sums"), "w", encoding="utf-8") as file:
        file.write(sums)
    architecture = subprocess.run(["dpkg", "--print-architecture"], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout.strip()
    with open(os.path.join(root, "DEBIAN/control"), "w", encoding="utf-8") as control:
        control.write(CONTROL % {"name": name, "version": given.version, "architecture": architecture,
                                 "kibibytes": (size + 1023) // 1024, "depends": ", ".join(depends),
                                 "section": section, "summary": summary, "text": text})
    with open(os.path.join(root, "DEBIAN/triggers"), "w", encoding="utf-8") as triggers:
        triggers.write("activate-noawait ldconfig\n")


def md5sums_of(root):
    """A line for each file, as dpkg --verify reads them; md5 finds damage, not attackers."""
    lines = []
    for path in files_below(root):
        if not os.path.islink(path):
            with open(path, "rb") as file:
                digest = hashlib.md5(file.read()).hexdigest()
            lines.append("%s  %s\n" % (digest, os.path.relpath(path, root)))
    return "".join(lines)


def give_modes(root):
    """Whatever the umask of the build is: root writes, all read, and programs run."""
    for folder, _, _ in os.walk(root):
        os.chmod(folder, 0o755)
    for path in files_below(root):
        if not os.path.islink(path):
            os.chmod(path, 0o755 if os.stat(path).st_mode & 0o100 else 0o644)


def write_package(path, given):
    name = os.path.basename(path).split("_")[0]
    runtime = "libpartita-runtime" + given.soversion
    kind = "libpartita-runtime" if name == runtime else name
    library = "usr/lib/libpartita_runtime.so." + given.soversion
    with tempfile.TemporaryDirectory() as root:
        unpack(given.tree, root)
        keep(root, lambda file: (file == library) == (name == runtime))
        depends = shared_libraries.packages_of([file for file in files_below(root) if is_elf(file)])
        if name != runtime:
            depends.append("%s (= %s)" % (runtime, given.version))
        documents = os.path.join(root, "usr/share/doc", name)
        os.makedirs(documents, exist_ok=True)
        shutil.copyfile(given.licence, os.path.join(documents, "copyright"))
        write_control(root, name, kind, given, depends)
        give_modes(root)
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--build", root, path], check=True,
                       stdout=subprocess.DEVNULL, env=dict(os.environ, SOURCE_DATE_EPOCH="315532800"))


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--version", "--soversion", "--tree", "--licence"):
        parser.add_argument(flag, required=True)
    parser.add_argument("packages", nargs="+", metavar="PACKAGE")
    given = parser.parse_args()
    for path in given.packages:
        write_package(path, given)


if __name__ == "__main__":
    main()
