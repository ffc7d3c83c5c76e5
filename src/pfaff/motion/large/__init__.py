"""Motion of assemblies: sparse pencils, collocation at Radau's points, samples."""
