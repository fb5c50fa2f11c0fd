#include "widgets/base/theme.h"

#include <algorithm>
#include <cmath>

namespace widgets {
namespace {

constexpr ImU32 rgb(std::uint32_t hex) { return IM_COL32((hex >> 16) & 255, (hex >> 8) & 255, hex & 255, 255); }

Theme current;

double linear_channel(ImU32 c, int shift) {
  const double v = static_cast<double>((c >> shift) & 255) / 255.0;
  return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

double luminance(ImU32 c) {
  return 0.2126 * linear_channel(c, IM_COL32_R_SHIFT) + 0.7152 * linear_channel(c, IM_COL32_G_SHIFT) +
         0.0722 * linear_channel(c, IM_COL32_B_SHIFT);
}

ImU32 mix(ImU32 a, ImU32 b, float t) {
  const ImVec4 x = ImGui::ColorConvertU32ToFloat4(a), y = ImGui::ColorConvertU32ToFloat4(b);
  return ImGui::ColorConvertFloat4ToU32(
      {x.x + (y.x - x.x) * t, x.y + (y.y - x.y) * t, x.z + (y.z - x.z) * t, x.w + (y.w - x.w) * t});
}

}  // namespace

ImU32 Theme::of(Meaning meaning) const {
  // Each has one hue in both themes. Found by search, with the series: tests/widgets/base/colour_vision_test.cpp says
  // what holds between any two of them, and against the ground.
  const auto pick = [&](std::uint32_t dark, std::uint32_t light) { return rgb(mode == Mode::dark ? dark : light); };
  switch (meaning) {
    case Meaning::forward:
      return pick(0x23d9e9, 0x0098a3);
    case Meaning::backward:
      return pick(0xeaa311, 0xb78018);
    case Meaning::weight_gradient:
      return pick(0xbc7a14, 0x8a5600);
    case Meaning::optimizer:
      return pick(0xcd76a6, 0xae5186);
    case Meaning::communication:
      return pick(0x249d67, 0x01663e);
    case Meaning::data_loading:
      return pick(0xda5e0d, 0xc26735);
    case Meaning::kv_cache:
      return pick(0x3b72d4, 0x306dcf);
    case Meaning::memory_bound:
      return pick(0x9f8bfd, 0x4f44a5);
    case Meaning::compute_bound:
      return pick(0xd2de5d, 0x616d03);
    case Meaning::launch_bound:
      return pick(0xf97c8d, 0xc23454);
    case Meaning::idle:
      return line;
  }
  return line;
}

char Theme::letter(Meaning meaning) const {
  switch (meaning) {
    case Meaning::forward:
      return 'F';
    case Meaning::backward:
      return 'B';
    case Meaning::weight_gradient:
      return 'W';
    case Meaning::optimizer:
      return 'O';
    case Meaning::communication:
      return 'C';
    case Meaning::data_loading:
      return 'D';
    case Meaning::kv_cache:
      return 'K';
    default:
      return '\0';
  }
}

Marker Theme::series_marker_at(std::size_t i) const {
  constexpr std::array<Marker, 4> marks{Marker::circle, Marker::square, Marker::triangle, Marker::diamond};
  return marks[i / series.size() % marks.size()];
}

ImU32 Theme::ramp_at(std::size_t i, std::size_t n) const {
  // A grey green that no meaning and no series has; each step bears text, and is 4 to 1 against the background.
  static constexpr std::array<std::uint32_t, 3> dark{0x76886a, 0xa6bd92, 0xf4f8f1}, light{0x67785a, 0x46593a, 0x22331a};
  const auto& anchors = mode == Mode::dark ? dark : light;
  const double last = n > 1 ? static_cast<double>(n - 1) : 1.0;
  const double p = n > 1 ? 2.0 * static_cast<double>(i < n ? i : n - 1) / last : 1.0;
  const std::size_t from = p < 1 ? 0 : 1;
  return mix(rgb(anchors[from]), rgb(anchors[from + 1]), static_cast<float>(p - static_cast<double>(from)));
}

float Theme::type(Type t) const {
  switch (t) {
    case Type::small:
      return 13.0f * scale;
    case Type::body:
      return 15.0f * scale;
    case Type::title:
      return 21.0f * scale;
  }
  return 15.0f * scale;
}

Theme make_theme(Mode mode, float scale, Fonts fonts) {
  Theme t{};
  t.mode = mode;
  t.scale = scale;
  t.fonts = fonts;
  const bool dark = mode == Mode::dark;
  t.background = rgb(dark ? 0x0f1318 : 0xf6f7f9);
  t.panel = rgb(dark ? 0x151b22 : 0xffffff);
  t.card = rgb(dark ? 0x1b232c : 0xf2f4f7);
  t.line = rgb(dark ? 0x2b3541 : 0xd6dce3);
  t.text = rgb(dark ? 0xe8edf3 : 0x17202a);
  t.muted = rgb(dark ? 0x93a1b0 : 0x566472);
  t.accent = rgb(dark ? 0x6bb6f8 : 0x036fa9);
  t.grid = rgb(dark ? 0x222c36 : 0xe6eaef);
  t.rail = rgb(dark ? 0x0b0e12 : 0xeceff3);
  t.warning = rgb(dark ? 0xddbf3a : 0x60510b);
  t.good = rgb(dark ? 0x6bd871 : 0x1d7c2d);
  t.bad = rgb(dark ? 0xf45c49 : 0x8e1312);
  t.on_colour = rgb(0x10161c);
  // Found by search: told apart by protanopes, deuteranopes and tritanopes too, far from every other colour of the
  // theme to the normal eye, and 4.5 to 1 against each surface, because names are written in these colours.
  t.series = dark ? std::array<ImU32, 6>{rgb(0xf4a4b5), rgb(0x7cf8e4), rgb(0xc1dd89),
                                         rgb(0xf9914d), rgb(0xdc74da), rgb(0xe7bef5)}
                  : std::array<ImU32, 6>{rgb(0x92334f), rgb(0x01796c), rgb(0x3e5517),
                                         rgb(0x925e3e), rgb(0x6d3c6c), rgb(0x9250ac)};
  return t;
}

const Theme& theme() { return current; }
void set_theme(const Theme& t) { current = t; }

void apply_to_imgui(const Theme& t) {
  ImGuiStyle& s = ImGui::GetStyle();
  s = ImGuiStyle();
  s.WindowPadding = {t.px(12), t.px(10)};
  s.FramePadding = {t.px(9), t.px(5)};
  s.ItemSpacing = {t.px(8), t.px(7)};
  s.ItemInnerSpacing = {t.px(6), t.px(5)};
  s.ScrollbarSize = t.px(11);
  s.GrabMinSize = t.px(12);
  s.FrameRounding = s.PopupRounding = s.GrabRounding = t.px(5);
  s.ScrollbarRounding = t.px(6);
  s.WindowBorderSize = 0;
  s.ChildBorderSize = 0;
  s.FrameBorderSize = 1;
  s.PopupBorderSize = 1;
  const auto set = [&](ImGuiCol slot, ImU32 c) { s.Colors[slot] = ImGui::ColorConvertU32ToFloat4(c); };
  set(ImGuiCol_Text, t.text);
  set(ImGuiCol_TextDisabled, t.muted);
  set(ImGuiCol_WindowBg, t.background);
  set(ImGuiCol_ChildBg, with_alpha(t.background, 0));
  set(ImGuiCol_PopupBg, t.panel);
  set(ImGuiCol_Border, t.line);
  set(ImGuiCol_BorderShadow, with_alpha(t.background, 0));
  set(ImGuiCol_FrameBg, t.card);
  set(ImGuiCol_FrameBgHovered, mix(t.card, t.accent, 0.12f));
  set(ImGuiCol_FrameBgActive, mix(t.card, t.accent, 0.22f));
  set(ImGuiCol_ScrollbarBg, with_alpha(t.background, 0));
  set(ImGuiCol_ScrollbarGrab, t.line);
  set(ImGuiCol_ScrollbarGrabHovered, t.muted);
  set(ImGuiCol_ScrollbarGrabActive, t.muted);
  set(ImGuiCol_CheckMark, t.accent);
  set(ImGuiCol_SliderGrab, t.accent);
  set(ImGuiCol_SliderGrabActive, t.accent);
  set(ImGuiCol_Button, t.card);
  set(ImGuiCol_ButtonHovered, mix(t.card, t.accent, 0.18f));
  set(ImGuiCol_ButtonActive, mix(t.card, t.accent, 0.30f));
  set(ImGuiCol_Header, mix(t.card, t.accent, 0.12f));
  set(ImGuiCol_HeaderHovered, mix(t.card, t.accent, 0.20f));
  set(ImGuiCol_HeaderActive, mix(t.card, t.accent, 0.30f));
  set(ImGuiCol_Separator, t.line);
  set(ImGuiCol_TextSelectedBg, with_alpha(t.accent, 0.35f));
  set(ImGuiCol_NavCursor, t.accent);
  set(ImGuiCol_ModalWindowDimBg, with_alpha(rgb(0), 0.45f));
  set(ImGuiCol_TableHeaderBg, t.card);
  set(ImGuiCol_TableBorderStrong, t.line);
  set(ImGuiCol_TableBorderLight, t.grid);
  set(ImGuiCol_ResizeGrip, t.line);
}

ImU32 with_alpha(ImU32 colour, float alpha) {
  const auto a = static_cast<ImU32>(std::clamp(alpha, 0.0f, 1.0f) * 255.0f + 0.5f);
  return (colour & ~IM_COL32_A_MASK) | (a << IM_COL32_A_SHIFT);
}

double contrast(ImU32 a, ImU32 b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

ImU32 heat(const Theme& t, double position) {
  // Five anchors in the blue to yellow plane, which the common deficiencies keep apart; in both themes a step has one
  // hue, and lies further from the ground than the one before.
  static constexpr std::array<std::uint32_t, 5> dark{0x17263a, 0x1f5a8c, 0x3e97b8, 0xa9bf6e, 0xf3e35b};
  static constexpr std::array<std::uint32_t, 5> light{0xe8eef8, 0xa2c2ea, 0x4b97b8, 0x6b7c2c, 0x4f4400};
  const auto& anchors = t.mode == Mode::dark ? dark : light;
  const double p = position >= 0 ? std::min(position, 1.0) * 4.0 : 0.0;
  const auto i = std::min<std::size_t>(static_cast<std::size_t>(p), 3);
  return mix(rgb(anchors[i]), rgb(anchors[i + 1]), static_cast<float>(p - static_cast<double>(i)));
}

}  // namespace widgets
