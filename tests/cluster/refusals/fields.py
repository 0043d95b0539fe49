"""Classes of lists, defaults and CEL rules."""

from __future__ import annotations

from tests.cluster.refusals.made import field, properties

_OBJECT = "type: object, properties: {b: {type: string}}"
_ARRAY = "type: array, items: {type: string}"
_EMBEDDED = "type: object, x-kubernetes-embedded-resource: true"
_ITEM = "items: {type: object, required: [k], properties: {k: {type: string}, l: {type: array, items: {type: string}}}}"
_MAP = f"type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], {_ITEM}"
_SET = "type: array, x-kubernetes-list-type: set, items:"
_SIZES = "type: object, properties: {low: {type: integer}, high: {type: integer}}, x-kubernetes-validations:"
_UNKNOWN = "x-kubernetes-preserve-unknown-fields: true"
_TRUE = "x-kubernetes-validations: [{rule: 'true'}]"
_SAME = "x-kubernetes-validations: [{rule: self == oldSelf}]"
_TYPED = "type: object, x-kubernetes-map-type"
_META = _EMBEDDED + ", properties: {{{}}}"
_POD = "{{apiVersion: v1, kind: Pod, metadata: {{labels: {{a: {}}}}}}}"
_NUMBERED = "type: object, properties: {name: {type: integer}}, default: {name: 1}"
_POD_ITEM = _META.format("metadata: {type: object}")
_LABELED = "metadata: {{type: object, properties: {{labels: {{type: object, additionalProperties: {{{}}}}}}}}}"
_LABELS = _EMBEDDED + ", properties: {{" + _LABELED + "}}"

_LISTS = (
    field(
        "list type is unknown",
        "LS02",
        f"{_ARRAY}, x-kubernetes-list-type: bag",
        f"{_ARRAY}, x-kubernetes-list-type: atomic",
    ),
    field("list type of a string", "LS02", "type: string, x-kubernetes-list-type: set", "type: string"),
    field(
        "list type without a type",
        "LS02",
        "x-kubernetes-preserve-unknown-fields: true, x-kubernetes-list-type: set",
        "x-kubernetes-preserve-unknown-fields: true",
    ),
    field(
        "map type is unknown",
        "LS02",
        f"{_OBJECT}, x-kubernetes-map-type: whole",
        f"{_OBJECT}, x-kubernetes-map-type: atomic",
    ),
    field("map type of a string", "LS02", "type: string, x-kubernetes-map-type: atomic", "type: string"),
    field("keys without a list type", "LS02", f"type: array, x-kubernetes-list-map-keys: [k], {_ITEM}", _MAP),
    field(
        "keys of a set", "LS02", f"{_SET} {{type: string}}, x-kubernetes-list-map-keys: [k]", f"{_SET} {{type: string}}"
    ),
    field("list-map without keys", "LS02", f"type: array, x-kubernetes-list-type: map, {_ITEM}", _MAP),
    field("list-map of strings", "LS02", f"{_MAP}, {_ARRAY}".replace(_ITEM + ", type: array, ", ""), _MAP),
    field("key is no property", "LS02", _MAP.replace("[k], items", "[k, m], items"), _MAP),
    field("key is listed twice", "LS02", _MAP.replace("[k], items", "[k, k], items"), _MAP),
    field("key is a list", "LS02", _MAP.replace("[k]", "[l]"), _MAP),
    field(
        "key is optional",
        "LS02",
        _MAP.replace("required: [k], ", ""),
        _MAP.replace("required: [k], ", "").replace("k: {type: string}", "k: {type: string, default: a}"),
    ),
    field("key is nullable", "LS02", _MAP.replace("k: {type: string}", "k: {type: string, nullable: true}"), _MAP),
    field(
        "items of a list-map are nullable",
        "LS02",
        _MAP.replace("items: {type: object", "items: {nullable: true, type: object", 1),
        _MAP,
    ),
    field(
        "items of a set are nullable", "LS03", f"{_SET} {{type: string, nullable: true}}", f"{_SET} {{type: string}}"
    ),
    field(
        "set of objects", "LS03", f"{_SET} {{type: object}}", f"{_SET} {{type: object, x-kubernetes-map-type: atomic}}"
    ),
    field("set of sets", "LS03", f"{_SET} {{{_ARRAY}, x-kubernetes-list-type: set}}", f"{_SET} {{{_ARRAY}}}"),
)

_DEFAULTS = (
    field("default of another type", "DE03", "type: integer, default: a", "type: integer, default: 1.0"),
    field(
        "default of a field",
        "DE03",
        "type: object, properties: {b: {type: integer, default: a}}",
        "type: object, additionalProperties: {type: integer, default: a}",
    ),
    field(
        "default of metadata",
        "DE03",
        f"{_EMBEDDED}, properties: {{metadata: {{{_NUMBERED}}}}}",
        f"type: object, properties: {{metadata: {{{_NUMBERED}}}}}",
    ),
    field(
        "default below its bound",
        "DE03",
        "type: integer, minimum: 1, default: 0",
        "type: integer, minimum: 1, default: 1",
    ),
    field(
        "default that is none of the enum",
        "DE03",
        "type: string, enum: [a], default: b",
        "type: string, enum: [a], default: a",
    ),
    field(
        "default without its pattern",
        "DE03",
        "type: string, pattern: ^a, default: b",
        "type: string, pattern: ^a, default: a",
    ),
    field(
        "default without its format",
        "DE03",
        "type: string, format: date, default: a",
        "type: string, format: date, default: '2026-01-01'",
    ),
    field(
        "default that its junctor refuses",
        "DE03",
        "type: integer, not: {minimum: 1}, default: 1",
        "type: integer, not: {minimum: 1}, default: 0",
    ),
    field(
        "default with a part that does not fit",
        "DE03",
        f"{_OBJECT}, default: {{b: 1}}",
        f"{_OBJECT}, default: {{b: '1'}}",
    ),
    field(
        "default that would be pruned",
        "DE03",
        f"{_OBJECT}, default: {{c: 1}}",
        f"{_OBJECT}, x-kubernetes-preserve-unknown-fields: true, default: {{c: 1}}",
    ),
    field(
        "default without what is required",
        "DE03",
        f"{_OBJECT}, required: [b], default: {{}}",
        f"{_OBJECT}, default: {{}}",
    ),
    field(
        "default of an embedded resource without a kind",
        "DE03",
        f"{_EMBEDDED}, x-kubernetes-preserve-unknown-fields: true, default: {{}}",
        f"{_EMBEDDED}, x-kubernetes-preserve-unknown-fields: true, default: {{apiVersion: v1, kind: A}}",
    ),
    *(
        field(f"default of {name} of an embedded resource", "DE03", _META.format(bad), _META.format(good))
        for name, bad, good in (
            ("kind", "kind: {type: string, default: 3a}", "kind: {type: string, default: A3}"),
            ("apiVersion", "apiVersion: {type: string, default: a/b/c}", "apiVersion: {type: string, default: b/c}"),
            ("metadata", "metadata: {type: object, default: {name: 1}}", "metadata: {type: object, default: {a: 1}}"),
            (
                "labels",
                "metadata: {type: object, properties: {labels: {type: object, default: {a: b c}}}}",
                "metadata: {type: object, properties: {labels: {type: object, default: {a: b_c}}}}",
            ),
        )
    ),
    field(
        "default with labels that can't be",
        "DE03",
        f"{_EMBEDDED}, x-kubernetes-preserve-unknown-fields: true, default: {_POD.format('b c')}",
        f"{_EMBEDDED}, x-kubernetes-preserve-unknown-fields: true, default: {_POD.format('b_c')}",
    ),
    field(
        "default of a list with labels that can't be",
        "DE03",
        f"type: array, items: {{{_POD_ITEM}}}, default: [{_POD.format('b c')}]",
        f"type: array, items: {{{_POD_ITEM}}}, default: [{_POD.format('b_c')}]",
    ),
    properties("default in metadata", "DE03", "metadata: {type: object, default: {}}", "metadata: {type: object}"),
    properties(
        "default of a name",
        "DE03",
        "metadata: {type: object, properties: {name: {type: string, default: a}}}",
        "metadata: {type: object, properties: {name: {type: string}}}",
    ),
    properties("default of kind", "DE03", "kind: {type: string, default: A}", "kind: {type: string}"),
    properties("default of apiVersion", "DE03", "apiVersion: {type: string, default: a}", "apiVersion: {type: string}"),
    field(
        "default in a map in metadata of an embedded resource",
        "DE03",
        _LABELS.format("type: string, default: a"),
        _LABELS.format("type: string"),
    ),
)

_CEL = (
    *(
        field(name, "CE01", f"{_SIZES} [{{{bad}}}]", f"{_SIZES} [{{{good}}}]")
        for name, bad, good in (
            ("rule is missing", "message: a", "rule: 'true', message: a"),
            ("rule is blank", "rule: ' '", "rule: 'true'"),
            ("rule does not parse", "rule: 'self.low <'", "rule: 'self.low < self.high'"),
            ("rule has a macro of wrong arguments", "rule: '[1].all(1, true)'", "rule: '[1].all(x, true)'"),
            ("message is blank", "rule: 'true', message: ' '", "rule: 'true', message: ''"),
            ("message has two lines", 'rule: "true", message: "a\\nb"', 'rule: "true", message: "a\\n"'),
            ("rule of two lines has no message", 'rule: "true ||\\ntrue"', 'rule: "true ||\\ntrue", message: a'),
            (
                "messageExpression is blank",
                "rule: 'true', messageExpression: ' '",
                "rule: 'true', messageExpression: ''",
            ),
            (
                "messageExpression does not parse",
                "rule: 'true', messageExpression: 1 +",
                "rule: 'true', messageExpression: \"'a'\"",
            ),
            ("reason is unknown", "rule: 'true', reason: Wrong", "rule: 'true', reason: FieldValueRequired"),
            ("reason is empty", "rule: 'true', reason: ''", "rule: 'true', reason: null"),
            ("fieldPath is blank", "rule: 'true', fieldPath: ' '", "rule: 'true', fieldPath: ''"),
            ("fieldPath has two lines", 'rule: "true", fieldPath: ".low\\n"', 'rule: "true", fieldPath: .low'),
            ("fieldPath has no dot", "rule: 'true', fieldPath: low", "rule: 'true', fieldPath: .low"),
            ("fieldPath leads nowhere", "rule: 'true', fieldPath: .middle", "rule: 'true', fieldPath: \"['low']\""),
        )
    ),
    *(
        field(f"rule of {name} without a type", "CE01", f"{bad}, {_TRUE}", f"{good}, {_TRUE}")
        for name, bad, good in (
            ("a value", _UNKNOWN, "x-kubernetes-int-or-string: true"),
            ("items", f"type: array, items: {{{_UNKNOWN}}}", f"type: array, items: {{type: object, {_UNKNOWN}}}"),
            (
                "values",
                f"type: object, additionalProperties: {{{_UNKNOWN}}}",
                f"type: object, properties: {{b: {{{_UNKNOWN}}}}}",
            ),
        )
    ),
    field(
        "oldSelf in a list",
        "CE05",
        "type: array, items: {type: integer, x-kubernetes-validations: [{rule: self == oldSelf}]}",
        "type: array, items: {type: integer, x-kubernetes-validations: [{rule: self > 0}]}",
    ),
    field(
        "oldSelf in a set",
        "CE05",
        f"{_SET} {{type: integer, x-kubernetes-validations: [{{rule: self == oldSelf}}]}}",
        f"{_SET} {{type: integer}}, maxItems: 9, x-kubernetes-validations: [{{rule: self == oldSelf}}]",
    ),
    field(
        "oldSelf in a map of an unknown type",
        "CE05",
        f"{_TYPED}: whole, properties: {{b: {{type: integer, {_SAME}}}}}",
        f"{_TYPED}: granular, properties: {{items: {{type: integer, {_SAME}}}}}",
    ),
    field(
        "optionalOldSelf without oldSelf",
        "CE05",
        "type: integer, x-kubernetes-validations: [{rule: self > 0, optionalOldSelf: false}]",
        "type: integer, x-kubernetes-validations: [{rule: self > 0, optionalOldSelf: null}]",
    ),
)
FIELDS = (*_LISTS, *_DEFAULTS, *_CEL)
