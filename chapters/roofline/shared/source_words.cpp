#include "chapters/roofline/shared/source_words.h"

#include <array>
#include <cctype>
#include <cstdio>

namespace chapters::roofline {
namespace {

std::string text(const char* format, double a, double b = 0, double c = 0) {
  std::array<char, 160> chars{};
  std::snprintf(chars.data(), chars.size(), format, a, b, c);
  return chars.data();
}

/// A source without the commit that it was read at: " at 744d01e".
std::string without_commit(const std::string& source) {
  constexpr std::string_view word = " at ";
  for (std::size_t at = source.find(word); at != std::string::npos; at = source.find(word, at + 1)) {
    std::size_t end = at + word.size();
    bool digit = false;
    for (; end < source.size() && std::isxdigit(static_cast<unsigned char>(source[end])); ++end)
      digit = digit || std::isdigit(static_cast<unsigned char>(source[end]));
    constexpr std::size_t shortest = 7;
    if (digit && end >= at + word.size() + shortest) return source.substr(0, at) + source.substr(end);
  }
  return source;
}

}  // namespace

std::string source_words(const models::Sourced& figure) {
  using models::Origin;
  const auto& [a, b, c] = figure.factors;
  switch (figure.origin) {
    case Origin::stated:
      return without_commit(figure.source);
    case Origin::chase_cycles:
      return text("gpu-benches pointer chase: %.0f cycles at the boost clock", a);
    case Origin::units_of_bytes:
      return text("%.0f units of %.0f KiB", a, b / 1024);
    case Origin::register_operands:
      return text("%.0f units × %.0f lanes × 12 B × %.3f GHz (three FP32 operands per lane and clock)", a, b, c / 1e9);
    case Origin::shared_banks:
      return text("%.0f units × 32 banks × 4 B × %.3f GHz", a, b / 1e9);
    case Origin::l2_per_clock:
      return text("%.0f units × 35 B × %.3f GHz: what gpu-benches finds on A100 and H100 PCIe", a, b / 1e9);
    case Origin::joules_a_bit:
      return text("%.2g pJ per bit; HBM2 and HBM3 take 4 to 7", a * 1e12);
    case Origin::memory_of_peers:
      return text("memory of %.0f peers", a);
  }
  return {};
}

}  // namespace chapters::roofline
