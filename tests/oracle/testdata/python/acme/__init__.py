"""What tests/oracle/testdata/go says, in Python."""
