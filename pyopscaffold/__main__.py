"""``python -m pyopscaffold`` is the command line."""

from pyopscaffold.cli.app import main

if __name__ == "__main__":
    main()
