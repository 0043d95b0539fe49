"""UX02: a description starts with the field's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyopscaffold.kube.values import text
from pyopscaffold.lint.edits import with_keywords
from pyopscaffold.lint.example import spec, widget
from pyopscaffold.lint.finding import Severity
from pyopscaffold.lint.rule import Fix, Hit, Profile, Rule
from pyopscaffold.lint.subject import Version

if TYPE_CHECKING:
    from collections.abc import Iterator


def check(version: Version) -> Iterator[Hit]:
    """Report the author's own fields whose description starts with another word."""
    for node in version.own("spec", "status"):
        description = text(node.schema.get("description")).lstrip()
        if node.name and description and not description.startswith(node.name):
            message = f"the description of {node.field} does not start with {node.name}"
            fix = Fix(with_keywords(node, description=f"{node.name}: {description}"))
            yield Hit((*node.path, "description"), message, node.field, fix=fix)


RULE = Rule(
    id="UX02",
    name="description-name",
    severity=Severity.WARNING,
    profile=Profile.OPT_IN,
    subject=Version,
    what="A field's description starts with its name.",
    why="It is the custom of Go, and of the linter for Kubernetes' own types: such a description can be searched for "
    "and quoted alone.",
    check=check,
    good=(
        spec("replicas: {type: integer, description: replicas is the number of pods.}").replace(
            "Desired", "spec is the desired"
        ),
    ),
    bad=(spec("replicas: {type: integer, description: Number of pods.}"),),
    good_class=widget(
        '''
        replicas: int32 = 0
        """replicas is the number of pods."""
        ''',
        status='''
        observed_generation: int64 | None = None
        """observedGeneration is the generation of the spec that this status is about."""
        ''',
    )
    .replace("Desired", "spec is the desired")
    .replace("Observed", "status is the observed"),
    bad_class=widget(),
)
