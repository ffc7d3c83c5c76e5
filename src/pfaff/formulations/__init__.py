"""The principles of mechanics in heyoka's expression graph: one compiled flow for each."""
