"""A run as its user declares it: settings, each with its help and its marks.

A group of settings is a frozen dataclass. A field of it is `Annotated[type,
Option(...), marks]` with a default. From this one declaration come the options of
commands, the keys of `.dptext.yaml`, variables, and the reference of the docs. The
engine takes the same objects.
"""
