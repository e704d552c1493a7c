# Sessions: inputs, steps, outputs, variables.
# SPDX-License-Identifier: Apache-2.0

import threading
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from partita._dlpack import Array, ArrayLike, contiguous, view_of
from partita._errors import Error
from partita._library import Path, call, ffi, get, library, text, zero_terminated
from partita._one_call import one_at_a_time
from partita._tensors import TensorType, check_array, empty_tensor, point_to, to_array, type_of

_DEVICES = {"real": library.PARTITA_DEVICES_REAL, "virtual": library.PARTITA_DEVICES_VIRTUAL,
            "timed": library.PARTITA_DEVICES_TIMED}
_CODE = {"build-again": library.PARTITA_CODE_BUILD_AGAIN, "trust": library.PARTITA_CODE_TRUST,
         "refuse": library.PARTITA_CODE_REFUSE}

_MOST_SECONDS = 10**9  # partita_run_options has no longer timeout


class Memory(NamedTuple):
    """The figures of one device in bytes, as partita_memory of partita/c_api.h explains them."""

    arena: int
    persistent: int
    step: int
    depth: int
    allocated: int
    peak: int
    reserved: int
    staging: int
    in_place: int
    committed: int
    limit: int
    device_total: int
    device_free: int
    device_outside: int


class Cancel:
    """Ends the steps that it is given to, from another thread."""

    def __init__(self) -> None:
        self._handle = ffi.gc(get("partita_cancel*", library.partita_cancel_new), library.partita_cancel_free)

    def request(self) -> None:
        """They end with the code CANCELLED, and so do later ones, and those in flight beside them."""
        call(library.partita_cancel_request, self._handle)


def _chosen(values: Mapping[str, int], name: str, value: str) -> int:
    if value not in values:
        raise Error("INVALID_ARGUMENT", "%s: found %r; expected one of %s" % (name, value, ", ".join(values)))
    return values[value]


def _milliseconds(timeout: float) -> int:
    """At least one, unless there is no limit."""
    if not 0 <= timeout <= _MOST_SECONDS:
        raise Error("INVALID_ARGUMENT", "timeout: found %s; expected 0..%d seconds" % (timeout, _MOST_SECONDS))
    return 0 if timeout == 0 else max(1, round(timeout * 1000))


class Session:
    """One use of a plan. It takes one call at a time; make one for each thread. Close it, or use `with`."""

    def __init__(self, plan: Any, entry: str, devices: str, code: str, copy_constants: bool,
                 split_gpu: int) -> None:
        """Use Plan.session."""
        options = ffi.new("partita_session_options*")
        options.struct_size = ffi.sizeof("partita_session_options")
        options.devices = _chosen(_DEVICES, "devices", devices)
        options.code = _chosen(_CODE, "code", code)
        options.copy_constants = int(copy_constants)
        options.split_gpu = split_gpu
        self._session: Any = ffi.NULL  # if the next line raises
        self._session = get("partita_session*", library.partita_session_new, plan, options)
        self._entry = entry
        self._one_call = threading.RLock()
        # By entry, kind and name: what the library may access.
        self._bound: Dict[Tuple[str, str, str], Array] = {}
        self._in_flight: Dict[int, Tuple[Array, ...]] = {}

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_session", ffi.NULL) != ffi.NULL:
            library.partita_session_free(self._session)

    @property
    def _handle(self) -> Any:
        if self._session == ffi.NULL:
            raise Error("INVALID_HANDLE", "session: found a closed one; expected an open one; make another by Plan.session")
        return self._session

    @one_at_a_time
    def close(self) -> None:
        """Stops steps in flight and frees memory. Later calls raise INVALID_HANDLE."""
        if self._session == ffi.NULL:
            return
        code = library.partita_session_free(self._session)
        if code != library.PARTITA_OK:
            raise Error(text(library.partita_code_name(code)), "close: found another call at work")
        self._session = ffi.NULL
        self._bound.clear()
        self._in_flight.clear()

    @property
    @one_at_a_time
    def notice(self) -> str:
        """One line about native code and shared GPUs, or ""."""
        return text(get("const char*", library.partita_session_notice, self._handle))

    @property
    @one_at_a_time
    def depth(self) -> int:
        """Steps that may be in flight."""
        return int(get("int32_t", library.partita_session_depth, self._handle))

    @one_at_a_time
    def use_entry(self, name: str) -> None:
        """Later calls concern this function of the model."""
        call(library.partita_session_use_entry, self._handle, zero_terminated(name))
        self._entry = name

    @property
    @one_at_a_time
    def inputs(self) -> Dict[str, TensorType]:
        """By name, in the model's order."""
        return self._types("input")

    @property
    @one_at_a_time
    def outputs(self) -> Dict[str, TensorType]:
        """By name, in the model's order."""
        return self._types("output")

    @property
    @one_at_a_time
    def variables(self) -> Dict[str, TensorType]:
        """What steps update, such as weights in training."""
        return self._types("variable")

    @one_at_a_time
    def run(self, inputs: Optional[Mapping[str, ArrayLike]] = None, *, timeout: float = 0, trace: bool = False,
            cancel: Optional[Cancel] = None) -> Dict[str, Array]:
        """Runs one step, and returns the outputs that are not bound.

        inputs: by name, arrays or tensors of other libraries, by DLPack; those that are left out keep their value.
            They are copied, whatever their strides.
        timeout: in seconds; the step ends with DEADLINE_EXCEEDED after it. 0: no limit.
        trace: measure every command, for write_trace.
        """
        if inputs is not None and not isinstance(inputs, Mapping):
            raise Error("INVALID_ARGUMENT", "inputs: found %s; expected a mapping from names to arrays"
                        % type(inputs).__name__)
        for name, value in ({} if inputs is None else inputs).items():
            self.set_input(name, value)
        call(library.partita_session_run, self._handle, self._run_options(timeout, trace, cancel))
        return {name: self.output(name) for name in self.outputs if (self._entry, "output", name) not in self._bound}

    @one_at_a_time
    def set_input(self, name: str, value: ArrayLike) -> None:
        """Copies the array, or the tensor of another library: it is the input of every step from now on."""
        self._give(library.partita_session_set_input, "input", name, contiguous("input " + name, value))
        self._bound.pop((self._entry, "input", name), None)

    @one_at_a_time
    def bind_input(self, name: str, array: ArrayLike) -> None:
        """Steps read the memory of the array, or of the tensor of another library, which must be C-contiguous and not
        change while a step runs."""
        view = view_of("input " + name, array)
        self._give(library.partita_session_bind_input, "input", name, view)
        self._bound[self._entry, "input", name] = view

    @one_at_a_time
    def bind_output(self, name: str, array: Array) -> None:
        """Steps write the array itself, which must be C-contiguous. Nobody else may access it while a step runs.

        Other libraries share it by their from_dlpack(array).
        """
        if not isinstance(array, np.ndarray):
            raise Error("INVALID_ARGUMENT", "output %s: found %s; expected an array of numpy, which other libraries share "
                                            "by from_dlpack" % (name, type(array).__name__))
        if not array.flags.writeable:
            raise Error("INVALID_ARGUMENT", "output %s: found a read-only array; expected one to write" % name)
        self._give(library.partita_session_bind_output, "output", name, array)
        self._bound[self._entry, "output", name] = array

    @one_at_a_time
    def output(self, name: str) -> Array:
        """A copy of an output that is not bound, from the last step."""
        tensor = empty_tensor()
        call(library.partita_session_get_output, self._handle, self._index("output", name), tensor)
        return to_array(tensor)

    @one_at_a_time
    def submit(self, *, timeout: float = 0, trace: bool = False, cancel: Optional[Cancel] = None) -> int:
        """Starts a step with the present bindings and returns its number. Up to `depth` are in flight."""
        step = int(get("uint64_t", library.partita_session_submit, self._handle,
                       self._run_options(timeout, trace, cancel)))
        self._in_flight[step] = tuple(self._bound.values())
        return step

    @one_at_a_time
    def wait(self, step: int) -> None:
        """Waits for the oldest step in flight, which must be this one, and raises its error."""
        try:
            call(library.partita_session_wait, self._handle, step)
        except Error as error:
            if error.code in ("FAILED_PRECONDITION", "INVALID_ARGUMENT", "INVALID_HANDLE"):
                raise  # not this one: its arrays stay in use
            self._in_flight.pop(step, None)
            raise
        self._in_flight.pop(step, None)

    @one_at_a_time
    def read_variable(self, name: str) -> Array:
        """A copy."""
        kind = self._known("variable", name)
        array = np.empty(kind.shape, kind.numpy_dtype)
        self._give(library.partita_session_read_variable, "variable", name, array)
        return array

    @one_at_a_time
    def write_variable(self, name: str, value: ArrayLike) -> None:
        """On all devices that have it."""
        self._give(library.partita_session_write_variable, "variable", name, contiguous("variable " + name, value))

    @one_at_a_time
    def restore(self) -> None:
        """Resets variables to their initial values; a failed session works again."""
        call(library.partita_session_restore, self._handle)
        self._in_flight.clear()  # none is: the call refuses otherwise

    @one_at_a_time
    def write_trace(self, path: Path) -> None:
        """Writes the last step, which ran with trace=True, in Chrome's trace format."""
        call(library.partita_session_write_trace, self._handle, zero_terminated(path))

    @one_at_a_time
    def memory(self) -> Dict[str, Memory]:
        """The figures of now, by device."""
        figures = {}
        for i in range(get("size_t", library.partita_session_num_devices, self._handle)):
            memory = ffi.new("partita_memory*")
            memory.struct_size = ffi.sizeof("partita_memory")
            call(library.partita_session_memory, self._handle, i, memory)
            name = text(get("const char*", library.partita_session_device_name, self._handle, i))
            figures[name] = Memory(*(getattr(memory, field) for field in Memory._fields))
        return figures

    def _function(self, name: str) -> Any:
        return getattr(library, "partita_session_" + name)

    def _names(self, kind: str) -> Dict[str, int]:
        count = get("size_t", self._function("num_%ss" % kind), self._handle)
        return {text(get("const char*", self._function(kind + "_name"), self._handle, i)): i for i in range(count)}

    def _index(self, kind: str, name: str) -> int:
        names = self._names(kind)
        if name not in names:
            expected = "one of " + ", ".join(names) if names else "none"
            raise Error("NOT_FOUND", "found no %s %s; expected %s" % (kind, name, expected))
        return names[name]

    def _type(self, kind: str, index: int) -> TensorType:
        tensor = empty_tensor()
        call(self._function(kind + "_type"), self._handle, index, tensor)
        return type_of(tensor)

    def _types(self, kind: str) -> Dict[str, TensorType]:
        return {name: self._type(kind, index) for name, index in self._names(kind).items()}

    def _known(self, kind: str, name: str) -> TensorType:
        return self._type(kind, self._index(kind, name))

    def _give(self, function: Any, kind: str, name: str, array: Array) -> None:
        """Calls a function that takes a tensor of the array's memory."""
        index = self._index(kind, name)
        tensor = empty_tensor()
        call(self._function(kind + "_type"), self._handle, index, tensor)
        where = "%s %s" % (kind, name)
        check_array(where, array, type_of(tensor))
        point_to(where, tensor, array)
        call(function, self._handle, index, tensor)

    def _run_options(self, timeout: float, trace: bool, cancel: Optional[Cancel]) -> Any:
        options = ffi.new("partita_run_options*")
        options.struct_size = ffi.sizeof("partita_run_options")
        options.timeout_ms = _milliseconds(timeout)
        options.trace = int(trace)
        options.cancel = ffi.NULL if cancel is None else cancel._handle
        return options
