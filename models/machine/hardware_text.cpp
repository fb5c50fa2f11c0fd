#include "models/machine/hardware_text.h"

#include <algorithm>
#include <cstdio>

#include "models/base/json_nesting.h"

namespace models {
namespace {

constexpr std::size_t max_text_bytes = std::size_t{16} << 20;
constexpr int max_levels = 32;

}  // namespace

Status check_json_text(std::string_view text, std::string_view origin) {
  if (text.size() > max_text_bytes)
    return Status::fail(std::string(origin) + " is larger than 16 MiB; a hardware file holds a few chips.");
  if (json_nesting(text) > max_levels)
    return Status::fail(std::string(origin) + " nests brackets deeper than " + std::to_string(max_levels) +
                        " levels; a hardware file needs five.");
  return Status::ok();
}

std::string place_in_text(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t last = before.rfind('\n');
  const std::size_t column = before.size() - (last == std::string_view::npos ? 0 : last + 1) + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

std::string short_number(double value) {
  char chars[40];
  std::snprintf(chars, sizeof chars, "%.6g", value);
  return chars;
}

}  // namespace models
