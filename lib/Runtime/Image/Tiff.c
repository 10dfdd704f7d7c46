/* TIFF by libtiff: the first image of the file, the way up that it says. */
#include "Image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

typedef struct {
  image_source *source;
  uint64_t at;
} file;

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t count) {
  file *f = handle;
  uint64_t left = f->at < f->source->size ? f->source->size - f->at : 0;
  uint64_t length = count < 0 ? 0 : (uint64_t)count < left ? (uint64_t)count : left;
  if (length)
    memcpy(to, f->source->bytes + f->at, length);
  f->at += length;
  return (tmsize_t)length;
}

static tmsize_t write_nothing(thandle_t handle, void *from, tmsize_t count) { return 0; }

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
  file *f = handle;
  f->at = offset + (whence == SEEK_CUR ? f->at : whence == SEEK_END ? f->source->size : 0);
  return f->at;
}

static int close_nothing(thandle_t handle) { return 0; }

static toff_t size_of(thandle_t handle) { return ((file *)handle)->source->size; }

static int on_error(TIFF *tiff, void *source, const char *module, const char *format, va_list args) {
  char text[160];
  vsnprintf(text, sizeof(text), format, args);
  strata_image_error(source, "%s", text);
  return 1;
}

static int on_warning(TIFF *tiff, void *source, const char *module, const char *format, va_list args) { return 1; }

static TIFF *open_file(file *f) {
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
  if (!options)
    return NULL;
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)8 * strata_max_pixels);
  TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, f->source);
  TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, f->source);
  TIFF *tiff = TIFFClientOpenExt("image", "rm", f, read_bytes, write_nothing, seek, close_nothing, size_of, NULL, NULL,
                                 options);
  TIFFOpenOptionsFree(options);
  return tiff;
}

static int orientation_of(TIFF *tiff) {
  uint16_t orientation = ORIENTATION_TOPLEFT;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
  return orientation >= 1 && orientation <= 8 ? orientation : ORIENTATION_TOPLEFT;
}

static int measure(image_source *s) {
  file f = {s, 0};
  TIFF *tiff = open_file(&f);
  uint32_t height = 0, width = 0;
  if (!tiff)
    return strata_image_error(s, "the header is broken");
  if (!TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height) || !TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width))
    strata_image_error(s, "it does not tell its size");
  int turned = orientation_of(tiff) >= ORIENTATION_LEFTTOP;
  s->height = turned ? width : height;
  s->width = turned ? height : width;
  /* What is not compressed is there. */
  uint16_t compression = 0;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
  if (compression == COMPRESSION_NONE && (uint64_t)height * width / 8 > s->size)
    strata_image_error(s, STRATA_IMAGE_TRUNCATED);
  TIFFClose(tiff);
  return !s->error[0];
}

/* Where the pixel in row y and column x of the file is seen. */
static size_t place(int orientation, int64_t y, int64_t x, int64_t rows, int64_t columns) {
  int64_t down = rows - 1 - y, right = columns - 1 - x;
  switch (orientation) {
  case ORIENTATION_TOPRIGHT:
    return (size_t)(y * columns + right);
  case ORIENTATION_BOTRIGHT:
    return (size_t)(down * columns + right);
  case ORIENTATION_BOTLEFT:
    return (size_t)(down * columns + x);
  case ORIENTATION_LEFTTOP:
    return (size_t)(x * rows + y);
  case ORIENTATION_RIGHTTOP:
    return (size_t)(x * rows + down);
  case ORIENTATION_RIGHTBOT:
    return (size_t)(right * rows + down);
  case ORIENTATION_LEFTBOT:
    return (size_t)(right * rows + y);
  }
  return (size_t)(y * columns + x);
}

static int decode_file(TIFF *tiff, image_source *s, uint8_t *rgb) {
  /* Alpha is dropped. Colours that were not multiplied by it stay so if the library takes them for multiplied. */
  uint16_t extras = 0, *kinds = NULL, known[] = {EXTRASAMPLE_ASSOCALPHA};
  TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &extras, &kinds);
  if (extras == 1 && kinds[0] == EXTRASAMPLE_UNASSALPHA)
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, known);
  char text[1024] = "";
  TIFFRGBAImage image;
  if (!TIFFRGBAImageOK(tiff, text) || !TIFFRGBAImageBegin(&image, tiff, /*stop=*/1, text))
    return strata_image_error(s, "%.150s", text);
  int orientation = orientation_of(tiff);
  int64_t rows = image.height, columns = image.width;
  uint32_t *raster = NULL;
  int ok = rows * columns == s->height * s->width;
  if (ok && !(raster = malloc((size_t)(rows * columns) * sizeof(uint32_t))))
    ok = strata_image_error(s, "out of memory");
  if (ok) {
    image.req_orientation = image.orientation; /* turned below */
    ok = TIFFRGBAImageGet(&image, raster, image.width, image.height);
  }
  for (int64_t y = 0; ok && y < rows; ++y)
    for (int64_t x = 0; x < columns; ++x) {
      uint32_t pixel = raster[y * columns + x];
      uint8_t *to = rgb + 3 * place(orientation, y, x, rows, columns);
      to[0] = (uint8_t)TIFFGetR(pixel);
      to[1] = (uint8_t)TIFFGetG(pixel);
      to[2] = (uint8_t)TIFFGetB(pixel);
    }
  free(raster);
  TIFFRGBAImageEnd(&image);
  return ok;
}

static int decode(image_source *s, uint8_t *rgb) {
  file f = {s, 0};
  TIFF *tiff = open_file(&f);
  if (!tiff)
    return strata_image_error(s, "the header is broken");
  int ok = decode_file(tiff, s, rgb);
  TIFFClose(tiff);
  return ok;
}

static int matches(const image_source *s) {
  return strata_image_starts_with(s, 0, "II\x2a\0", 4) || strata_image_starts_with(s, 0, "MM\0\x2a", 4) ||
         strata_image_starts_with(s, 0, "II\x2b\0", 4) || strata_image_starts_with(s, 0, "MM\0\x2b", 4);
}

const image_reader strata_tiff_reader = {"TIFF", matches, measure, decode, 12};
