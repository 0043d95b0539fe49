"""Reading a project: its PROJECT file, and the declarations in its Python code."""
