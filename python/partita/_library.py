# Opens libpartita.so and calls it.
# SPDX-License-Identifier: Apache-2.0

import os
from typing import Any, Union

from cffi import FFI  # type: ignore[import]  # Debian's has no types

from partita._c_api import DECLARATIONS, PACKAGES, SOVERSION, VERSION
from partita._errors import Error, in_python

__all__ = ["VERSION", "Path", "ffi", "library", "call", "get", "text", "zero_terminated"]

Path = Union[str, "os.PathLike[str]"]

ffi = FFI()
ffi.cdef(DECLARATIONS)


def _open() -> Any:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libpartita.so." + SOVERSION)
    try:
        return ffi.dlopen(path)
    except OSError as error:
        raise ImportError("partita: found that %s does not open: %s; expected the libraries of Debian 12; install %s"
                          % (path, error, ", ".join(PACKAGES))) from error


library: Any = _open()


def text(value: Any) -> str:
    """A string of the C API."""
    return str(ffi.string(value).decode("utf-8", "replace"))


def zero_terminated(value: Path) -> bytes:
    """A path, a name or an option for the C API, where a zero byte would end it early."""
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise Error("INVALID_ARGUMENT", "%r: found a zero byte; expected none" % value)
    return encoded


def call(function: Any, *arguments: Any) -> None:
    """Calls a function with the arguments and a status; raises its error."""
    status = library.partita_status_new()
    if status == ffi.NULL:
        raise MemoryError("partita: found no memory for a status")
    try:
        code = function(*arguments, status)
        if code != library.PARTITA_OK:
            raise Error(text(library.partita_code_name(code)),
                        in_python(text(library.partita_status_message(status))))
    finally:
        library.partita_status_free(status)


def get(kind: str, function: Any, *arguments: Any) -> Any:
    """The same for a function that returns a value by its last pointer, of this C type."""
    value = ffi.new(kind + "*")
    call(function, *arguments, value)
    return value[0]
