"""Images whose pixels are known because the files are written here, without loss."""

import struct
import zlib

import numpy as np
from Conformance.table import Case, cases


def png(pixels):
    height, width, channels = pixels.shape

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2}[channels], 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def bmp(pixels):
    height, width, _ = pixels.shape
    rows = b"".join(row[:, ::-1].tobytes() + b"\0" * (-3 * width % 4) for row in pixels[::-1])
    return (
        b"BM"
        + struct.pack("<IHHI", 54 + len(rows), 0, 0, 54)
        + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(rows), 2835, 2835, 0, 0)
        + rows
    )


def pnm(pixels):
    height, width, channels = pixels.shape
    return f"P{ {1: 5, 3: 6}[channels] }\n{width} {height}\n255\n".encode() + pixels.tobytes()


@cases("ImageDecoder")
def images(op, version, types, draw):
    colour, gray = draw((5, 7, 3), "uint8", 0, 256), draw((4, 6, 1), "uint8", 0, 256)
    level = np.repeat(draw((3, 5, 1), "uint8", 0, 256), 3, -1)  # gray in every weighting of the colours
    for name, data, form, want in (
        ("png_rgb", png(colour), None, colour),
        ("png_bgr", png(colour), "BGR", colour[..., ::-1]),
        ("png_gray", png(gray), "Grayscale", gray),
        ("png_gray_as_rgb", png(gray), "RGB", np.repeat(gray, 3, -1)),
        ("png_level", png(level), "Grayscale", level[..., :1]),
        ("bmp_rgb", bmp(colour), "RGB", colour),
        ("bmp_bgr", bmp(colour), "BGR", colour[..., ::-1]),
        ("bmp_level", bmp(level), "Grayscale", level[..., :1]),
        ("pnm_rgb", pnm(colour), "RGB", colour),
        ("pnm_gray", pnm(gray), "Grayscale", gray),
        ("one_pixel", png(colour[:1, :1]), "RGB", colour[:1, :1]),
    ):
        stream = np.frombuffer(data, np.uint8)
        yield Case(
            name, [stream], {"pixel_format": form} if form else {}, expected=lambda _, w=want: np.ascontiguousarray(w)
        )
