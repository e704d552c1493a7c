# Errors of the C API as exceptions, in the words of this package.
# SPDX-License-Identifier: Apache-2.0

import re
from typing import Iterable

# Names of the C API, the C++ API and the program that messages tell users to use, and what they are here. The first
# that matches is taken: one name has no other in it.
_PYTHON_NAMES = (
    (r"\bpartita_plan_load\b", "partita.load"),
    (r"\bpartita_session_new\b", "Plan.session"),
    (r"\bpartita_session_free\b", "Session.close"),
    (r"\bpartita_session_(?=[a-z])", "Session."),
    (r"\bpartita_plan_(?=[a-z])", "Plan."),
    (r"\bpartita_run_options\.trace = 1\b", "trace=True"),
    (r"\bPARTITA_CODE_BUILD_AGAIN\b", 'code="build-again"'),
    (r"\bPARTITA_CODE_TRUST\b", 'code="trust"'),
    (r"\bPARTITA_CODE_REFUSE\b", 'code="refuse"'),
    (r"\bRestore\(\)", "Session.restore"),
    (r"(?<!\w )--virtual\b", 'devices="virtual"'),
    (r"--trust-code\b", 'code="trust"'),
    (r"^split-gpu(?=:)", "split_gpu"),
)
_UNKNOWN_OPTION = ": found no such option; "


class Error(Exception):
    """A call that failed. `code` is "INVALID_ARGUMENT", "NOT_FOUND", ...: the names of partita/c_api.h."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__("%s: %s" % (code, message))
        self.code = code
        self.message = message


def in_python(message: str) -> str:
    """A message of the C API with the names of this package."""
    for pattern, name in _PYTHON_NAMES:
        message = re.sub(pattern, name, message)
    return message


def with_options(message: str, given: Iterable[str]) -> str:
    """A message about options of these names, spelled as here, with _ for -: others are those that it proposes."""
    head, unknown, proposed = message.partition(_UNKNOWN_OPTION)
    message = head + unknown + proposed.replace("-", "_")
    for name in given:
        message = re.sub(r"(?<![\w/.-])%s(?![\w/.-])" % re.escape(name.replace("_", "-")), name, message)
    return re.sub(r"(?<![\w/.-])[a-z]+(?:-[a-z]+)+(?==)", lambda key: key[0].replace("-", "_"), message)
