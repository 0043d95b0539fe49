"""Classes that are about the CRD itself."""

from __future__ import annotations

from tests.cluster.refusals.made import WHOLE, Refusal, conversion, head, version, webhook

_LONG = ".".join(["x" * 47] * 4)
_SERVICE = "service: {name: shop, namespace: shop"

OBJECTS = (
    head("name is not plural.group", "name: widgets.example.com", "name: widget.example.com"),
    head("group is missing", "  group: example.com\n", ""),
    Refusal("group is no subdomain", "ST04", WHOLE.replace("example.com", "Example.com"), WHOLE),
    Refusal(
        "name is too long",
        "ST04",
        WHOLE.replace("widgets", "w" * 58).replace("example", _LONG),
        WHOLE.replace("widgets", "w" * 57).replace("example", _LONG),
    ),
    head("group has no dot", "group: example.com", "group: example"),
    head("scope is missing", "  scope: Namespaced\n", ""),
    head("scope is unknown", "scope: Namespaced", "scope: namespaced"),
    head("plural is missing", "    plural: widgets\n", ""),
    head("plural is no label", "plural: widgets", "plural: Widgets"),
    head("kind is missing", "    kind: Widget\n", ""),
    head("kind is no label", "kind: Widget", "kind: 3Widget"),
    head("kind leaves no room for List", "kind: Widget", f"kind: W{'i' * 60}", f"kind: W{'i' * 58}"),
    head("singular is no label", "    plural:", "    singular: a_b\n    plural:"),
    head("listKind is no label", "    plural:", "    listKind: a_b\n    plural:", "    listKind: Some\n    plural:"),
    head("listKind is the kind", "    plural:", "    listKind: Widget\n    plural:"),
    head(
        "short name is no label", "    plural:", "    shortNames: [W]\n    plural:", "    shortNames: [w]\n    plural:"
    ),
    head(
        "category is no label", "    plural:", "    categories: ['']\n    plural:", "    categories: [a]\n    plural:"
    ),
    head("version is no label", "name: v1\n", "name: V1\n"),
    head("versions are missing", WHOLE[WHOLE.index("  versions:") :], "  versions: []\n"),
    head("no version is stored", "storage: true", "storage: false"),
    head("version has no schema", WHOLE[WHOLE.index("    schema:") :], "", rule="ST05"),
    head("version has an empty schema", WHOLE[WHOLE.index("      openAPIV3Schema:") :], "      {}\n", rule="ST05"),
    Refusal(
        "two versions have one name",
        "ST04",
        WHOLE + WHOLE[WHOLE.index("  - name: v1") :].replace("storage: true", "storage: false"),
        WHOLE + WHOLE[WHOLE.index("  - name: v1") :].replace("storage: true", "storage: false").replace("v1", "v2"),
    ),
    Refusal(
        "two versions are stored",
        "ST04",
        WHOLE + WHOLE[WHOLE.index("  - name: v1") :].replace("v1", "v2"),
        WHOLE + WHOLE[WHOLE.index("  - name: v1") :].replace("v1", "v2").replace("storage: true", "storage: false"),
    ),
    Refusal(
        "group of Kubernetes is not approved",
        "ST04",
        WHOLE.replace("example.com", "example.k8s.io"),
        WHOLE.replace("example.com", "example.k8s.io").replace(
            "metadata:", "metadata:\n  annotations: {api-approved.kubernetes.io: 'https://example.com/1'}"
        ),
    ),
    Refusal(
        "approval is none",
        "ST04",
        WHOLE.replace("example.com", "kubernetes.io").replace(
            "metadata:", "metadata:\n  annotations: {api-approved.kubernetes.io: 'https://a b'}"
        ),
        WHOLE.replace("example.com", "kubernetes.io").replace(
            "metadata:", "metadata:\n  annotations: {api-approved.kubernetes.io: unapproved}"
        ),
    ),
    head("unknown fields are preserved", "  scope:", "  preserveUnknownFields: true\n  scope:"),
    version("warning of a version that is not deprecated", "deprecationWarning: Use v2.", "deprecated: true"),
    version("empty warning", "deprecated: true\n    deprecationWarning: ''"),
    version(
        "long warning",
        f"deprecated: true\n    deprecationWarning: {'é' * 129}",
        f"deprecated: true\n    deprecationWarning: {'é' * 128}",
    ),
    version(
        "warning that can't be printed",
        'deprecated: true\n    deprecationWarning: "a\\tb"',
        'deprecated: true\n    deprecationWarning: "a b"',
    ),
    version(
        "warning with a space that breaks no line",
        'deprecated: true\n    deprecationWarning: "a\\u00a0b"',
        'deprecated: true\n    deprecationWarning: "é 1"',
    ),
    conversion("strategy is missing", "webhook: null", "strategy: None"),
    conversion("strategy is unknown", "strategy: Hook", "strategy: None"),
    conversion(
        "webhook without its strategy",
        "strategy: None, webhook: {clientConfig: {url: 'https://a.b'}}",
        "strategy: None",
    ),
    conversion(
        "review versions without a webhook",
        "strategy: None, webhook: {conversionReviewVersions: [v1]}",
        "strategy: None, webhook: {}",
    ),
    conversion(
        "webhook without clientConfig",
        "strategy: Webhook, webhook: {conversionReviewVersions: [v1]}",
        "strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://a.b'}}",
    ),
    *(
        conversion(
            name,
            f"strategy: Webhook, webhook: {{conversionReviewVersions: [{bad}], clientConfig: {{url: 'https://a.b'}}}}",
            "strategy: Webhook, webhook: {conversionReviewVersions: [v2, v1], clientConfig: {url: 'https://a.b'}}",
        )
        for name, bad in (
            ("no review version", ""),
            ("no review version of the server's", "v2"),
            ("review version twice", "v1, v1"),
            ("review version is no label", "v1, 1a"),
        )
    ),
    webhook("neither url nor service", "", "url: 'https://a.b'"),
    webhook("both url and service", f"url: 'https://a.b', {_SERVICE}}}", f"{_SERVICE}}}"),
    *(
        webhook(f"url {bad}", f"url: '{bad}'", "url: 'https://a.b/c'")
        for bad in (
            "http://a.b",
            "https:///c",
            "https://u@a.b",
            "https://a.b#c",
            "https://a.b?c",
            "https://[a",
            "",
            "https://a:b",
            "https://a b",
            "https://a.b/%a",
        )
    ),
    webhook("caBundle in no base64", "url: 'https://a.b', caBundle: a b", "url: 'https://a.b', caBundle: YQ=="),
    webhook("service without a name", "service: {namespace: shop}", f"{_SERVICE}}}"),
    webhook("service without a namespace", "service: {name: shop}", f"{_SERVICE}}}"),
    webhook("port of a service", f"{_SERVICE}, port: 65536}}", f"{_SERVICE}, port: 65535}}"),
    webhook("path without a slash", f"{_SERVICE}, path: convert}}", f"{_SERVICE}, path: /convert/}}"),
    webhook("path with an empty part", f"{_SERVICE}, path: /a//b}}", f"{_SERVICE}, path: /a/b}}"),
    webhook("path of capitals", f"{_SERVICE}, path: /Convert}}", f"{_SERVICE}, path: /}}"),
    head("unknown field", "  scope:", "  validation: {}\n  scope:"),
    version("unknown field of a version", "printerColumns: []", "additionalPrinterColumns: []"),
    head("unknown field at the top", "metadata:", "data: {}\nmetadata:"),
    head(
        "annotation is no string",
        "metadata:",
        "metadata:\n  annotations: {a: true}",
        "metadata:\n  annotations: {a: 'true'}",
    ),
    head("label has no name", "metadata:", "metadata:\n  labels: {'a/': b}", "metadata:\n  labels: {a/b: ''}"),
    head("label has no value of one", "metadata:", "metadata:\n  labels: {a: b c}", "metadata:\n  labels: {a: b_c}"),
    head(
        "annotation has no name",
        "metadata:",
        "metadata:\n  annotations: {A b: ''}",
        "metadata:\n  annotations: {A/b: ' '}",
    ),
    head(
        "annotations are too many",
        "metadata:",
        f"metadata:\n  annotations: {{a: {'b' * 262_144}}}",
        f"metadata:\n  annotations: {{a: {'b' * 262_143}}}",
    ),
    head("finalizer has no name", "metadata:", "metadata:\n  finalizers: [a b]", "metadata:\n  finalizers: [a/b]"),
    head(
        "owner without a uid",
        "metadata:",
        "metadata:\n  ownerReferences: [{apiVersion: v1, kind: Pod, name: a}]",
        "metadata:\n  ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: b}]",
    ),
    head(
        "time without a zone",
        "metadata:",
        "metadata:\n  creationTimestamp: '2026-01-31T12:00:00'",
        "metadata:\n  creationTimestamp: '2026-01-31T12:00:00Z'",
    ),
    head("flag is a string", "served: true", "served: 'true'"),
    head("name is a number", "name: v1\n", "name: 1\n"),
)
