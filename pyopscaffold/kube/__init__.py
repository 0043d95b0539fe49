"""Pure vocabulary of Kubernetes: no I/O, no project concepts, standard library only."""
