"""A version that is no longer served."""

from dataclasses import dataclass

from pyopscaffold.api import Object, resource


@dataclass(kw_only=True)
class GadgetSpec:
    """Desired state of an old Gadget."""

    colour: str | None = None


@resource(
    group="example.com",
    version="v1beta1",
    plural="gadgetry",
    scope="Cluster",
    short_names=["gd", "gdt"],
    categories=["all", "acme"],
    served=False,
    storage=False,
    deprecated="use v1",
)
@dataclass(kw_only=True)
class Gadget(Object):
    """A gadget as it was."""

    spec: GadgetSpec
