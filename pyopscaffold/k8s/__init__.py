"""Kubernetes' own types as dataclasses, in the modules of Go's k8s.io/api: ``pyopscaffold.k8s.apps.v1.StatefulSet``.

A class is made when it is first asked for, with those that it reaches; the ``.pyi`` beside a module shows them as the
plain keyword-only dataclasses that they behave as. All but this module and ``_types`` is made by
``make kubernetes-types`` from what a real API server publishes.
"""
