"""``python -m pyopscaffold`` is the command line.

The runtime's wheel has this file: pytest takes a module at the top of the tool's, which registers a plugin, for one to
rewrite, and warns that ``__main__`` is imported already.
"""

import sys
from importlib.util import find_spec

if __name__ == "__main__":
    if find_spec("pyopscaffold.cli") is None:
        sys.stderr.write(
            "error: this is the runtime alone\nhint: the command line comes with the package pyopscaffold\n"
        )
        sys.exit(2)
    from pyopscaffold.cli.entry import main

    main()
