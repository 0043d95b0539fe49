"""``import``: CRDs and OpenAPI documents that are there already become typed dataclasses."""
