# The program partita: python -m partita COMMAND ...
# SPDX-License-Identifier: Apache-2.0

import os
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "partita")

os.execv(PROGRAM, [PROGRAM] + sys.argv[1:])
