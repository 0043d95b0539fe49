"""What tests/oracle/testdata/go/differences says, in Python: CRDs differ where docs/controller-gen.md says so."""
