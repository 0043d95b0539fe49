"""Thousands of CRDs with random faults, judged by a real API server and by the linter's ``apiserver`` rules.

    python benchmarks/lint_oracle.py [COUNT] [SEED] [FOLDER]

The CRDs of FOLDER (../shared/corpus) of at most 60 kB, and the linter's own examples, are changed in up to three places
each. Every difference is shown with the changes that led to it; the exit code is 1 if there was one.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pyopscaffold.document.reader import Document, Source, scan
from pyopscaffold.lint.subject import CRD_API_VERSION, Manifest
from pyopscaffold.testing import ControlPlane
from tests.cluster.crd_mutants import mutant
from tests.cluster.crd_oracle import ask, differences, manifest_of
from tests.cluster.refusals import REFUSALS

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
LARGEST = 60_000
EVERY = 250


def main(count: int = 2000, seed: int = 0, folder: str = str(CORPUS)) -> int:
    """Search, with a line of progress now and then."""
    random = Random(seed)  # noqa: S311 - mutants are no secrets
    started, refused, found = time.monotonic(), 0, 0
    seeds = [*(manifest_of(refusal.good).data for refusal in REFUSALS), *_shipped(Path(folder))]
    with ControlPlane() as server:
        client = server.client()
        for tried in range(1, count + 1):
            data, said = mutant(random.choice(seeds), random)
            answer = ask(client, data)
            refused += answer.refused
            if answer.panicked:
                print("the server has no answer\n  " + "\n  ".join(said))
            if unlike := differences(answer, manifest_of(json.dumps(data))):
                found += 1
                print(f"{data.get('metadata')}\n  " + "\n  ".join([*said, *(f"-> {text[:400]}" for text in unlike)]))
            if tried % EVERY == 0:
                print(
                    f"{tried}: {refused} refused, {found} differences, {time.monotonic() - started:.0f} s", flush=True
                )
    return int(found > 0)


def _shipped(folder: Path) -> list[dict[str, Any]]:
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size < LARGEST):
        for part in scan(Source(path.name, path.read_text("utf-8"))):
            if isinstance(part, Document) and isinstance(part.data, dict):
                manifest = Manifest(part, (), part.data)
                if manifest.is_crd and manifest.api_version == CRD_API_VERSION and not manifest.is_template:
                    found.append(part.data)
    return found


if __name__ == "__main__":
    arguments: list[Any] = [*map(int, sys.argv[1:3]), *sys.argv[3:]]
    sys.exit(main(*arguments))
