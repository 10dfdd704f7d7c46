#!/usr/bin/env bash
# build-onnx.sh [PREFIX]: builds ONNX's own C++ library (schemas, checker, inliner, text parser, protobuf classes)
# from its Python source package and installs it into PREFIX (default: .deps/onnx of this repository).
# Does nothing when PREFIX already holds the pinned version. About 70 s on two cores.
#
# Environment: PYTHON   a Python with pip (default: python3)
#              CXX      the C++ compiler (default: clang++-19)
set -euo pipefail

version=1.23.2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
prefix=${1:-$root/.deps/onnx}
python=${PYTHON:-python3}
stamp=$prefix/.strata-onnx-version
# The stamp names what the library was built with: a change of any of it builds again.
recipe="onnx $version protobuf $(protoc --version | awk '{print $2}') ${CXX:-clang++-19} 1"

if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$recipe" ]; then
  echo "onnx $version is in $prefix"
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "onnx: fetching the source package of $version"
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary onnx --dest "$work" "onnx==$version"
tar -xzf "$work/onnx-$version.tar.gz" -C "$work"

# ONNX asks for CMake 3.26; Debian 12 has 3.25.
cmake=$(command -v cmake || true)
have=$([ -n "$cmake" ] && "$cmake" --version | awk 'NR==1 {print $3}' || echo 0)
if [ "$(printf '%s\n' 3.26 "$have" | sort -V | head -n 1)" != 3.26 ]; then
  echo "onnx: fetching CMake 3.31"
  "$python" -m pip install --quiet --disable-pip-version-check --target "$work/cmake" "cmake==3.31.6"
  cmake=$work/cmake/bin/cmake
  export PYTHONPATH=$work/cmake${PYTHONPATH:+:$PYTHONPATH}
fi

launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

echo "onnx: building with $(nproc) jobs"
mkdir -p "$prefix"
{
  # Shared protobuf: the static archive of Debian is not position independent.
  "$cmake" -G Ninja -S "$work/onnx-$version" -B "$work/build" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="${CXX:-clang++-19}" "${launcher[@]}" \
    -DCMAKE_CXX_STANDARD=17 -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_CXX_VISIBILITY_PRESET=hidden \
    -DONNX_USE_PROTOBUF_SHARED_LIBS=ON -DONNX_ML=ON -DONNX_BUILD_PYTHON=OFF -DONNX_BUILD_TESTS=OFF \
    -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib &&
  "$cmake" --build "$work/build" &&
  "$cmake" --install "$work/build"
} >"$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; echo "onnx: the build failed" >&2; exit 1; }

echo "$recipe" >"$stamp"
echo "onnx $version is in $prefix"
