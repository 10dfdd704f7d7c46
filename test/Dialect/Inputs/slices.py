"""Each slice lib/Dialect/SET/Ops/FAMILY/X.cpp has its tests: test/Dialect/SET/Ops/FAMILY/X.mlir, and X-invalid.mlir if it
has errors of its own."""

import sys
from pathlib import Path

root = Path(sys.argv[1])
# Beside them lies what several share.
slices = [path for path in sorted(root.glob("lib/Dialect/*/Ops/**/*.cpp")) if "STRATA_SLICE" in path.read_text()]
missing = []
for path in slices:
    test = root / "test" / path.relative_to(root / "lib").parent
    wanted = [path.stem]
    if any(emit in path.read_text() for emit in ("emitError()", "emitOpError(")):
        wanted.append(path.stem + "-invalid")
    missing += [test / f"{name}.mlir" for name in wanted if not (test / f"{name}.mlir").exists()]
for path in missing:
    print(f"there is no {path.relative_to(root)}")
print(f"{len(slices)} slices, {len(missing)} tests missing")
sys.exit(1 if missing else 0)
