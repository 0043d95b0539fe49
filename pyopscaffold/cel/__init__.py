"""The Common Expression Language, as the API server reads it in the rules of a CRD.

``parse`` gives a tree or raises :class:`SyntaxFault`. Types and costs are not judged here.
"""

from __future__ import annotations

from pyopscaffold.cel.ast import Position, SyntaxFault, children, walk
from pyopscaffold.cel.names import RESERVED, escape_field
from pyopscaffold.cel.parser import parse

__all__ = ["RESERVED", "Position", "SyntaxFault", "children", "escape_field", "parse", "walk"]
