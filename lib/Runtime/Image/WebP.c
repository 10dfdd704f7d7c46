/* WebP by libwebp. */
#include "Image.h"

#include <webp/decode.h>

static int measure(image_source *s) {
  WebPBitstreamFeatures features;
  VP8StatusCode status = WebPGetFeatures(s->bytes, s->size, &features);
  if (status == VP8_STATUS_NOT_ENOUGH_DATA)
    return strata_image_error(s, STRATA_IMAGE_TRUNCATED);
  if (status != VP8_STATUS_OK)
    return strata_image_error(s, "the header is broken");
  if (features.has_animation)
    return strata_image_error(s, "it is an animation");
  s->height = features.height;
  s->width = features.width;
  return 1;
}

static int decode(image_source *s, uint8_t *rgb) {
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config))
    return strata_image_error(s, "the library has another version");
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = rgb;
  config.output.u.RGBA.stride = (int)(s->width * 3);
  config.output.u.RGBA.size = (size_t)(s->height * s->width * 3);
  VP8StatusCode status = WebPDecode(s->bytes, s->size, &config);
  WebPFreeDecBuffer(&config.output);
  if (status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED)
    return strata_image_error(s, STRATA_IMAGE_TRUNCATED);
  if (status == VP8_STATUS_OUT_OF_MEMORY)
    return strata_image_error(s, "out of memory");
  return status == VP8_STATUS_OK || strata_image_error(s, "the data is broken");
}

static int matches(const image_source *s) {
  return strata_image_starts_with(s, 0, "RIFF", 4) && strata_image_starts_with(s, 8, "WEBP", 4);
}

const image_reader strata_webp_reader = {"WebP", matches, measure, decode, 8};
