// PNG by libpng and JPEG by libjpeg-turbo, both from memory. Their errors leave by longjmp: what holds memory
// is made before the jump's target and freed behind it.
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

// Takes size_t and FILE from whoever included them before.
#include <jpeglib.h>

#include "rewind/base/error.h"
#include "rewind/data/file.h"
#include "rewind/data/image.h"

namespace rw::data {
namespace {

constexpr int64_t kMostPixels = int64_t{1} << 28;

struct Pixels {
  int64_t height = 0, width = 0;
  int channels = 0;  // before reading: how many are wanted
  std::vector<uint8_t> bytes;
  format::ExpansionLimit limit = {};

  bool allowed(int64_t h, int64_t w, int c, size_t stored) const {
    return h * w <= kMostPixels && limit.allows(uint64_t(h * w * c), stored);
  }
};

[[noreturn]] void fail_image(const std::string& name, const std::string& what, size_t at) {
  throw DataLossError("[decode_image] " + name + ": " + what + " near byte " + std::to_string(at));
}

// ---- PNG

struct PngSource {
  std::string_view bytes;
  size_t at = 0;
  char error[200] = {};
};
void png_take(png_structp png, png_bytep to, size_t size) {
  auto* source = static_cast<PngSource*>(png_get_io_ptr(png));
  if (size > source->bytes.size() - source->at) png_error(png, "the file ends too early");
  std::memcpy(to, source->bytes.data() + source->at, size);
  source->at += size;
}
void png_failed(png_structp png, png_const_charp text) {
  auto* source = static_cast<PngSource*>(png_get_error_ptr(png));
  std::strncpy(source->error, text, sizeof(source->error) - 1);
  png_longjmp(png, 1);
}
void png_warned(png_structp, png_const_charp) {}

// False when source->error says why.
bool read_png(PngSource* source, Pixels* out) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, source, png_failed, png_warned);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  std::vector<png_bytep> rows;
  if (!info || setjmp(png_jmpbuf(png))) {
    png_destroy_read_struct(&png, &info, nullptr);
    return false;
  }
  png_set_read_fn(png, source, png_take);
  png_read_info(png, info);
  const int64_t width = png_get_image_width(png, info);
  const int64_t height = png_get_image_height(png, info);
  const int type = png_get_color_type(png, info);
  const bool transparent = png_get_valid(png, info, PNG_INFO_tRNS) != 0;
  png_set_scale_16(png);
  png_set_expand(png);
  const bool gray = (type & PNG_COLOR_MASK_COLOR) == 0;
  const bool alpha = (type & PNG_COLOR_MASK_ALPHA) != 0 || transparent;
  int& channels = out->channels;
  if (channels == 0) channels = (gray ? 1 : 3) + (alpha ? 1 : 0);
  if (channels >= 3 && gray) png_set_gray_to_rgb(png);
  if (channels == 1 && !gray) png_set_rgb_to_gray_fixed(png, 1, 29900, 58700);
  if ((channels == 1 || channels == 3) && alpha) png_set_strip_alpha(png);
  if (channels == 4 && !alpha) png_set_add_alpha(png, 255, PNG_FILLER_AFTER);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  const size_t stride = png_get_rowbytes(png, info);
  if (stride != size_t(width * channels)) png_error(png, "an unusual number of channels");
  if (!out->allowed(height, width, channels, source->bytes.size()))
    png_error(png, "the image is too large, or for so few bytes");
  out->height = height;
  out->width = width;
  out->bytes.resize(stride * size_t(height));
  for (int64_t y = 0; y < height; ++y) rows.push_back(out->bytes.data() + size_t(y) * stride);
  png_read_image(png, rows.data());
  png_read_end(png, nullptr);
  png_destroy_read_struct(&png, &info, nullptr);
  return true;
}

// ---- JPEG

struct JpegFailure {
  jpeg_error_mgr base;
  std::jmp_buf target;
  char text[JMSG_LENGTH_MAX];
};
void jpeg_failed(j_common_ptr info) {
  auto* failure = reinterpret_cast<JpegFailure*>(info->err);
  info->err->format_message(info, failure->text);
  std::longjmp(failure->target, 1);
}
// A file that is cut short is only warned of by the library: it fills up with gray.
void jpeg_warned(j_common_ptr info, int level) {
  if (level < 0) jpeg_failed(info);
}

bool read_jpeg(std::string_view bytes, Pixels* out, JpegFailure* failure, size_t* at) {
  jpeg_decompress_struct info{};
  info.err = jpeg_std_error(&failure->base);
  failure->base.error_exit = jpeg_failed;
  failure->base.emit_message = jpeg_warned;
  if (setjmp(failure->target)) {
    *at = info.src ? bytes.size() - info.src->bytes_in_buffer : 0;
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&info, TRUE);
  int& channels = out->channels;
  if (channels == 0) channels = info.num_components == 1 ? 1 : 3;
  info.out_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 4 ? JCS_EXT_RGBA : JCS_RGB;
  // Before the library takes memory: for a progressive file all coefficients, of two bytes.
  if (!out->allowed(info.image_height, info.image_width, 2 * info.num_components, bytes.size())) {
    std::strcpy(failure->text, "the image is too large, or for so few bytes");
    std::longjmp(failure->target, 1);
  }
  jpeg_start_decompress(&info);
  out->height = info.output_height;
  out->width = info.output_width;
  const size_t stride = size_t(out->width) * size_t(channels);
  out->bytes.resize(stride * size_t(out->height));
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = out->bytes.data() + size_t(info.output_scanline) * stride;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  return true;
}

}  // namespace

Tensor decode_image(std::string_view bytes, int channels, const std::string& name,
                    const format::ExpansionLimit& limit) {
  if (channels != 0 && channels != 1 && channels != 3 && channels != 4)
    fail_invalid("decode_image", "channels must be 0, 1, 3 or 4: got " + std::to_string(channels));
  Pixels pixels;
  pixels.channels = channels;
  pixels.limit = limit;
  if (bytes.substr(0, 8) == "\x89PNG\r\n\x1a\n") {
    PngSource source{bytes};
    if (!read_png(&source, &pixels)) fail_image(name, source.error, source.at);
  } else if (bytes.substr(0, 3) == "\xff\xd8\xff") {
    JpegFailure failure{};
    size_t at = 0;
    if (!read_jpeg(bytes, &pixels, &failure, &at)) fail_image(name, failure.text, at);
  } else {
    fail_image(name, "this is neither PNG nor JPEG", 0);
  }
  return tensor_from_bytes(pixels.bytes.data(), DType::kUint8,
                           {pixels.height, pixels.width, int64_t(pixels.channels)});
}

Tensor read_image(const std::string& path, int channels, const format::ExpansionLimit& limit) {
  return decode_image(File(path, "read_image").rest(), channels, path, limit);
}

}  // namespace rw::data
