"""The Common Expression Language, as the API server reads it in the rules of a CRD.

``parse`` gives a tree of :mod:`pyopscaffold.cel.ast` or raises :class:`SyntaxFault`. Types and costs are not judged.
"""

from __future__ import annotations

from pyopscaffold.cel.ast import Call, Constant, Expression, Position, SyntaxFault, variables, walk
from pyopscaffold.cel.parser import parse
from pyopscaffold.kube.celnames import escape_field

__all__ = ["Call", "Constant", "Expression", "Position", "SyntaxFault", "escape_field", "parse", "variables", "walk"]
