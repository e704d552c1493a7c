"""The version of Partita: of the program, its libraries and its packages. Nothing else states it.

CHANGELOG.md has an entry for each.
"""

VERSION = "0.1.0"

# Of the shared libraries' interface, partita/c_api.h. It changes if a program that was built with an older header no
# longer runs.
SOVERSION = "1"
