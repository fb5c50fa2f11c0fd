#include "widgets/base/parts.h"

#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "widgets/base/press_area.h"
#include "widgets/base/times_sign.h"

namespace widgets {

float measure_text(std::string_view s, Type type) { return s.empty() ? 0.0f : text_size(s, type).x; }

void Fingerprint::add(double x) { add(std::bit_cast<std::uint64_t>(x)); }
void Fingerprint::add(std::string_view s) {
  for (const char c : s) add(std::uint64_t{static_cast<unsigned char>(c)});
  add(std::uint64_t{s.size()});
}

void hatch(const Painter& painter, Rect area, ImU32 colour, float spacing) {
  const float w = area.width(), h = area.height();
  if (!(w > 0) || !(h > 0) || !(spacing > 0) || !(w + h < 1e5f)) return;
  // Lines of slope -1: x - min.x + y - min.y = k, clipped by hand so that no clip rectangle splits the draw call.
  // Starting on a multiple of the spacing in screen pixels makes neighbours continue each other.
  const float phase = std::fmod(area.min.x + area.min.y, spacing);
  for (float k = spacing - phase; k < w + h; k += spacing) {
    const ImVec2 a{area.min.x + std::max(0.0f, k - h), area.min.y + std::min(k, h)};
    const ImVec2 b{area.min.x + std::min(k, w), area.min.y + std::max(0.0f, k - w)};
    painter.line(a, b, colour, 1.0f);
  }
}

float legend_row_px() { return theme().type(Type::small) + theme().px(6); }

float layout_legend(std::span<const LegendEntry> entries, float width, float row_px, Measure measure,
                    std::vector<PlacedLegend>& out) {
  out.clear();
  float x = 0, y = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const float w = measure(entries[i].label, Type::small) + row_px * 1.7f;
    if (x > 0 && x + w > width) {
      x = 0;
      y += row_px;
    }
    out.push_back({i, {x, y}});
    x += w;
  }
  return entries.empty() ? 0.0f : y + row_px;
}

void paint_legend(const Painter& painter, ImVec2 at, float width, std::span<const LegendEntry> entries,
                  std::span<const PlacedLegend> placed) {
  const Theme& t = theme();
  const float side = t.type(Type::small) * 0.92f;
  for (const PlacedLegend& p : placed) {
    const LegendEntry& e = entries[p.entry];
    const ImVec2 o{at.x + p.at.x, at.y + p.at.y};
    const ImU32 fill = colour(e.tint, t);
    if (e.dot)
      painter.circle({o.x + side / 2, o.y + t.px(2) + side / 2}, side * 0.38f, fill);
    else
      painter.rect({o.x, o.y + t.px(2)}, {o.x + side, o.y + t.px(2) + side}, fill, t.px(2));
    if (const char c = letter(e.tint, t))
      painter.text({o.x + side / 2, o.y + t.px(1)}, {&c, 1}, text_on(fill, t), Type::small, Font::mono, Align::center);
    const float text_x = o.x + side + t.px(5);
    fit_text(painter, {text_x, o.y}, e.label, at.x + width - text_x, t.muted, Type::small);
  }
}

void tip(std::string_view name, std::string_view value, std::string_view info) {
  if (!ImGui::BeginTooltip()) return;
  const auto put = [](std::string_view s) { ImGui::TextUnformatted(s.data(), s.data() + s.size()); };
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * 36.0f);  // a template's name may have hundreds of letters
  if (!name.empty()) put(name);
  if (!value.empty()) put(value);
  ImGui::PopTextWrapPos();
  if (!info.empty()) {
    ImGui::PushTextWrapPos(ImGui::GetFontSize() * 24.0f);
    std::array<char, 512> room;
    put(with_times_signs(info, room));
    ImGui::PopTextWrapPos();
  }
  ImGui::EndTooltip();
}

Line& Line::add(std::string_view s) {
  const std::size_t n = std::min(s.size(), sizeof chars - 1 - length);
  std::copy_n(s.begin(), n, chars + length);
  length += n;
  chars[length] = '\0';
  return *this;
}

Line& Line::add_integer(std::int64_t n) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, n).ptr;
  return add({digits, static_cast<std::size_t>(end - digits)});
}

bool same_letters(std::string_view a, std::string_view b) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return small(x) == small(y); });
}

std::string exact(double value) {
  if (!std::isfinite(value)) return {};
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return {digits, end};
}

namespace {

Rect place(ImVec2 size, ImVec2 least) {
  const ImVec2 at = ImGui::GetCursorScreenPos(), left = ImGui::GetContentRegionAvail();
  const auto side = [](float asked, float available, float smallest) {
    const float chosen = asked > 0 ? asked : available;
    return std::floor(chosen >= smallest ? std::min(chosen, 32768.0f) : smallest);
  };
  return {at, {at.x + side(size.x, left.x, least.x), at.y + side(size.y, left.y, least.y)}};
}

}  // namespace

Rect canvas(const char* label, ImVec2 size, ImVec2 least) {
  const Rect r = place(size, least);
  ImGui::SetNextItemAllowOverlap();
  press_area(label, {r.width(), r.height()},
             ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonMiddle | ImGuiButtonFlags_EnableNav);
  return r;
}

PlayKeys play_keys() {
  if (!ImGui::IsItemFocused()) return {};
  for (const ImGuiKey key : {ImGuiKey_LeftArrow, ImGuiKey_RightArrow, ImGuiKey_Space})
    ImGui::SetKeyOwner(key, ImGui::GetItemID());
  return {static_cast<int>(ImGui::IsKeyPressed(ImGuiKey_RightArrow)) -
              static_cast<int>(ImGui::IsKeyPressed(ImGuiKey_LeftArrow)),
          ImGui::IsKeyPressed(ImGuiKey_Space, false)};
}

Rect reserve(ImVec2 size, ImVec2 least) {
  const Rect r = place(size, least);
  ImGui::Dummy({r.width(), r.height()});
  return r;
}

}  // namespace widgets
