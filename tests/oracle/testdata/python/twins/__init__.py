"""What tests/oracle/testdata/go/twins says, in Python."""
