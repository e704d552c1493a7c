# Errors of the C API as exceptions.
# SPDX-License-Identifier: Apache-2.0


class Error(Exception):
    """A call that failed. `code` is "INVALID_ARGUMENT", "NOT_FOUND", ...: the names of partita/c_api.h."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__("%s: %s" % (code, message))
        self.code = code
        self.message = message
