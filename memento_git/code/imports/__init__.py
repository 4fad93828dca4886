"""What a source file imports, and which file of the repository that is."""
