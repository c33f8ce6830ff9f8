"""
Releases side by side: environments with other torch releases, and what was measured in them.

`environments` provides a Python with a given release; `measuring` runs the registry in it and writes the measured
files; `matrix` reads them back, without importing torch. `difference` says what changes between two releases,
`comparison` what becomes of the user's own command, `bisection` in which release something broke or was fixed.
"""
