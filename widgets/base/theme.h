#pragma once
#include <imgui.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "widgets/base/marker.h"

/// Colours, spacing and type sizes: the only place that knows them.
namespace widgets {

enum class Mode : std::uint8_t { dark, light };

/// What a colour means; the same everywhere. Always shown with a letter, a shape or text as well.
enum class Meaning : std::uint8_t {
  forward,
  backward,
  weight_gradient,
  optimizer,
  communication,
  data_loading,
  kv_cache,
  memory_bound,
  compute_bound,
  launch_bound,
  idle
};

struct Fonts {
  ImFont* sans = nullptr;
  ImFont* sans_bold = nullptr;
  ImFont* mono = nullptr;
  ImFont* sans_italic = nullptr;  ///< null where there is no slanted face: then the upright one stands in
};

/// Three sizes of type, in pixels before the interface scale is applied.
enum class Type : std::uint8_t { small, body, title };

struct Theme {
  Mode mode = Mode::dark;
  float scale = 1.0f;  ///< interface scale; presentation mode doubles the type on top
  Fonts fonts;
  ImU32 background, panel, card, line, text, muted, accent, grid, rail, warning, good, bad, on_colour;
  /// Hues for things without an order or a meaning, told apart with any colour vision; no Meaning shares one.
  std::array<ImU32, 6> series;

  ImU32 of(Meaning meaning) const;
  char letter(Meaning meaning) const;  ///< F, B, W, O, C, D, K; bounds and idle have none ('\0')
  /// After six the hues repeat, with another mark (series_marker_at) or a dashed line.
  ImU32 series_at(std::size_t i) const { return series[i % series.size()]; }
  Marker series_marker_at(std::size_t i) const;
  /// The i-th of n ordered things: one hue, further from the background with each step. i is taken into 0..n-1.
  ImU32 ramp_at(std::size_t i, std::size_t n) const;
  float type(Type t) const;  ///< pixels, scaled
  float px(float design_pixels) const { return design_pixels * scale; }
};

Theme make_theme(Mode mode, float scale, Fonts fonts);
/// The theme of the frame being drawn. Set once a frame by the shell.
const Theme& theme();
void set_theme(const Theme& theme);
/// Gives Dear ImGui's own controls the theme's colours, spacing and rounding.
void apply_to_imgui(const Theme& theme);

ImU32 with_alpha(ImU32 colour, float alpha);
/// WCAG contrast ratio of two opaque colours, 1 to 21.
double contrast(ImU32 a, ImU32 b);
/// Perceptually even ramp for heat maps, position 0..1; monotone in lightness.
ImU32 heat(const Theme& theme, double position);

}  // namespace widgets
