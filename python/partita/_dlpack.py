# Arrays of other libraries, by DLPack.
# SPDX-License-Identifier: Apache-2.0

from typing import Any, Protocol, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from partita._errors import Error

# Kinds of devices in dlpack.h whose memory this process reads: kDLCPU, and kDLCUDAHost, which is page-locked.
_HOST = (1, 3)


class SupportsDLPack(Protocol):
    """A tensor of another library, by the protocol DLPack."""

    def __dlpack__(self, *, stream: Any = ...) -> Any:
        """A capsule that refers to its memory."""

    def __dlpack_device__(self) -> Tuple[Any, Any]:
        """The kind and the number of its device."""


Array = NDArray[Any]
ArrayLike = Union[Array, SupportsDLPack]


def view_of(name: str, value: ArrayLike) -> Array:
    """An array of the same memory, which exists as long as the array does."""
    if isinstance(value, np.ndarray):
        return value
    if not hasattr(value, "__dlpack__") or not hasattr(value, "__dlpack_device__"):
        raise Error("INVALID_ARGUMENT", "%s: found %s; expected an array of numpy, or an object with __dlpack__ and "
                                        "__dlpack_device__" % (name, type(value).__name__))
    kind = int(value.__dlpack_device__()[0])
    if kind not in _HOST:
        raise Error("INVALID_ARGUMENT", "%s: found a tensor on a device of DLPack's kind %d; expected one in memory of "
                                        "the host; copy it there" % (name, kind))
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise Error("INVALID_ARGUMENT", "%s: found a tensor that numpy cannot view: %s; expected one that numpy's "
                                        "from_dlpack takes; give an array" % (name, error)) from error


def contiguous(name: str, value: ArrayLike) -> Array:
    """In C's order; a copy only where `value` is not."""
    array = view_of(name, value) if hasattr(value, "__dlpack__") else np.asarray(value)
    return np.ascontiguousarray(array).reshape(array.shape)  # a scalar keeps its rank
