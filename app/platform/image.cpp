#include "app/platform/image.h"

#include <png.h>

#include <algorithm>
#include <new>
#include <string_view>

#include "app/platform/file.h"
#include "app/platform/quoted_text.h"

namespace app {
namespace {

constexpr std::size_t largest_pixels = 64'000'000;
constexpr std::size_t largest_file_bytes = 512'000'000;

}  // namespace

Image crop(const Image& image, int x, int y, int width, int height) {
  const int x0 = std::clamp(x, 0, image.width), y0 = std::clamp(y, 0, image.height);
  const int x1 = std::clamp(x + std::max(width, 0), x0, image.width),
            y1 = std::clamp(y + std::max(height, 0), y0, image.height);
  Image out{x1 - x0, y1 - y0, {}};
  out.rgba.reserve(4 * static_cast<std::size_t>(out.width) * static_cast<std::size_t>(out.height));
  for (int row = y0; row < y1; ++row) {
    const auto line = image.rgba.begin() + 4 * (static_cast<std::ptrdiff_t>(row) * image.width + x0);
    out.rgba.insert(out.rgba.end(), line, line + 4 * static_cast<std::ptrdiff_t>(out.width));
  }
  return out;
}

models::Result<std::string> png_bytes(const Image& image) {
  using Bytes = models::Result<std::string>;
  const std::size_t pixels = image.width > 0 && image.height > 0
                                 ? static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height)
                                 : 0;
  if (pixels == 0 || image.rgba.size() != 4 * pixels)
    return Bytes::fail("the picture is empty; give it a size of at least 1x1.");
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = PNG_FORMAT_RGBA;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string bytes(size, '\0');
  if (!png_image_write_to_memory(&png, bytes.data(), &size, 0, image.rgba.data(), 0, nullptr))
    return Bytes::fail(std::string(png.message) + ".");
  bytes.resize(size);
  return Bytes::ok(std::move(bytes));
}

models::Status write_png(const std::filesystem::path& path, const Image& image) try {
  const auto bytes = png_bytes(image);
  if (!bytes) return models::Status::fail("The file " + path_text(path) + " cannot be written: " + bytes.error);
  return write_file(path, *bytes);
} catch (const std::bad_alloc&) {
  return models::Status::fail("There is not enough memory to write " + path_text(path) + ": choose a smaller size.");
}

models::Result<Image> read_png(const std::filesystem::path& path) {
  const auto fail = [&](std::string_view why) {
    return models::Result<Image>::fail("The file " + path_text(path) +
                                       " is no PNG that can be read: " + std::string(why) + ".");
  };
  const models::Result<std::string> bytes = read_file(path, largest_file_bytes);
  if (!bytes) return models::Result<Image>::fail(bytes.error);
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&png, bytes->data(), bytes->size())) return fail(png.message);
  const std::size_t pixels = static_cast<std::size_t>(png.width) * png.height;
  if (pixels == 0 || pixels > largest_pixels) {
    png_image_free(&png);
    return fail("it has more than 64 megapixels");
  }
  png.format = PNG_FORMAT_RGBA;
  Image image{static_cast<int>(png.width), static_cast<int>(png.height), std::vector<std::uint8_t>(4 * pixels)};
  if (!png_image_finish_read(&png, nullptr, image.rgba.data(), 0, nullptr)) return fail(png.message);
  return models::Result<Image>::ok(std::move(image));
}

}  // namespace app
