# Lays out what a package installs, as a tarball.
# SPDX-License-Identifier: Apache-2.0
"""installed_tree.py --version V --soversion N --program PROGRAM --output TARBALL DESTINATION=SOURCE...

A destination is a path in the tree. One that ends with a slash is a folder, and the file keeps its name. A source that
ends with .in is a template: @VERSION@ and @SOVERSION@ are replaced, and the destination is its name without .in.
--program's help becomes the manual page and the completion. The same input gives the same bytes.
"""

import argparse
import gzip
import io
import os
import subprocess
import tarfile
import tempfile

import bash_completion
import manual_page
import program_help

ELF = b"\x7fELF"
TIME = 315532800  # the first that all archives can state: 1980


def without_symbols(content):
    """A program or a library without the symbols that only debuggers read."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        subprocess.run(["strip", "--strip-unneeded", file.name], check=True)
        with open(file.name, "rb") as stripped:
            return stripped.read()


def content_of(source, words):
    with open(source, "rb") as file:
        content = file.read()
    if content.startswith(ELF):
        return without_symbols(content)
    if source.endswith(".in"):
        for word, value in words.items():
            content = content.replace(b"@%s@" % word.encode(), value.encode())
        if b"@" in content:
            raise ValueError("%s: found a word in @ that has no value; expected one of %s" % (source, ", ".join(words)))
    return content


def destination_of(destination, source):
    if destination.endswith("/"):
        destination += os.path.basename(source)
    return destination[:-len(".in")] if source.endswith(".in") and destination.endswith(".in") else destination


def installed_files(pairs, words, program):
    """{path in the tree: bytes}"""
    files = {}
    for pair in pairs:
        destination, _, source = pair.partition("=")
        path = destination_of(destination, source)
        if path in files:
            raise ValueError("%s: found two sources; expected one" % path)
        files[path] = content_of(source, words)
    described = program_help.read(program)
    files["share/man/man1/partita.1"] = manual_page.page(described, words["VERSION"]).encode()
    files["share/bash-completion/completions/partita"] = bash_completion.script(described).encode()
    return files


def links(soversion):
    """{path in the tree: target}, for the linker."""
    return {"lib/%s.so" % name: "%s.so.%s" % (name, soversion) for name in ("libpartita", "libpartita_runtime")}


def is_program(path, content):
    return content.startswith(ELF) and ".so" not in os.path.basename(path)


def write_tarball(path, root, files, symbolic_links):
    """Every path is below the folder `root`."""
    folders = {root}
    for name in list(files) + list(symbolic_links):
        folder = os.path.dirname(name)
        while folder:
            folders.add(os.path.join(root, folder))
            folder = os.path.dirname(folder)
    entries = [(folder, None, None) for folder in folders]
    entries += [(os.path.join(root, name), content, None) for name, content in files.items()]
    entries += [(os.path.join(root, name), None, target) for name, target in symbolic_links.items()]
    with open(path, "wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as compressed, \
            tarfile.open(fileobj=compressed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content, target in sorted(entries, key=lambda row: row[0]):
            entry = tarfile.TarInfo(name)
            entry.mtime, entry.uname, entry.gname = TIME, "root", "root"
            entry.mode = 0o755
            if target is not None:
                entry.type, entry.linkname = tarfile.SYMTYPE, target
                archive.addfile(entry)
            elif content is None:
                entry.type = tarfile.DIRTYPE
                archive.addfile(entry)
            else:
                entry.mode = 0o755 if is_program(name, content) else 0o644
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--version", "--soversion", "--program", "--output"):
        parser.add_argument(flag, required=True)
    parser.add_argument("pairs", nargs="+", metavar="DESTINATION=SOURCE")
    given = parser.parse_args()
    words = {"VERSION": given.version, "SOVERSION": given.soversion}
    root = os.path.basename(given.output)[:-len(".tar.gz")]
    write_tarball(given.output, root, installed_files(given.pairs, words, given.program), links(given.soversion))


if __name__ == "__main__":
    main()
