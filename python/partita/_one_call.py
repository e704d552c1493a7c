# One call of a session at a time, for whole methods.
# SPDX-License-Identifier: Apache-2.0

import functools
from typing import Any, Callable, TypeVar, cast

from partita._errors import Error

_Method = TypeVar("_Method", bound=Callable[..., Any])


def one_at_a_time(method: _Method) -> _Method:
    """Refuses a call beside that of another thread, as the C API does; `self._one_call` is a threading.RLock.

    A method is several calls of the C API: another thread between them may free what the first has returned.
    """

    @functools.wraps(method)
    def guarded(self: Any, *arguments: Any, **named: Any) -> Any:
        if not self._one_call.acquire(blocking=False):
            raise Error("FAILED_PRECONDITION", "session: found a second call while one is at work; expected one at a "
                                               "time; make a session of the plan for each thread")
        try:
            return method(self, *arguments, **named)
        finally:
            self._one_call.release()

    return cast(_Method, guarded)
