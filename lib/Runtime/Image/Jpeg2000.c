/* JPEG 2000 by OpenJPEG: code streams, and those in JP2 files. */
#include "Image.h"

#include <openjpeg.h>
#include <string.h>

/* --- The size, from the head of the code stream. The library would make tables for all the tiles and components that
 * are claimed there. */

static uint32_t word(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int is_file(const image_source *s) { return strata_image_starts_with(s, 0, "\0\0\0\x0cjP  \r\n\x87\n", 12); }

/* Where the code stream begins, or the size of all. */
static size_t find_stream(const image_source *s) {
  size_t at = 0;
  while (is_file(s) && s->size - at >= 8) {
    uint64_t head = 8, length = word(s->bytes + at);
    if (length == 1 && s->size - at >= 16) {
      head = 16;
      length = (uint64_t)word(s->bytes + at + 8) << 32 | word(s->bytes + at + 12);
    }
    if (memcmp(s->bytes + at + 4, "jp2c", 4) == 0)
      return at + head;
    if (length < head || length > s->size - at)
      return s->size;
    at += length;
  }
  return is_file(s) ? s->size : 0;
}

static int measure(image_source *s) {
  size_t at = find_stream(s);
  if (s->size - at < 42)
    return strata_image_error(s, STRATA_IMAGE_TRUNCATED);
  const uint8_t *p = s->bytes + at;
  if (memcmp(p, "\xff\x4f\xff\x51", 4) != 0)
    return strata_image_error(s, "the header is broken");
  uint32_t right = word(p + 8), bottom = word(p + 12), left = word(p + 16), top = word(p + 20);
  uint32_t tile_width = word(p + 24), tile_height = word(p + 28), tile_left = word(p + 32), tile_top = word(p + 36);
  int components = p[40] << 8 | p[41];
  if (right <= left || bottom <= top || !tile_width || !tile_height || tile_left > left || tile_top > top)
    return strata_image_error(s, "the header is broken");
  if (components < 1 || components > 4)
    return strata_image_error(s, "it has %d components", components);
  uint64_t columns = ((uint64_t)right - tile_left + tile_width - 1) / tile_width;
  uint64_t rows = ((uint64_t)bottom - tile_top + tile_height - 1) / tile_height;
  if (columns > s->size || rows * columns > s->size / 14) /* each begins with a header */
    return strata_image_error(s, STRATA_IMAGE_TRUNCATED);
  s->height = bottom - top;
  s->width = right - left;
  return 1;
}

/* --- The library's stream */

typedef struct {
  image_source *source;
  size_t at;
} input;

static OPJ_SIZE_T read_bytes(void *to, OPJ_SIZE_T count, void *data) {
  input *in = data;
  size_t left = in->source->size - in->at;
  if (!left)
    return (OPJ_SIZE_T)-1;
  if (count > left)
    count = left;
  memcpy(to, in->source->bytes + in->at, count);
  in->at += count;
  return count;
}

static OPJ_BOOL seek(OPJ_OFF_T offset, void *data) {
  input *in = data;
  if (offset < 0 || (uint64_t)offset > in->source->size)
    return OPJ_FALSE;
  in->at = (size_t)offset;
  return OPJ_TRUE;
}

static OPJ_OFF_T skip(OPJ_OFF_T count, void *data) {
  input *in = data;
  if (count < 0 && (uint64_t)-count > in->at)
    return -1;
  return count <= (OPJ_OFF_T)(in->source->size - in->at) && seek((OPJ_OFF_T)in->at + count, data) ? count : -1;
}

static void on_error(const char *message, void *source) {
  size_t length = strcspn(message, "\n");
  strata_image_error(source, "%.*s", (int)(length < 150 ? length : 150), message);
}

static void on_message(const char *message, void *source) {}

/* --- Components to pixels */

/* Eight bits of a sample; what has more is rounded. */
static int sample(const opj_image_comp_t *c, int64_t y, int64_t x) {
  x /= c->dx;
  y /= c->dy;
  if (x >= c->w)
    x = c->w - 1;
  if (y >= c->h)
    y = c->h - 1;
  int64_t value = c->data[y * c->w + x] + (c->sgnd ? (int64_t)1 << (c->prec - 1) : 0);
  int shift = (int)c->prec - 8;
  value = shift > 0 ? (value + ((int64_t)1 << (shift - 1))) >> shift : value * ((int64_t)1 << -shift);
  return (int)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static uint8_t clamp(double x) { return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x + 0.5); }

static int to_rgb(const opj_image_t *image, image_source *s, uint8_t *rgb) {
  uint32_t n = image->numcomps;
  if (n < 1 || n > 4 || image->x1 - image->x0 != s->width || image->y1 - image->y0 != s->height)
    return strata_image_error(s, "the header is broken");
  const opj_image_comp_t *c = image->comps;
  int coarse = 0;
  for (uint32_t i = 0; i < n; ++i) {
    if (!c[i].data || !c[i].w || !c[i].h || !c[i].dx || !c[i].dy || c[i].prec < 1 || c[i].prec > 31)
      return strata_image_error(s, "component %u is missing", i);
    coarse |= (i == 1 || i == 2) && (c[i].dx > 1 || c[i].dy > 1);
  }
  OPJ_COLOR_SPACE space = image->color_space;
  if (space == OPJ_CLRSPC_EYCC)
    return strata_image_error(s, "its colour space (e-YCC) is not supported");
  int luma = n >= 3 && (space == OPJ_CLRSPC_SYCC || (space <= OPJ_CLRSPC_UNSPECIFIED && coarse));
  int inks = n == 4 && space == OPJ_CLRSPC_CMYK;
  for (int64_t y = 0; y < s->height; ++y)
    for (int64_t x = 0; x < s->width; ++x, rgb += 3) {
      int v[4];
      for (uint32_t i = 0; i < n; ++i)
        v[i] = sample(&c[i], y, x);
      if (luma) {
        double blue = v[1] - 128, red = v[2] - 128;
        rgb[0] = clamp(v[0] + 1.402 * red);
        rgb[1] = clamp(v[0] - 0.344136 * blue - 0.714136 * red);
        rgb[2] = clamp(v[0] + 1.772 * blue);
      } else if (inks) {
        strata_image_cmyk(rgb, (const uint8_t[4]){(uint8_t)v[0], (uint8_t)v[1], (uint8_t)v[2], (uint8_t)v[3]});
      } else {
        for (int i = 0; i < 3; ++i)
          rgb[i] = (uint8_t)v[n >= 3 ? i : 0];
      }
    }
  return 1;
}

static int decode(image_source *s, uint8_t *rgb) {
  input in = {s, is_file(s) ? 0 : find_stream(s)};
  opj_codec_t *codec = opj_create_decompress(is_file(s) ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K);
  opj_stream_t *stream = opj_stream_default_create(OPJ_TRUE);
  opj_image_t *image = NULL;
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  int ok = codec && stream;
  if (ok) {
    opj_set_error_handler(codec, on_error, s);
    opj_set_warning_handler(codec, on_message, s);
    opj_set_info_handler(codec, on_message, s);
    opj_stream_set_read_function(stream, read_bytes);
    opj_stream_set_seek_function(stream, seek);
    opj_stream_set_skip_function(stream, skip);
    opj_stream_set_user_data(stream, &in, NULL);
    opj_stream_set_user_data_length(stream, s->size);
    ok = opj_setup_decoder(codec, &parameters) && opj_decoder_set_strict_mode(codec, OPJ_TRUE) &&
         opj_read_header(stream, codec, &image);
  }
  /* A header may also be found where `measure` did not look. */
  if (ok && (image->numcomps > 4 || image->x1 - image->x0 != s->width || image->y1 - image->y0 != s->height))
    ok = strata_image_error(s, "the header is broken");
  ok = ok && opj_decode(codec, stream, image) && opj_end_decompress(codec, stream) && to_rgb(image, s, rgb);
  opj_image_destroy(image);
  if (stream)
    opj_stream_destroy(stream);
  if (codec)
    opj_destroy_codec(codec);
  return ok;
}

static int matches(const image_source *s) {
  return is_file(s) || strata_image_starts_with(s, 0, "\xff\x4f\xff\x51", 4);
}

const image_reader strata_jpeg2000_reader = {"JPEG 2000", matches, measure, decode, 40};
