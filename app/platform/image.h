#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "models/base/result.h"

namespace app {

/// 8-bit RGBA, top row first, 4 * width * height bytes.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;
  bool operator==(const Image&) const = default;
};

/// The part of an image inside a rectangle of pixels; what lies outside the image is left out.
Image crop(const Image& image, int x, int y, int width, int height);

/// The bytes of a PNG. Fails for an empty picture.
models::Result<std::string> png_bytes(const Image& image);
/// Writes a PNG, the whole file or nothing.
models::Status write_png(const std::filesystem::path& path, const Image& image);
/// Reads a PNG of at most 64 megapixels.
models::Result<Image> read_png(const std::filesystem::path& path);

}  // namespace app
