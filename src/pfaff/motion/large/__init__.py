"""Motion of assemblies: sparse pencils, collocation at Radau's points, samples.

Read ``simulation``, then ``beginnings`` (initial states) and ``steps`` (one step and its control).
"""
