#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "widgets/plot/axis.h"

using namespace widgets;

namespace {

float eight_px(std::string_view s) {
  float w = 0;
  for (const char c : s) w += (static_cast<unsigned char>(c) & 0xC0) == 0x80 ? 0.0f : 8.0f;
  return w;
}

AxisTicks level_ticks(const AxisSpec& spec, double px) {
  AxisTicks out;
  const Range r = sane_range(spec.kind, {spec.lo, spec.hi});
  layout_ticks(spec, r, axis_map(spec, r, 0, px, 14), {eight_px, 14, false}, out);
  return out;
}

std::vector<std::string> words_of(const AxisTicks& t) {
  std::vector<std::string> out;
  for (const Tick& tick : t.major()) out.emplace_back(tick.label.view());
  return out;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a log2 axis names its powers with raised exponents") {
  CHECK(words_of(level_ticks({.kind = AxisKind::log2, .lo = std::exp2(-24), .hi = std::exp2(-20)}, 400)) ==
        Words{"2⁻²⁴", "2⁻²³", "2⁻²²", "2⁻²¹", "2⁻²⁰"});
  CHECK(words_of(level_ticks({.kind = AxisKind::log2, .lo = 1, .hi = 65536, .unit = "tokens"}, 300)) ==
        Words{"2⁰", "2³", "2⁶", "2⁹", "2¹²", "2¹⁵"});
  // Small counts read better in full.
  CHECK(words_of(level_ticks({.kind = AxisKind::log2, .lo = 1, .hi = 16}, 400)) == Words{"1", "2", "4", "8", "16"});
  // Bytes have their prefixes.
  CHECK(words_of(level_ticks({.kind = AxisKind::log2, .lo = 1024, .hi = 4096, .unit = "B"}, 400)) ==
        Words{"1 KiB", "2 KiB", "4 KiB"});
}

TEST_CASE("a category axis has whole positions only, with words or without") {
  CHECK(words_of(level_ticks({.kind = AxisKind::category, .lo = -0.5, .hi = 3.5}, 600)) == Words{"0", "1", "2", "3"});
  const std::string_view names[] = {"read", "add"};
  const AxisTicks named = level_ticks({.kind = AxisKind::category, .lo = -0.6, .hi = 1.6, .categories = names}, 600);
  CHECK(words_of(named) == Words{"read", "add"});
  CHECK(named.minor_count == 0);
}

TEST_CASE("zeros stand in a band under a log axis, under their word, and push no number aside in silence") {
  const AxisSpec spec{.kind = AxisKind::log10, .lo = 1e-6, .hi = 1, .zero_word = "exact"};
  const AxisMap map = axis_map(spec, {1e-6, 1}, 0, 700, 14);
  CHECK(map.has_zero());
  CHECK(map.start() > 20);
  CHECK(map.pixel(0) > 0);
  CHECK(map.pixel(0) < map.start());
  CHECK(map.pixel(1e-6) == map.start());
  CHECK(map.pixel(1) == 700);
  CHECK(map.value(map.zero_pixel()) == 0);
  CHECK(axis_value(spec, 0).view() == "exact");
  const AxisTicks ticks = level_ticks(spec, 700);
  CHECK(words_of(ticks).front() == "exact");
  CHECK(ticks.major().front().pixel == map.zero_pixel());
  // Without a word zeros are left out, and a plot too small for both keeps its scale.
  CHECK_FALSE(axis_map({.kind = AxisKind::log10}, {1e-6, 1}, 0, 700, 14).has_zero());
  CHECK_FALSE(axis_map(spec, {1e-6, 1}, 0, 40, 14).has_zero());
}

TEST_CASE("one prefix an axis, said once; binary where asked for") {
  const AxisTicks plain = level_ticks({.lo = 0, .hi = 8.0 * 1073741824.0, .unit = "B"}, 600);
  CHECK(plain.unit.view() == "GB");
  const AxisTicks binary = level_ticks({.lo = 0, .hi = 8.0 * 1073741824.0, .unit = "B", .binary = true}, 600);
  CHECK(binary.unit.view() == "GiB");
  CHECK(words_of(binary) == Words{"0", "1", "2", "3", "4", "5", "6", "7", "8"});
}

TEST_CASE("ticks never repeat and never skip, whatever the range, the unit and the room") {
  std::mt19937_64 random(7);
  const std::vector<std::string_view> units{"", "s", "B", "FLOP/s", "tokens", "%"};
  for (int i = 0; i < 4000; ++i) {
    const double lo = std::pow(10.0, std::uniform_real_distribution<>(-9, 9)(random));
    const double wide = std::pow(10.0, std::uniform_real_distribution<>(-4, 6)(random));
    const AxisKind kinds[] = {AxisKind::linear, AxisKind::log10, AxisKind::log2, AxisKind::time,
                              AxisKind::linear_bytes};
    AxisSpec spec{.kind = kinds[i % 5], .lo = lo, .hi = lo * (1 + wide), .unit = units[random() % units.size()]};
    if (spec.kind == AxisKind::linear_bytes) spec.unit = "B";
    if (spec.kind == AxisKind::time) spec.unit = "s";
    spec.binary = i % 7 == 0;
    const double px = std::uniform_real_distribution<>(120, 1600)(random);
    const AxisTicks t = level_ticks(spec, px);
    INFO("kind " << i % 5 << ", unit " << spec.unit << ", " << lo << " to " << spec.hi << " on " << px << " px, binary "
                 << spec.binary);
    std::set<std::string> seen;
    for (const std::string& word : words_of(t)) {
      INFO("label " << word);
      CHECK(seen.insert(word).second);
    }
    // 1, 2, 5 on a short log axis are even in leads, not in pixels.
    const auto major = t.major();
    if (is_log(spec.kind) || major.size() < 3) continue;
    const double step = major[1].pixel - major[0].pixel;
    for (std::size_t k = 2; k < major.size(); ++k)
      CHECK(std::abs(major[k].pixel - major[k - 1].pixel - step) <= 1e-3 * step + 1e-3);
  }
}
