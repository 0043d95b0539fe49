"""The program that reads a project; its modules are imported by another name there, see ``__main__``."""
