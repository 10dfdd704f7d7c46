"""Writes the model of a family: make_model.py FAMILY TYPE FILE."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from GPU import families

family, dtype, file = sys.argv[1:]
Path(file).write_bytes(getattr(families, family)(dtype)[0].SerializeToString())
