"""What tests/oracle/testdata/go says and we refuse."""
