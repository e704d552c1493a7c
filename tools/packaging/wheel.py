# The Python wheel: the package's sources, and from the installable tree the library and the program.
# SPDX-License-Identifier: Apache-2.0
"""wheel.py --version V --soversion N --tree TARBALL --header c_api.h --licence FILE --output WHEEL SOURCE...

The wheel's tag is linux_ARCHITECTURE, and not manylinux: its library needs shared libraries of Debian 12, which its
metadata name (Requires-External). The same input gives the same bytes.
"""

import argparse
import base64
import hashlib
import os
import tarfile
import tempfile
import zipfile

import cffi_declarations
import shared_libraries

TIME = (1980, 1, 1, 0, 0, 0)
METADATA = """Metadata-Version: 2.1
Name: partita
Version: %(version)s
Summary: Compiles dataflow graphs for several devices, proves the plans and runs them
License: Apache-2.0
Requires-Python: >=3.8
Requires-Dist: cffi>=1.15
Requires-Dist: numpy>=1.23
%(external)s
A thin layer over libpartita, which is in the wheel. `python -m partita` is the program.
"""
WHEEL = """Wheel-Version: 1.0
Generator: partita %(version)s
Root-Is-Purelib: false
Tag: %(tag)s
"""


def library_files(tree, soversion):
    """{path in the wheel: (bytes, executable)}; the places are those that the library and the program search."""
    wanted = {"lib/libpartita.so." + soversion, "lib/partita/libpartita_codegen.so", "lib/partita/partita_onednn",
              "bin/partita"}
    files = {}
    with tarfile.open(tree) as archive:
        for entry in archive:
            path = entry.name.partition("/")[2]
            if path in wanted:
                files["partita/" + path] = (archive.extractfile(entry).read(), entry.mode & 0o100 != 0)
    if len(files) != len(wanted):
        raise ValueError("%s: found %s; expected %s" % (tree, ", ".join(sorted(files)), ", ".join(sorted(wanted))))
    return files


def packages_of(files):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, (content, _) in files.items():
            paths.append(os.path.join(folder, os.path.basename(name)))
            with open(paths[-1], "wb") as file:
                file.write(content)
        return shared_libraries.packages_of(paths)


def c_api_module(header, packages, given):
    with open(header, encoding="utf-8") as file:
        text = cffi_declarations.module(file.read())
    return text + ("\nVERSION = %r\nSOVERSION = %r\nPACKAGES = %r\n" % (given.version, given.soversion, [
        package.split(" ")[0] for package in packages])).replace("'", '"')


def record(files, path):
    lines = []
    for name, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append("%s,sha256=%s,%d\n" % (name, digest, len(content)))
    return "".join(sorted(lines)) + path + ",,\n"


def write(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files, key=lambda name: (".dist-info/" in name, name)):  # pip reads them last
            content, executable = files[name]
            entry = zipfile.ZipInfo(name, TIME)
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--version", "--soversion", "--tree", "--header", "--licence", "--output"):
        parser.add_argument(flag, required=True)
    parser.add_argument("sources", nargs="+", metavar="SOURCE")
    given = parser.parse_args()
    files = library_files(given.tree, given.soversion)
    packages = packages_of(files)
    for source in given.sources:
        with open(source, "rb") as file:
            files["partita/" + os.path.basename(source)] = (file.read(), False)
    files["partita/_c_api.py"] = (c_api_module(given.header, packages, given).encode(), False)
    information = "partita-%s.dist-info/" % given.version
    external = "".join("Requires-External: %s\n" % package for package in packages)
    tag = "-".join(os.path.basename(given.output)[:-len(".whl")].split("-")[2:])
    words = {"version": given.version, "external": external, "tag": tag}
    files[information + "METADATA"] = ((METADATA % words).encode(), False)
    files[information + "WHEEL"] = ((WHEEL % words).encode(), False)
    with open(given.licence, "rb") as file:
        files[information + "LICENSE"] = (file.read(), False)
    files[information + "RECORD"] = (record(files, information + "RECORD").encode(), False)
    write(given.output, files)


if __name__ == "__main__":
    main()
