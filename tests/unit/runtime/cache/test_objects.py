"""What the cache keeps of an object, and what that takes."""

from __future__ import annotations

import ctypes
import json

import pytest

from pyopscaffold.kube.builtin import CONFIG_MAP
from pyopscaffold.runtime.objects import parse

_BLOCK = 512
"""The largest piece that Python's own allocator gives; what is larger, or was once, is the C library's."""


def _config_map(**metadata: object) -> bytes:
    metadata = {"name": "a", "namespace": "n", "uid": "1", "resourceVersion": "7", **metadata}
    return json.dumps(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "x" * 330}}
    ).encode()


def test_managed_fields_are_left_out() -> None:
    """What remains is the object."""
    item = parse(CONFIG_MAP, _config_map(managedFields=[{"manager": "somebody"}]))
    assert json.loads(item.raw) == json.loads(_config_map())
    assert (item.meta.name, item.version) == ("a", 7)


class _Allocated(ctypes.Structure):
    """What mallinfo2(3) tells."""

    _fields_ = tuple((f"field_{number}", ctypes.c_size_t) for number in range(10))

    @property
    def in_use(self) -> int:
        """Bytes that are given out: ``uordblks``, the eighth."""
        return int(self.field_7)


def _allocated_by_the_c_library() -> int:
    told = ctypes.CDLL(None).mallinfo2
    told.restype = _Allocated
    found: _Allocated = told()
    return found.in_use


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="glibc alone tells what it has given")
def test_kept_texts_take_no_more_than_they_need() -> None:
    """None is cut off a larger piece of memory: pieces that nobody can use would become more with each change."""
    large = _config_map(managedFields=[{"manager": "x" * 1000}])
    assert len(large) > _BLOCK > len(parse(CONFIG_MAP, large).raw) > _BLOCK * 0.8
    before = _allocated_by_the_c_library()
    kept = [parse(CONFIG_MAP, large).raw for _ in range(1000)]
    assert _allocated_by_the_c_library() - before < 0.1 * sum(map(len, kept))
