"""
What a report looks like: a package for each kind of report, in it one file a format.

``check``, ``diagnosis``, ``scan`` and ``upgrade`` find their formats by file name, see `formats`. The modules beside
them are what formats are made of, or reports that have one form only.
"""
