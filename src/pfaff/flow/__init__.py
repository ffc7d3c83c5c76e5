"""From a statement to compiled equations of motion, and what else is compiled of it: statics, jets, parts."""
