/* JPEG by libjpeg-turbo: its accurate integer transform and its smooth upsampling, which are its defaults. */
#include "Image.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
/* After it. */
#include <jerror.h>

typedef struct {
  struct jpeg_error_mgr base;
  jmp_buf out;
  image_source *source;
} error_manager;

static void on_error(j_common_ptr c) {
  error_manager *e = (error_manager *)c->err;
  char text[JMSG_LENGTH_MAX];
  e->base.format_message(c, text);
  strata_image_error(e->source, "%s", text);
  longjmp(e->out, 1);
}

/* The library repairs what it can and warns. Warnings after which pixels are missing or invented are errors here. */
static void on_message(j_common_ptr c, int level) {
  if (level >= 0)
    return;
  switch (c->err->msg_code) {
  case JWRN_JPEG_EOF:
  case JWRN_HIT_MARKER:
    strata_image_error(((error_manager *)c->err)->source, STRATA_IMAGE_TRUNCATED);
    on_error(c);
    break;
  case JWRN_HUFF_BAD_CODE:
  case JWRN_ARITH_BAD_CODE:
  case JWRN_MUST_RESYNC:
    on_error(c);
    break;
  }
}

static void print_nothing(j_common_ptr c) {}

/* Scans cost time in proportion to the image and may be a few bytes long. */
static void on_progress(j_common_ptr c) {
  if (c->is_decompressor && ((j_decompress_ptr)c)->input_scan_number > 500) {
    strata_image_error(((error_manager *)c->err)->source, "it has more than 500 scans");
    on_error(c);
  }
}

static void prepare(struct jpeg_decompress_struct *c, error_manager *e, struct jpeg_progress_mgr *progress,
                    image_source *s) {
  c->err = jpeg_std_error(&e->base);
  e->base.error_exit = on_error;
  e->base.emit_message = on_message;
  e->base.output_message = print_nothing;
  e->source = s;
  *progress = (struct jpeg_progress_mgr){.progress_monitor = on_progress};
}

/* Calls `use` behind the header; `rgb` is its own. False if something was wrong. */
static int with_header(image_source *s, void (*use)(struct jpeg_decompress_struct *, image_source *, uint8_t *),
                       uint8_t *rgb) {
  struct jpeg_decompress_struct c = {0};
  error_manager e;
  struct jpeg_progress_mgr progress;
  prepare(&c, &e, &progress, s);
  if (setjmp(e.out) == 0) {
    jpeg_create_decompress(&c);
    c.progress = &progress;
    jpeg_mem_src(&c, s->bytes, (unsigned long)s->size);
    jpeg_read_header(&c, TRUE);
    use(&c, s, rgb);
  }
  jpeg_destroy_decompress(&c);
  return !s->error[0];
}

static void measure_header(struct jpeg_decompress_struct *c, image_source *s, uint8_t *rgb) {
  (void)rgb;
  s->height = c->image_height;
  s->width = c->image_width;
  /* A block takes a bit at least. */
  uint64_t blocks = 0;
  for (int i = 0; i < c->num_components; ++i)
    blocks += (uint64_t)c->comp_info[i].width_in_blocks * c->comp_info[i].height_in_blocks;
  if (!c->arith_code && blocks / 8 > s->size)
    strata_image_error(s, STRATA_IMAGE_TRUNCATED);
}

static void decode_rows(struct jpeg_decompress_struct *c, image_source *s, uint8_t *rgb) {
  int inks = c->jpeg_color_space == JCS_CMYK || c->jpeg_color_space == JCS_YCCK;
  c->out_color_space = inks ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(c);
  JSAMPARRAY line = NULL;
  if (inks)
    line = c->mem->alloc_sarray((j_common_ptr)c, JPOOL_IMAGE, c->output_width * 4, 1);
  while (c->output_scanline < c->output_height) {
    JSAMPROW row = rgb + (size_t)c->output_scanline * (size_t)s->width * 3;
    jpeg_read_scanlines(c, inks ? line : &row, 1);
    for (JDIMENSION x = 0; inks && x < c->output_width; ++x) {
      uint8_t cmyk[4];
      for (int i = 0; i < 4; ++i) /* Adobe's are inverted. */
        cmyk[i] = c->saw_Adobe_marker ? 255 - line[0][4 * x + i] : line[0][4 * x + i];
      strata_image_cmyk(row + 3 * x, cmyk);
    }
  }
  jpeg_finish_decompress(c);
}

static int measure(image_source *s) { return with_header(s, measure_header, NULL); }
static int decode(image_source *s, uint8_t *rgb) { return with_header(s, decode_rows, rgb); }

static int matches(const image_source *s) { return strata_image_starts_with(s, 0, "\xff\xd8\xff", 3); }

const image_reader strata_jpeg_reader = {"JPEG", matches, measure, decode, 12};
