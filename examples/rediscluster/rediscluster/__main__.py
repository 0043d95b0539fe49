"""Run the operator: `python -m rediscluster --help` lists the flags."""

from pyopscaffold.runtime import main

main("rediscluster")
