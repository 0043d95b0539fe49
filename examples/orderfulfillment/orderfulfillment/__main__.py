"""Run the operator: `python -m orderfulfillment --help` lists the flags."""

from pyopscaffold.runtime import main

main("orderfulfillment")
