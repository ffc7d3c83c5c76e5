"""Motion of assemblies: compiled parts scattered into sparse pencils, collocation at Radau's points, samples."""
