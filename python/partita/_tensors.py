# Types and arrays on both sides of the C API.
# SPDX-License-Identifier: Apache-2.0

from typing import Any, NamedTuple, Tuple

import numpy as np

from partita._dlpack import Array
from partita._errors import Error
from partita._library import ffi, library, text

# numpy has no bf16.
_NUMPY = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": np.uint16,
          "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
          "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_}


class TensorType(NamedTuple):
    """The type of an input, an output or a variable: TensorType(dtype='f32', shape=(8, 64))."""

    dtype: str
    shape: Tuple[int, ...]

    @property
    def numpy_dtype(self) -> "np.dtype[Any]":
        """Of its arrays; uint16 for bf16."""
        return np.dtype(_NUMPY[self.dtype])


def empty_tensor() -> Any:
    tensor = ffi.new("partita_tensor*")
    tensor.struct_size = ffi.sizeof("partita_tensor")
    return tensor


def type_of(tensor: Any) -> TensorType:
    return TensorType(text(library.partita_dtype_name(tensor.dtype)), tuple(tensor.dims[i] for i in range(tensor.rank)))


def to_array(tensor: Any) -> Array:
    """A copy of a tensor that belongs to a session."""
    kind = type_of(tensor)
    array = np.empty(kind.shape, kind.numpy_dtype)
    if array.nbytes:
        ffi.memmove(ffi.cast("char*", array.ctypes.data), tensor.data, array.nbytes)
    return array


def check_array(name: str, array: Array, kind: TensorType) -> None:
    if array.dtype != kind.numpy_dtype or array.shape != kind.shape:
        raise Error("INVALID_ARGUMENT", "%s: found an array of %s%s; expected %s%s"
                    % (name, array.dtype, list(array.shape), kind.numpy_dtype, list(kind.shape)))


def point_to(name: str, tensor: Any, array: Array) -> None:
    """The array must exist as long as the C API uses the tensor's data."""
    if not array.flags.c_contiguous:
        raise Error("INVALID_ARGUMENT", "%s: found an array with strides; expected a C-contiguous one; copy it" % name)
    tensor.data = ffi.cast("void*", array.ctypes.data)
    tensor.bytes = array.nbytes
