#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "widgets/base/theme.h"
#include "widgets/base/tint.h"

using widgets::Meaning;
using widgets::Mode;

namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

/// Linear RGB as seen by normal vision, protanopes, deuteranopes and tritanopes: Machado, Oliveira and Fernandes
/// (2009), "A physiologically-based model for simulation of color vision deficiency", severity 1.
constexpr std::array<Matrix, 4> visions{{
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}},
}};
/// sRGB to XYZ under D65.
constexpr Matrix to_xyz{
    {{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}};

Triple times(const Matrix& m, const Triple& v) {
  Triple out{};
  for (std::size_t r = 0; r < 3; ++r) out[r] = m[r][0] * v[0] + m[r][1] * v[1] + m[r][2] * v[2];
  return out;
}

Triple lab_of(ImU32 colour, const Matrix& vision) {
  Triple linear{};
  const std::array<int, 3> shifts{IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT};
  for (std::size_t k = 0; k < 3; ++k) {
    const double v = static_cast<double>((colour >> shifts[k]) & 255) / 255;
    linear[k] = v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  }
  Triple seen = times(vision, linear);
  for (double& v : seen) v = std::clamp(v, 0.0, 1.0);
  const Triple xyz = times(to_xyz, seen), white{0.95047, 1, 1.08883};
  Triple f{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double t = xyz[k] / white[k];
    f[k] = t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
  }
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

/// CIE76: the distance in Lab.
double difference(ImU32 a, ImU32 b, const Matrix& vision) {
  const Triple x = lab_of(a, vision), y = lab_of(b, vision);
  return std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

double least_difference(ImU32 a, ImU32 b) {
  double least = HUGE_VAL;
  for (const Matrix& vision : visions) least = std::min(least, difference(a, b, vision));
  return least;
}

std::array<widgets::Theme, 2> both_themes() {
  return {widgets::make_theme(Mode::dark, 1, {}), widgets::make_theme(Mode::light, 1, {})};
}

/// Every meaning that has a colour of its own: idle is the ground's line, since nothing happens there.
constexpr std::array<Meaning, 10> coloured{
    Meaning::forward,  Meaning::backward,     Meaning::weight_gradient, Meaning::optimizer,     Meaning::communication,
    Meaning::kv_cache, Meaning::data_loading, Meaning::memory_bound,    Meaning::compute_bound, Meaning::launch_bound};

struct Named {
  std::string name;
  ImU32 colour;
};

/// Every colour of a theme that says what a mark is: the meanings, the four words of the interface, the series.
std::vector<Named> named_colours(const widgets::Theme& t) {
  std::vector<Named> out{{"accent", t.accent}, {"warning", t.warning}, {"good", t.good}, {"bad", t.bad}};
  for (const Meaning m : coloured) out.push_back({"meaning " + std::to_string(static_cast<int>(m)), t.of(m)});
  for (std::size_t i = 0; i < t.series.size(); ++i) out.push_back({"series " + std::to_string(i), t.series_at(i)});
  return out;
}

/// The angle of a colour's hue in Lab, in degrees.
double hue_of(ImU32 colour) {
  const Triple lab = lab_of(colour, visions[0]);
  return std::atan2(lab[2], lab[1]) * 180 / std::acos(-1.0);
}

/// How far two hues are apart on their circle, in degrees.
double hue_apart(ImU32 a, ImU32 b) { return std::abs(std::remainder(hue_of(a) - hue_of(b), 360.0)); }

}  // namespace

TEST_CASE("the measure of colour difference sees what it should") {
  CHECK(std::abs(difference(IM_COL32_WHITE, IM_COL32_BLACK, visions[0]) - 100) <= 0.01);
  // Pure red and this green are far apart for most people and near for deuteranopes.
  const ImU32 red = IM_COL32(255, 0, 0, 255), green = IM_COL32(140, 140, 0, 255);
  CHECK(difference(red, green, visions[0]) >= 80);
  CHECK(difference(red, green, visions[2]) <= 25);
}

TEST_CASE("any two of the six nominal hues are told apart with any colour vision, in both themes") {
  for (const auto& t : both_themes())
    for (std::size_t a = 0; a < t.series.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        INFO("mode " << static_cast<int>(t.mode) << ", series " << b << " and " << a);
        CHECK(least_difference(t.series_at(a), t.series_at(b)) >= 12);
      }
}

TEST_CASE("regimes, accent, communication and data loading are told apart with any colour vision") {
  for (const auto& t : both_themes()) {
    const std::array<ImU32, 6> shown{t.of(Meaning::memory_bound),  t.of(Meaning::compute_bound),
                                     t.of(Meaning::launch_bound),  t.accent,
                                     t.of(Meaning::communication), t.of(Meaning::data_loading)};
    for (std::size_t a = 0; a < shown.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        INFO("mode " << static_cast<int>(t.mode) << ", colours " << b << " and " << a);
        CHECK(least_difference(shown[a], shown[b]) >= 12);
      }
  }
}

TEST_CASE("one colour, one meaning: no two colours of a theme that say something are alike to the normal eye") {
  for (const auto& t : both_themes()) {
    const auto named = named_colours(t);
    for (std::size_t a = 0; a < named.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        INFO("mode " << static_cast<int>(t.mode) << ", " << named[b].name << " and " << named[a].name);
        CHECK(difference(named[a].colour, named[b].colour, visions[0]) >= 18);
      }
  }
}

TEST_CASE("the parts of a training step are told apart with any colour vision, and so are good, bad and accent") {
  for (const auto& t : both_themes()) {
    const auto apart = [&](std::vector<ImU32> shown) {
      for (std::size_t a = 0; a < shown.size(); ++a)
        for (std::size_t b = 0; b < a; ++b) {
          INFO("mode " << static_cast<int>(t.mode) << ", colours " << b << " and " << a);
          CHECK(least_difference(shown[a], shown[b]) >= 12);
        }
    };
    apart({t.of(Meaning::forward), t.of(Meaning::backward), t.of(Meaning::optimizer), t.of(Meaning::communication),
           t.of(Meaning::data_loading), t.accent});
    apart({t.good, t.bad, t.accent});
  }
}

TEST_CASE("a colour has one hue in both themes, so that a light handout follows a dark projector") {
  const auto themes = both_themes();
  const auto dark = named_colours(themes[0]), light = named_colours(themes[1]);
  for (std::size_t i = 0; i < dark.size(); ++i) {
    INFO(dark[i].name);
    CHECK(hue_apart(dark[i].colour, light[i].colour) <= 6);
  }
}

TEST_CASE("a step of a heat map has one hue in both themes, and is told from the next but one with any colour vision") {
  const auto themes = both_themes();
  constexpr int steps = 8;
  for (int i = 0; i <= steps; ++i) {
    INFO("step " << i);
    const double at = static_cast<double>(i) / steps;
    CHECK(hue_apart(widgets::heat(themes[0], at), widgets::heat(themes[1], at)) <= 6);
    for (const auto& t : themes)
      if (i + 2 <= steps)
        CHECK(least_difference(widgets::heat(t, at), widgets::heat(t, static_cast<double>(i + 2) / steps)) >= 12);
  }
}

TEST_CASE("a mark of any meaning stands out from every surface by 3 to 1, one that is also written by 4.5 to 1") {
  for (const auto& t : both_themes())
    for (const ImU32 surface : {t.background, t.panel, t.card}) {
      for (const Meaning m : coloured) {
        INFO("mode " << static_cast<int>(t.mode) << ", meaning " << static_cast<int>(m));
        CHECK(widgets::contrast(t.of(m), surface) >= 3.0);
      }
      // Roofs and regimes are named in their own colour.
      for (const Meaning m : {Meaning::memory_bound, Meaning::compute_bound, Meaning::launch_bound})
        CHECK(widgets::contrast(t.of(m), surface) >= 4.5);
    }
}

TEST_CASE("text on a coloured span reads at 4.5 to 1: dark on bright fills, white on dark ones") {
  for (const auto& t : both_themes()) {
    for (const Meaning m : coloured) CHECK(widgets::contrast(widgets::text_on(t.of(m), t), t.of(m)) >= 4.5);
    for (const ImU32 hue : t.series) CHECK(widgets::contrast(widgets::text_on(hue, t), hue) >= 4.5);
    CHECK(widgets::text_on(t.of(Meaning::kv_cache), t) == IM_COL32_WHITE);
    CHECK(widgets::text_on(t.of(Meaning::backward), t) == t.on_colour);
  }
}

TEST_CASE("names written in a series' hue read at 4.5 to 1 on every surface") {
  for (const auto& t : both_themes())
    for (const ImU32 hue : t.series)
      for (const ImU32 surface : {t.background, t.panel, t.card}) CHECK(widgets::contrast(hue, surface) >= 4.5);
}

TEST_CASE("after six hues the mark changes, so that no two of 24 series look alike") {
  const auto t = widgets::make_theme(Mode::dark, 1, {});
  for (std::size_t a = 0; a < 24; ++a)
    for (std::size_t b = 0; b < a; ++b)
      CHECK((t.series_at(a) != t.series_at(b) || t.series_marker_at(a) != t.series_marker_at(b)));
  CHECK(widgets::colour(widgets::Tint::series(61), t) == t.series_at(1));
}

TEST_CASE("an ordered set keeps one hue and moves away from the background step by step") {
  for (const auto& t : both_themes()) {
    double before = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      const double now = widgets::contrast(t.ramp_at(i, 12), t.background);
      CHECK(now > before);
      CHECK(now >= 2.9);
      before = now;
      CHECK(hue_apart(t.ramp_at(i, 12), t.ramp_at(0, 12)) <= 6);
      CHECK(widgets::contrast(widgets::text_on(t.ramp_at(i, 12), t), t.ramp_at(i, 12)) >= 4.5);
      for (const Named& other : named_colours(t)) {
        INFO("mode " << static_cast<int>(t.mode) << ", step " << i << " and " << other.name);
        CHECK(difference(t.ramp_at(i, 12), other.colour, visions[0]) >= 15);
      }
    }
    CHECK(widgets::colour(widgets::Tint::ramp(0, 12), t) == t.ramp_at(0, 12));
    CHECK(widgets::colour(widgets::Tint::ramp(11, 12), t) == t.ramp_at(11, 12));
    CHECK(t.ramp_at(99, 12) == t.ramp_at(11, 12));
  }
}
