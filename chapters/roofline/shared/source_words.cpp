#include "chapters/roofline/shared/source_words.h"

#include <array>
#include <cstdio>

namespace chapters::roofline {
namespace {

std::string text(const char* format, double a, double b = 0, double c = 0) {
  std::array<char, 160> chars{};
  std::snprintf(chars.data(), chars.size(), format, a, b, c);
  return chars.data();
}

}  // namespace

std::string source_words(const models::Sourced& figure) {
  using models::Origin;
  const auto& [a, b, c] = figure.factors;
  switch (figure.origin) {
    case Origin::stated:
      return figure.source;
    case Origin::chase_cycles:
      return text("gpu-benches pointer chase: %.0f cycles at the boost clock", a);
    case Origin::units_of_bytes:
      return text("%.0f units of %.0f KiB", a, b / 1024);
    case Origin::register_operands:
      return text("%.0f units x %.0f lanes x 12 B x %.3f GHz (three FP32 operands a lane and clock)", a, b, c / 1e9);
    case Origin::shared_banks:
      return text("%.0f units x 32 banks x 4 B x %.3f GHz", a, b / 1e9);
    case Origin::l2_per_clock:
      return text("%.0f units x 35 B x %.3f GHz: what gpu-benches finds on A100 and H100 PCIe", a, b / 1e9);
    case Origin::joules_a_bit:
      return text("%.2g pJ a bit; HBM2 and HBM3 take 4 to 7", a * 1e12);
    case Origin::memory_of_peers:
      return text("memory of %.0f peers", a);
  }
  return {};
}

}  // namespace chapters::roofline
