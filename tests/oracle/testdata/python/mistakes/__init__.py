"""What tests/oracle/testdata/go/mistakes says, in Python: both are refused."""
