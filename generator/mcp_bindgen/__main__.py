"""`python -m mcp_bindgen`."""

import sys

from .cli import main

sys.exit(main())
