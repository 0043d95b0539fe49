"""Classes that make a schema no structural one, and keywords that none may have."""

from __future__ import annotations

from tests.cluster.refusals.made import field, head, properties, root

_OBJECT = "type: object, properties: {b: {type: string}}"
_ARRAY = "type: array, items: {type: string}"
_EMBEDDED = "type: object, x-kubernetes-embedded-resource: true"
_FREE = f"{_EMBEDDED}, x-kubernetes-preserve-unknown-fields: true"
_JUNCTOR = "type: object, properties: {b: {type: string}, c: {type: array, items: {type: string}}}, anyOf:"
_IN_METADATA = _EMBEDDED + ", properties: {{metadata: {{type: object, properties: {{b: {{{}}}}}}}}}"

_ROOTS = (
    head("root is no object", "        type: object\n", "        type: string\n", rule="ST06"),
    head("root has no type", "        type: object\n", "", rule="ST06"),
    root("root is nullable", "nullable: true", "nullable: false"),
    root("root is a map", "additionalProperties: true", status=False),
    root("root is a closed map", "additionalProperties: false", status=False),
    *(
        root(f"root has {keyword.partition(':')[0]} beside the status", keyword)
        for keyword in (
            "default: {}",
            "enum: [{}]",
            "maxProperties: 9",
            "minProperties: 0",
            "allOf: [{required: [spec]}]",
            "anyOf: [{required: [spec]}]",
            "oneOf: [{required: [spec]}]",
            "not: {required: [status]}",
            "x-kubernetes-map-type: granular",
            "x-kubernetes-list-map-keys: [a]",
        )
    ),
)

_STRUCTURE = (
    field("field has no type", "ST06", "description: a", "type: string, description: a"),
    field("field is empty", "ST06", "", "x-kubernetes-preserve-unknown-fields: true"),
    properties("field is null", "ST06", "spec:", "spec: {type: object}"),
    field("items have no type", "ST06", "type: array, items: {}", _ARRAY),
    field(
        "values have no type",
        "ST06",
        "type: object, additionalProperties: {}",
        "type: object, additionalProperties: true",
    ),
    field("array has no items", "ST06", "type: array", _ARRAY),
    field("array has true items", "ST06", "type: array, items: true", _ARRAY),
    field("array has an empty list of items", "ST06", "type: array, items: []", _ARRAY),
    *(
        field(
            f"{keyword.partition(':')[0]} in a junctor",
            "ST06",
            f"{_JUNCTOR} [{{{keyword}}}]",
            f"{_JUNCTOR} [{{required: [b]}}]",
        )
        for keyword in (
            "type: object",
            "default: {}",
            "title: a",
            "description: a",
            "nullable: true",
            "additionalProperties: {}",
            "x-kubernetes-preserve-unknown-fields: true",
            "x-kubernetes-embedded-resource: true",
            "x-kubernetes-int-or-string: true",
            "x-kubernetes-list-map-keys: [a]",
            "x-kubernetes-list-type: ''",
            "x-kubernetes-map-type: atomic",
            "x-kubernetes-validations: [{rule: 'true'}]",
            "properties: {metadata: {}}",
        )
    ),
    *(
        field(
            f"type deep in {junctor[:5]}",
            "ST06",
            f"{_OBJECT}, {junctor.format('type: string')}",
            f"{_OBJECT}, {junctor.format('maxLength: 9')}",
        )
        for junctor in (
            "allOf: [{{properties: {{b: {{{}}}}}}}]",
            "oneOf: [{{properties: {{b: {{{}}}}}}}]",
            "not: {{properties: {{b: {{{}}}}}}}",
            "anyOf: [{{not: {{properties: {{b: {{{}}}}}}}}}]",
        )
    ),
    field(
        "values in a junctor",
        "ST06",
        f"{_JUNCTOR} [{{additionalProperties: true}}]",
        f"{_JUNCTOR} [{{additionalProperties: false}}]",
    ),
    field(
        "empty list in a junctor",
        "ST06",
        f"{_JUNCTOR} [{{default: []}}]",
        f"{_JUNCTOR} [{{x-kubernetes-list-map-keys: []}}]",
    ),
    field(
        "embedded resource in metadata",
        "ST06",
        f"{_EMBEDDED}, properties: {{metadata: {{type: object, properties: {{b: {{{_FREE}}}}}}}}}",
        f"type: object, properties: {{metadata: {{type: object, properties: {{b: {{{_FREE}}}}}}}}}",
    ),
    field(
        "integer or string the wrong way round",
        "ST06",
        "x-kubernetes-int-or-string: true, anyOf: [{type: string}, {type: integer}]",
        "x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]",
    ),
    field(
        "integer or string in the second place",
        "ST06",
        "x-kubernetes-int-or-string: true, allOf: [{minimum: 1}, {anyOf: [{type: integer}, {type: string}]}]",
        "x-kubernetes-int-or-string: true, allOf: [{anyOf: [{type: integer}, {type: string}]}, {minimum: 1}]",
    ),
    field(
        "integer or string too deep",
        "ST06",
        "x-kubernetes-int-or-string: true, not: {anyOf: [{type: integer}, {type: string}]}",
        "x-kubernetes-int-or-string: true, not: {anyOf: [{minimum: 1}, {maxLength: 1}]}",
    ),
    root(
        "junctor of an undeclared field",
        "anyOf: [{properties: {data: {minLength: 1}}}]",
        "anyOf: [{required: [data]}]",
        status=False,
    ),
    root(
        "junctor of an undeclared inner field",
        "allOf: [{anyOf: [{properties: {spec: {properties: {a: {minLength: 1}}}}}]}]",
        "allOf: [{anyOf: [{properties: {spec: {minProperties: 1}}}]}]",
        status=False,
    ),
    root(
        "junctor of undeclared items",
        "not: {properties: {spec: {items: {minLength: 1}}}}",
        "not: {properties: {spec: {}}}",
        status=False,
    ),
    field(
        "integer or string that preserves",
        "ST06",
        "x-kubernetes-int-or-string: true, x-kubernetes-preserve-unknown-fields: true",
        "x-kubernetes-int-or-string: true",
    ),
    field(
        "integer or string that is embedded",
        "ST06",
        "x-kubernetes-int-or-string: true, x-kubernetes-embedded-resource: true",
        "x-kubernetes-int-or-string: true",
    ),
    field(
        "embedded resource without a type",
        "ST06",
        "x-kubernetes-preserve-unknown-fields: true, x-kubernetes-embedded-resource: true",
        f"{_EMBEDDED}, x-kubernetes-preserve-unknown-fields: true",
    ),
    field(
        "embedded resource is a string",
        "ST06",
        "type: string, x-kubernetes-embedded-resource: true",
        f"{_EMBEDDED}, properties: {{spec: {{type: object}}}}",
    ),
    field("embedded resource is empty", "ST06", _EMBEDDED, f"{_EMBEDDED}, x-kubernetes-preserve-unknown-fields: true"),
    field(
        "embedded resource is a map",
        "ST06",
        f"{_EMBEDDED}, x-kubernetes-preserve-unknown-fields: true, additionalProperties: true",
        f"{_EMBEDDED}, x-kubernetes-preserve-unknown-fields: true",
    ),
    field(
        "kind of an embedded resource",
        "ST06",
        f"{_EMBEDDED}, properties: {{kind: {{type: integer}}}}",
        f"{_EMBEDDED}, properties: {{kind: {{type: string}}}}",
    ),
    field(
        "metadata of an embedded resource",
        "ST06",
        f"{_EMBEDDED}, properties: {{metadata: {{type: string}}}}",
        f"{_EMBEDDED}, properties: {{metadata: {{type: object}}}}",
    ),
    field(
        "embedded resource in metadata of another",
        "ST06",
        _IN_METADATA.format(f"{_EMBEDDED}, x-kubernetes-preserve-unknown-fields: true"),
        _IN_METADATA.format("type: object"),
    ),
    properties("kind is no string", "ST06", "kind: {type: integer}", "kind: {type: string}"),
    properties(
        "apiVersion is no string",
        "ST06",
        "apiVersion: {x-kubernetes-preserve-unknown-fields: true}",
        "apiVersion: {type: string}",
    ),
    properties("metadata is no object", "ST06", "metadata: {type: string}", "metadata: {type: object}"),
    *(
        properties(
            f"metadata with {keyword}",
            "ST06",
            f"metadata: {{type: object, {keyword}}}",
            f"metadata: {{type: object, {good}}}",
        )
        for keyword, good in (
            ("description: a", "description: ''"),
            ("required: [name]", "properties: {}"),
            ("properties: {labels: {type: object}}", "properties: {name: {type: string, maxLength: 9}}"),
            (
                "properties: {name: {type: string}, uid: {type: string}}",
                "properties: {name: {type: string}, generateName: {type: string}}",
            ),
            ("additionalProperties: true", "nullable: false"),
            ("maxProperties: 9", "format: ''"),
            ("x-kubernetes-preserve-unknown-fields: true", "title: ''"),
        )
    ),
    field("properties is a list", "ST06", "type: object, properties: []", "type: object, properties: {}"),
    field("required is a string", "ST06", "type: object, required: b", "type: object, required: [b]"),
    field("type is a list", "ST06", "type: [string]", "type: string"),
    field("bound is a string", "ST06", "type: string, maxLength: '9'", "type: string, maxLength: 9"),
    field("bound is a fraction", "ST06", "type: string, maxLength: 1.5", "type: string, maxLength: 1"),
    field(
        "additionalProperties is a string",
        "ST06",
        "type: object, additionalProperties: 'yes'",
        "type: object, additionalProperties: true",
    ),
)

_KEYWORDS = (
    field(
        "more than a keyword is refused",
        "ST07",
        f"{_OBJECT}, definitions: {{a: {{}}}}",
        f"{_OBJECT}, definitions: {{}}",
    ),
    field(
        "values beside properties",
        "ST07",
        f"{_OBJECT}, additionalProperties: {{type: string}}",
        f"{_OBJECT}, additionalProperties: true",
    ),
    *(
        field(f"{keyword} is refused", "ST07", f"{_OBJECT}, {keyword}", _OBJECT)
        for keyword in (
            "$ref: ''",
            "$schema: a",
            "id: a",
            "definitions: {a: {type: string}}",
            "dependencies: {}",
            "patternProperties: {a: {type: string}}",
            "additionalItems: false",
            "additionalProperties: {type: string}",
            "additionalProperties: false",
            "x-kubernetes-preserve-unknown-fields: false",
            "const: {}",
        )
    ),
    field("uniqueItems is true", "ST07", f"{_ARRAY}, uniqueItems: true", f"{_ARRAY}, uniqueItems: false"),
    field("type is unknown", "ST07", "type: text", "type: string"),
    field("type is null", "ST07", "type: 'null'", "type: string, nullable: true"),
    field("items is a list", "ST07", "type: array, items: [{type: string}]", _ARRAY),
    field(
        "refused keyword in a junctor",
        "ST07",
        f"{_JUNCTOR} [{{uniqueItems: true}}]",
        f"{_JUNCTOR} [{{uniqueItems: false}}]",
    ),
    field("pattern is none of RE2", "VA07", "type: string, pattern: '(?=a)'", "type: string, pattern: '(?i)a'"),
    field(
        "pattern of a junctor is none of RE2",
        "VA07",
        "type: string, not: {pattern: 'a{1001}'}",
        "type: string, not: {pattern: 'a{1000}'}",
    ),
)
SCHEMAS = (*_ROOTS, *_STRUCTURE, *_KEYWORDS)
