"""Conversions between the spellings of Python, JSON and kinds."""

from __future__ import annotations

import pytest

from pyopscaffold.kube.names import camel_case, field_name, snake_case


@pytest.mark.parametrize(
    ("camel", "snake"),
    [
        ("MyDatabase", "my_database"),
        ("HTTPRoute", "http_route"),
        ("clusterIP", "cluster_ip"),
        ("clusterIPs", "cluster_ips"),
        ("podCIDRs", "pod_cidrs"),
        ("nonResourceURLs", "non_resource_urls"),
        ("setHostnameAsFQDN", "set_hostname_as_fqdn"),
        ("ipFamilies", "ip_families"),
        ("fsGroup", "fs_group"),
    ],
)
def test_snake_case(camel: str, snake: str) -> None:
    """Initialisms are words, also in the plural."""
    assert snake_case(camel) == snake


@pytest.mark.parametrize(
    ("json_name", "name"), [("from", "from_"), ("except", "except_"), ("matchLabels", "match_labels"), ("is", "is_")]
)
def test_field_name(json_name: str, name: str) -> None:
    """The name of a field is no keyword, and leads back to the JSON name."""
    assert field_name(json_name) == name
    assert camel_case(name) == json_name
