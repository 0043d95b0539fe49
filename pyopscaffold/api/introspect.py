"""How a dataclass is read: its fields with resolved types, markers and JSON names.

The codec and the reader of declarations share this, so that both see the same API.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from dataclasses import MISSING, dataclass
from typing import Annotated, Any, get_args, get_origin

from pyopscaffold.api.markers import Name
from pyopscaffold.kube.names import camel_case


@dataclass(frozen=True)
class FieldInfo:
    """One dataclass field.

    ``type`` has neither the outermost ``Annotated`` nor the ``| None``; those are ``metadata`` and ``optional``.
    ``default`` is a value or :data:`dataclasses.MISSING`; a ``default_factory`` has been called.
    """

    name: str
    json_name: str
    type: Any
    metadata: tuple[Any, ...]
    optional: bool
    default: Any

    @property
    def required(self) -> bool:
        """Whether Python demands a value: there is no default."""
        return self.default is MISSING


def fields_of(cls: type) -> tuple[FieldInfo, ...]:
    """Return the fields of a dataclass in order, with type hints resolved.

    Raises:
        NameError: a type hint names something that its module does not define.

    """
    hints = typing.get_type_hints(cls, include_extras=True)
    return tuple(_field_info(field, hints[field.name]) for field in dataclasses.fields(cls))


def unwrap(hint: Any) -> tuple[Any, tuple[Any, ...], bool]:
    """Split a hint into plain type, metadata (outermost last) and whether None is allowed."""
    metadata: tuple[Any, ...] = ()
    optional = False
    while True:
        if get_origin(hint) is Annotated:
            hint, *outer = get_args(hint)
            metadata = (*outer, *metadata)
        elif _is_union(hint) and type(None) in get_args(hint):
            optional = True
            members = tuple(member for member in get_args(hint) if member is not type(None))
            if len(members) > 1:
                return typing.Union[members], metadata, optional  # noqa: UP007 - built from values
            hint = members[0]
        elif (alias := _aliased(hint)) is not None:
            hint = alias
        else:
            return hint, metadata, optional


def _aliased(hint: Any) -> Any:
    """Return what a ``type`` statement (PEP 695) or ``NewType`` stands for, None for anything else."""
    if isinstance(hint, typing.NewType):
        return hint.__supertype__
    return getattr(hint, "__value__", None) if type(hint).__name__ == "TypeAliasType" else None


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in {typing.Union, types.UnionType}


def _field_info(field: dataclasses.Field[Any], hint: Any) -> FieldInfo:
    plain, metadata, optional = unwrap(hint)
    explicit = [marker.json for marker in metadata if isinstance(marker, Name)]
    default = field.default
    if field.default_factory is not MISSING:
        default = field.default_factory()
    return FieldInfo(
        name=field.name,
        json_name=explicit[-1] if explicit else camel_case(field.name),
        type=plain,
        metadata=metadata,
        optional=optional,
        default=default,
    )
