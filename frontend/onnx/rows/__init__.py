"""The rows of the table of operators, by idea."""
