"""What is stated: systems, plain ODEs and assemblies, their parameters, and what follows from the statement alone."""
