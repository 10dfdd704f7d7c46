"""What can go wrong, as exceptions."""


class Error(RuntimeError):
    """Any failure that Strata reports."""


class CompileError(Error):
    """The model was refused. The text holds every diagnostic: file, node, operator and version, and the reason."""


class InputError(Error, ValueError):
    """An input of a run has the wrong name, shape or element type, or is missing."""


class RunError(Error):
    """The model failed while it ran, for example because of an index out of range."""
