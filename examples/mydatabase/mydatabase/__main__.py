"""Run the operator: `python -m mydatabase --help` lists the flags."""

from pyopscaffold.runtime import main

main("mydatabase")
