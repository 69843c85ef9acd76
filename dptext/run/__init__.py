"""The declaration of a run's settings, each with its help and marks.

A group of settings is a frozen dataclass. Each field is `Annotated[type,
Option(...), marks]` with a default. This declaration is the source of the options of
commands, the keys of `.dptext.yaml`, variables, and the reference in the docs. The
engine takes the same objects.
"""
