/* Between the decoder (Image.c) and the readers of the formats. None of this leaves libstrata_image. */
#ifndef STRATA_RUNTIME_IMAGE_H
#define STRATA_RUNTIME_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/* An encoded image, and what went wrong with it. */
typedef struct {
  const uint8_t *bytes;
  size_t size;
  int64_t height, width;
  char error[192];
} image_source;

/* A format. Both functions return 1, or 0 and an error; neither keeps anything. */
typedef struct {
  const char *name;
  int (*matches)(const image_source *);
  /* Height and width, without memory in proportion to them. */
  int (*measure)(image_source *);
  /* height * width * 3 bytes of RGB, of an image that was measured. */
  int (*decode)(image_source *, uint8_t *rgb);
  /* Bytes for each pixel that `decode` may need besides its result. */
  int scratch;
} image_reader;

extern const image_reader strata_bmp_reader, strata_jpeg_reader, strata_jpeg2000_reader, strata_png_reader,
    strata_pnm_reader, strata_tiff_reader, strata_webp_reader;

/* More pixels are refused: 512 MiB of RGB. */
enum { strata_max_pixels = (512 << 20) / 3 };

/* Sets the error, unless there is one, and returns 0. */
__attribute__((format(printf, 2, 3))) int strata_image_error(image_source *, const char *format, ...);
int strata_image_starts_with(const image_source *, size_t at, const char *bytes, size_t count);
/* What all say of a stream that ends too early. */
#define STRATA_IMAGE_TRUNCATED "the data ends before the image does"

/* Ink to light; what a printer's colours are on a screen. */
static inline void strata_image_cmyk(uint8_t *rgb, const uint8_t cmyk[4]) {
  int paper = 255 - cmyk[3];
  for (int i = 0; i < 3; ++i) {
    int product = cmyk[i] * paper + 128, value = paper - ((product + (product >> 8)) >> 8);
    rgb[i] = (uint8_t)(value < 0 ? 0 : value);
  }
}

#endif
