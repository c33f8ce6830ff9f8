"""
Releases side by side: environments with other torch releases, and what was measured in them.

`environments` provides a Python with a given release; `measuring` runs the registry in it and writes the measured
files; `matrix` reads them back, without importing torch.
"""
