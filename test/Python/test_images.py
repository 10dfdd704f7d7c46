"""ImageDecoder: images that Pillow writes are what Pillow reads; broken ones are errors of the run."""

import io
import struct
import subprocess
import zlib

import numpy as np
import onnx
import pytest
import strata
from onnx import TensorProto, helper
from PIL import Image
from support.library import BIN

RNG = np.random.default_rng(7)


def proto_of(pixel_format=None):
    attributes = {"pixel_format": pixel_format} if pixel_format else {}
    node = helper.make_node("ImageDecoder", ["x"], ["y"], name="the_node", **attributes)
    graph = helper.make_graph(
        [node], "graph",
        [helper.make_tensor_value_info("x", TensorProto.UINT8, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, ["h", "w", 1 if pixel_format == "Grayscale" else 3])],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])


@pytest.fixture(scope="module")
def models():
    return {f: strata.compile(proto_of(f)) for f in ("RGB", "BGR", "Grayscale")}


def run(model, data):
    return model.run([np.frombuffer(data, np.uint8)])[0]


def is_empty(models, data):
    """What cannot be decoded is an empty image."""
    assert run(models["RGB"], data).shape == (0, 0, 3)


def photo(mode="RGB", width=45, height=31):
    """Smooth colours with edges and some noise."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [128 + 90 * np.sin(x / (5 + i) + y / 9 * (i - 1)) + 30 * (x > 20) for i in range(4)]
    planes = np.stack(planes, -1) + RNG.normal(0, 4, (height, width, 4))
    pixels = planes.clip(0, 255).astype(np.uint8)
    if mode in ("L", "P", "1", "LA", "I;16"):
        return Image.fromarray(pixels[..., :3]).convert(mode) if mode != "I;16" else sixteen(pixels)
    return Image.fromarray(pixels if mode in ("RGBA", "CMYK") else pixels[..., :3], mode if mode == "CMYK" else None)


def sixteen(pixels):
    return Image.fromarray(pixels[..., 0].astype(np.uint16) * 257)


def encode(image, format, **options):
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def decoded(data, mode="RGB"):
    image = Image.open(io.BytesIO(data))
    if image.mode == "I;16":  # Pillow would clip it
        image = Image.fromarray((np.array(image) >> 8).astype(np.uint8))
    return np.array(image.convert(mode))


EXACT = [
    *[("BMP", mode, {}) for mode in ("RGB", "L", "P", "1", "RGBA")],
    *[("PNG", mode, {}) for mode in ("RGB", "L", "P", "1", "RGBA", "LA", "I;16")],
    ("PNG", "P", {"bits": 4}),
    ("PNG", "P", {"transparency": 3}),
    *[("PPM", mode, {}) for mode in ("RGB", "L", "1")],
    *[("TIFF", mode, {}) for mode in ("RGB", "L", "P", "1", "RGBA", "LA", "I;16")],
    *[("TIFF", "RGB", {"compression": c}) for c in ("tiff_lzw", "tiff_adobe_deflate", "packbits")],
    ("TIFF", "1", {"compression": "group4"}),
    *[("TIFF", "RGB", {"tiffinfo": {274: orientation}}) for orientation in range(1, 9)],
    ("WEBP", "RGB", {"lossless": True}),
    *[("JPEG2000", mode, {}) for mode in ("RGB", "L", "RGBA", "LA")],
    ("JPEG2000", "RGB", {"no_jp2": True, "tile_size": (16, 16)}),
]
CLOSE = [
    *[("JPEG", "RGB", {"subsampling": s, "quality": 90}) for s in ("4:4:4", "4:2:2", "4:2:0")],
    ("JPEG", "RGB", {"progressive": True}),
    ("JPEG", "RGB", {"restart_marker_blocks": 2}),
    ("JPEG", "L", {}),
    ("JPEG", "CMYK", {}),
    ("TIFF", "RGB", {"compression": "jpeg"}),
    ("TIFF", "CMYK", {}),
    ("WEBP", "RGB", {"quality": 80}),
    ("WEBP", "RGBA", {"lossless": True}),
    ("JPEG2000", "RGB", {"irreversible": True, "quality_layers": [20]}),
    ("JPEG2000", "I;16", {}),
]


def name(case):
    return "-".join([case[0], case[1], *map(str, case[2].values())])


@pytest.mark.parametrize("case", EXACT, ids=name)
def test_exact(models, case):
    format, mode, options = case
    data = encode(photo(mode), format, **options)
    want = decoded(data)
    assert np.ptp(want) > 100
    np.testing.assert_array_equal(run(models["RGB"], data), want)
    np.testing.assert_array_equal(run(models["BGR"], data), want[..., ::-1])
    gray = np.array(Image.fromarray(want).convert("L"))[..., None]
    np.testing.assert_array_equal(run(models["Grayscale"], data), gray)


@pytest.mark.parametrize("case", CLOSE, ids=name)
def test_close(models, case):
    """Versions of the codecs may round otherwise."""
    format, mode, options = case
    data = encode(photo(mode), format, **options)
    want = decoded(data).astype(int)
    assert np.abs(run(models["RGB"], data) - want).max() <= 1
    gray = np.array(Image.fromarray(want.astype(np.uint8)).convert("L"))[..., None].astype(int)
    assert np.abs(run(models["Grayscale"], data) - gray).max() <= 1


@pytest.mark.parametrize("size", [(1, 1), (1, 17), (17, 1), (8, 8)])
@pytest.mark.parametrize("format", ["BMP", "JPEG", "PNG", "PPM", "TIFF", "WEBP", "JPEG2000"])
def test_small(models, format, size):
    data = encode(photo(width=size[0], height=size[1]), format)
    assert np.abs(run(models["RGB"], data) - decoded(data).astype(int)).max() <= 1


@pytest.mark.parametrize(
    "text",
    [
        b"P1 # a bitmap\n3 2\n101\n0 1 0\n",
        b"P2\n3 2\n# gray\n15\n0 1 2\n7 14 15\n",
        b"P3 2 1 255 1 2 3  255 128 0",
        b"P5 2 2 7 \x00\x01\x06\x07",
        b"P5 2 1 65535 \x00\x01\xff\xfe",
        b"P6 1 1 1023 \x03\xff\x00\x00\x01\x00",
    ],
)
def test_portable_maps(models, text):
    image = Image.open(io.BytesIO(text))
    want = np.array(image)
    if image.mode == "I":  # Pillow keeps 16 bits
        want = np.rint(want / 65535 * 255).astype(np.uint8)
    if image.mode == "1":
        want = want.astype(np.uint8) * 255
    want = np.broadcast_to(want[..., None], (*want.shape, 3)) if want.ndim == 2 else want
    np.testing.assert_array_equal(run(models["RGB"], text), want)


def bmp(width, height, bits, compression, data, palette=b"", masks=b"", header=40):
    sizes = (len(data), 0, 0, len(palette) // 4, 0)
    head = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, compression, *sizes)
    body = head + masks + palette
    return b"BM" + struct.pack("<IHHI", 14 + len(body) + len(data), 0, 0, 14 + len(body)) + body + data


PALETTE = bytes(RNG.integers(0, 256, 64, np.uint8))


@pytest.mark.parametrize(
    "data",
    [
        bmp(3, 2, 16, 0, bytes(RNG.integers(0, 256, 16, np.uint8))),
        bmp(3, -2, 16, 3, bytes(RNG.integers(0, 256, 16, np.uint8)), masks=struct.pack("<III", 0xF800, 0x7E0, 0x1F)),
        bmp(3, -2, 24, 0, bytes(RNG.integers(0, 256, 24, np.uint8))),
        bmp(2, 2, 32, 3, bytes(RNG.integers(0, 256, 16, np.uint8)), masks=struct.pack("<III", 0xFF0000, 0xFF00, 0xFF)),
        bmp(5, 2, 4, 0, b"\x12\x34\x50\0\x67\x89\xa0\0", PALETTE),
        bmp(5, 2, 8, 1, b"\x05\x03\0\0\0\x05\x01\x02\x03\x04\x05\0\0\x01", PALETTE),
        bmp(5, 2, 4, 2, b"\x05\x12\0\0\0\x05\x34\x56\x70\0\0\x01", PALETTE),
    ],
    ids=["555", "565", "top-down", "fields", "4", "rle8", "rle4"],
)
def test_bitmaps(models, data):
    np.testing.assert_array_equal(run(models["RGB"], data), decoded(data))


def png(width, height, rows=bytes(100), interlaced=0):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, interlaced))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_interlaced(models):
    pixels = np.array(photo())
    passes = [(0, 8, 0, 8), (0, 8, 4, 8), (4, 8, 0, 4), (0, 4, 2, 4), (2, 4, 0, 2), (0, 2, 1, 2), (1, 2, 0, 1)]
    rows = b"".join(b"\0" + row.tobytes() for y, dy, x, dx in passes for row in pixels[y::dy, x::dx])
    np.testing.assert_array_equal(run(models["RGB"], png(45, 31, rows, 1)), pixels)


def test_memory(models):
    """What the codec needs counts as what the run needs."""
    data = encode(Image.new("RGB", (6000, 5000), (1, 2, 3)), "PNG")
    model = strata.compile(proto_of("RGB"), memory_limit=1 << 20)
    with pytest.raises(strata.RunError, match="memory"):
        run(model, data)
    run(model, encode(photo(), "PNG"))
    assert (run(models["BGR"], data) == [3, 2, 1]).all()


def test_bitmap_with_other_masks(models):
    masks = struct.pack("<III", 0xFF << 24, 63 << 10, 7)
    data = bmp(1, 1, 32, 3, struct.pack("<I", 0x80 << 24 | 31 << 10 | 7), masks=masks)
    assert run(models["RGB"], data).tolist() == [[[0x80, 31 * 255 // 63, 255]]]


FORMATS = ["BMP", "JPEG", "PNG", "PPM", "TIFF", "WEBP", "JPEG2000"]


@pytest.mark.parametrize("format", FORMATS)
def test_truncated(models, format):
    data = encode(photo(), format)
    for length in {*range(0, min(len(data), 64)), *range(64, len(data) - 64, 97), len(data) // 2, len(data) * 9 // 10}:
        is_empty(models, data[:length])
    run(models["RGB"], data)  # the session goes on


@pytest.mark.parametrize("format", FORMATS)
def test_damaged(models, format):
    """Any result but a crash; what is decoded has the shape of an image."""
    original = np.frombuffer(encode(photo(), format), np.uint8)
    for _ in range(300):
        data = original.copy()
        at = RNG.integers(0, min(len(data), int(RNG.choice([64, 400, 10**6]))), RNG.integers(1, 6))
        data[at] = RNG.integers(0, 256, len(at))
        assert run(models["RGB"], data.tobytes()).ndim == 3


def test_unknown(models):
    is_empty(models, b"")
    for data in (b"x", b"GIF89a" + bytes(100), b"hello, world", bytes(1000), RNG.bytes(1000)):
        is_empty(models, data)
    is_empty(models, encode(photo(), "WEBP", save_all=True, append_images=[photo()]))


def resized(data, at, pattern, *sizes):
    return data[:at] + struct.pack(pattern, *sizes) + data[at + struct.calcsize(pattern) :]


def test_claimed_sizes(models):
    """Sizes that the data cannot have are refused before there is memory for them."""
    is_empty(models, b"P6 2000000000 2000000000 255 x")
    is_empty(models, b"P6 10000 10000 255 x")
    is_empty(models, b"P6 99999999999999999999 1 255 x")
    is_empty(models, b"P5 0 3 255 x")
    is_empty(models, bmp(2**31 - 1, 2**31 - 1, 24, 0, b"abc"))
    is_empty(models, bmp(10000, -10000, 24, 0, b"abc"))
    is_empty(models, bmp(-5, 10, 24, 0, b"abc"))
    is_empty(models, png(900000, 900000))
    is_empty(models, png(10000, 10000))
    is_empty(models, bmp(10000, 10000, 8, 1, b"\0\1"))
    jpeg = encode(photo("L"), "JPEG")
    is_empty(models, resized(jpeg, jpeg.index(b"\xff\xc0") + 5, ">HH", 65000, 65000))
    is_empty(models, resized(jpeg, jpeg.index(b"\xff\xc0") + 5, ">HH", 10000, 10000))
    jp2 = encode(photo(), "JPEG2000")
    size = jp2.index(b"\xff\x4f\xff\x51") + 8
    is_empty(models, resized(jp2, size, ">II", 2**32 - 1, 2**32 - 1))
    is_empty(models, resized(jp2, size + 16, ">II", 1, 1))
    is_empty(models, resized(jp2, size + 32, ">H", 16384))


def test_artifact(tmp_path):
    """A compiled file finds the decoder's library, and needs no other part of the runtime."""
    onnx.save(proto_of("RGB"), tmp_path / "m.onnx")
    subprocess.run([BIN / "strata-compile", "--emit=lib", tmp_path / "m.onnx", "-o", tmp_path / "m.so"], check=True)
    library = (tmp_path / "m.so").read_bytes()
    assert b"libstrata_image.so" in library and b"libstrata_regex.so" not in library
    data = encode(photo(), "PNG")
    np.testing.assert_array_equal(run(strata.load(tmp_path / "m.so"), data), decoded(data))
