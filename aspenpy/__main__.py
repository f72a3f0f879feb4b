"""`python -m aspenpy` is the command `aspenpy`."""

import sys

from aspenpy.cli.main import main

sys.exit(main())
