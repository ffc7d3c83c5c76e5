"""Rest: equilibria of systems, plain flows and assemblies, followed along a load, and small motions about them."""
