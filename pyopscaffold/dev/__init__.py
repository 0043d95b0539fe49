"""``pyopscaffold dev``: a cluster on the laptop, the project installed in it, and the operator run again on change."""
