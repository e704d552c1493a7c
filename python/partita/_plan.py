# Plans: compiled, loaded, written.
# SPDX-License-Identifier: Apache-2.0

import os
from typing import Any, Iterator, List, Mapping, Tuple, Union

from partita._errors import Error, with_options
from partita._library import Path, call, ffi, get, library, text, zero_terminated
from partita._session import Session

Option = Union[Path, int, float, bool, List[Any], Tuple[Any, ...], Mapping[str, Any]]


class Plan:
    """A proved plan. It does not change; any number of threads may use it."""

    def __init__(self, handle: Any) -> None:
        """Use compile or load."""
        self._handle = ffi.gc(handle, library.partita_plan_free)

    @property
    def name(self) -> str:
        """Of the model's module."""
        return text(get("const char*", library.partita_plan_name, self._handle))

    @property
    def summary(self) -> str:
        """The strategy that placed it, and the predicted steps of the others, one a line."""
        return text(get("const char*", library.partita_plan_summary, self._handle))

    @property
    def warnings(self) -> List[str]:
        """What the importer doubted while this process compiled the plan."""
        return text(get("const char*", library.partita_plan_warnings, self._handle)).splitlines()

    @property
    def entries(self) -> List[str]:
        """The functions of the model."""
        count = get("size_t", library.partita_plan_num_entries, self._handle)
        return [text(get("const char*", library.partita_plan_entry_name, self._handle, i)) for i in range(count)]

    def write(self, path: Path) -> None:
        """Writes a plan file: the old file or the complete new one is there at any time."""
        call(library.partita_plan_write, self._handle, zero_terminated(path))

    def session(self, devices: str = "real", code: str = "build-again", *, copy_constants: bool = False,
                split_gpu: int = 1) -> Session:
        """A use of the plan, with memory and variables of its own.

        devices: "real", those that the plan names; "virtual", threads and memory of this host emulate them; "timed",
            threads sleep for the predicted times and compute nothing.
        code: what happens to native code in a plan that was not built by this process. "build-again": it does not
            run; "trust": it runs, as a program that nothing proves; "refuse": PERMISSION_DENIED.
        copy_constants: constants of CPUs are copied from the mapped plan.
        split_gpu: the number of the plan's devices on each GPU.
        """
        return Session(self._handle, self.entries[0], devices, code, copy_constants, split_gpu)


def _values(value: Option) -> Iterator[str]:
    """The values of one option, which is repeated for each."""
    if isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, Mapping):
        for name, extents in value.items():
            listed = extents if isinstance(extents, (list, tuple)) else [extents]
            yield "%s=%s" % (name, ",".join(str(extent) for extent in listed))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _values(one)
    else:
        yield os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _words(options: Mapping[str, Option]) -> Iterator[str]:
    """KEY=VALUE, as the C API takes options."""
    for name, option in options.items():
        if option is None:
            raise Error("INVALID_ARGUMENT", "%s: found None; expected a value; leave it out" % name)
        for value in _values(option):
            yield "%s=%s" % (name.replace("_", "-"), value)


def compile(model: Path, **options: Option) -> Plan:
    """Compiles a model into a proved plan.

    model: an ONNX file, a module as text (NAME.graph), or builtin:NAME.
    options: the flags of `partita compile`, with _ for -: machine="two_gpus.json", strategy="pipeline",
        dim={"batch": 8}, shape={"x": (1, 3, 640, 640)}, pin=["encoder*=gpu:0"], ieee=True. Without a machine the plan
        is for this host.

    It is one call of the library, which nothing ends early: Ctrl-C raises KeyboardInterrupt after it. A program that
    must be able to end it compiles in a process of its own, writes the plan there and loads it.
    """
    strings = [ffi.new("char[]", zero_terminated(word)) for word in _words(options)]
    try:
        return Plan(_new_plan(library.partita_compile, zero_terminated(model), ffi.new("char*[]", strings),
                              len(strings)))
    except Error as error:
        raise Error(error.code, with_options(error.message, options)) from None


def load(plan: Union[Path, bytes, bytearray, memoryview]) -> Plan:
    """Reads a plan file, or its bytes, and proves the plan. The file must not change while the plan is in use."""
    if isinstance(plan, (bytes, bytearray, memoryview)):
        view = ffi.from_buffer(plan)
        return Plan(_new_plan(library.partita_plan_load_memory, view, len(view)))
    return Plan(_new_plan(library.partita_plan_load, zero_terminated(plan)))


def _new_plan(function: Any, *arguments: Any) -> Any:
    return get("partita_plan*", function, *arguments)
