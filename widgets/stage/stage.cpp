#include "widgets/stage/stage.h"

#include <algorithm>
#include <cmath>

#include "widgets/base/press_area.h"
#include "widgets/controls/tab.h"

namespace widgets {
namespace {

/// Room for the two buttons of a panel, design pixels.
constexpr float panel_buttons = 52;
constexpr float least_panel = 40;  ///< a panel narrower or lower than this is not drawn

/// Four corners that point outwards, or inwards when the panel is enlarged already.
void enlarge_mark(const Painter& p, Rect r, bool inwards, ImU32 colour) {
  const float s = r.width() * 0.26f, g = r.width() * (inwards ? 0.42f : 0.2f);
  const float way = inwards ? -1.0f : 1.0f;
  const ImVec2 corners[] = {
      {r.min.x + g, r.min.y + g}, {r.max.x - g, r.min.y + g}, {r.min.x + g, r.max.y - g}, {r.max.x - g, r.max.y - g}};
  for (const ImVec2 c : corners) {
    const float dx = (c.x < (r.min.x + r.max.x) / 2 ? s : -s) * way,
                dy = (c.y < (r.min.y + r.max.y) / 2 ? s : -s) * way;
    p.line(c, {c.x + dx, c.y}, colour, theme().px(1.5f));
    p.line(c, {c.x, c.y + dy}, colour, theme().px(1.5f));
  }
}

/// An arrow into a tray.
void export_mark(const Painter& p, Rect r, ImU32 colour) {
  const float x = (r.min.x + r.max.x) / 2, w = theme().px(1.5f), q = r.width() * 0.22f;
  p.line({x, r.min.y + q}, {x, r.max.y - 1.9f * q}, colour, w);
  p.line({x - q * 0.8f, r.max.y - 2.7f * q}, {x, r.max.y - 1.9f * q}, colour, w);
  p.line({x + q * 0.8f, r.max.y - 2.7f * q}, {x, r.max.y - 1.9f * q}, colour, w);
  p.line({r.min.x + q, r.max.y - q}, {r.max.x - q, r.max.y - q}, colour, w);
}

}  // namespace

/// The middle of a plate of so much half width and height near the edges of `area`, clear of the texts: in its lower
/// right corner where that is free, else in the first free place along the lower edge and then along the upper one.
static ImVec2 clear_of(std::span<const ImVec4> texts, Rect area, ImVec2 half) {
  const float gap = theme().px(8);
  const ImVec2 corner{area.max.x - half.x - gap, area.max.y - half.y - gap};
  constexpr int places = 12;
  const float way = std::max(0.0f, area.width() - 2 * (half.x + gap)) / (places - 1);
  for (const float y : {corner.y, area.min.y + half.y + gap})
    for (int i = 0; i < places; ++i) {
      const ImVec2 mid{corner.x - way * static_cast<float>(i), y};
      const bool free = std::none_of(texts.begin(), texts.end(), [&](const ImVec4& text) {
        return text.x < mid.x + half.x && text.z > mid.x - half.x && text.y < mid.y + half.y && text.w > mid.y - half.y;
      });
      if (free) return mid;
    }
  return corner;
}

/// What stands in the middle of a veil, or, where something is given, out of the way of its texts.
static void draw_veil_words(const Painter& painter, Rect area, std::string_view words,
                            const std::vector<ImVec4>* given = nullptr) {
  const Theme& t = theme();
  const float width = text_size(words, Type::small).x;
  if (words.empty() || width + t.px(40) > area.width() || area.height() < t.px(48)) return;
  const ImVec2 mid = given ? clear_of(*given, area, {width / 2 + t.px(16), t.px(15)})
                           : ImVec2{(area.min.x + area.max.x) / 2, (area.min.y + area.max.y) / 2};
  painter.rect({mid.x - width / 2 - t.px(16), mid.y - t.px(15)}, {mid.x + width / 2 + t.px(16), mid.y + t.px(15)},
               t.card, t.px(7));
  painter.text({mid.x, mid.y - t.type(Type::small) / 2}, words, t.muted, Type::small, Font::sans, Align::center);
}

void draw_veil(const Painter& painter, Rect area, std::string_view words) {
  const Theme& t = theme();
  painter.rect(area.min, area.max, t.panel, t.px(8));
  painter.clip(area.min, area.max);
  hatch(painter, area, with_alpha(t.line, 0.8f), t.px(9));
  painter.unclip();
  painter.frame(area.min, area.max, t.line, 1, t.px(8));
  draw_veil_words(painter, area, words);
}

void Stage::start() {
  view_.specs.clear();
  view_.ids.clear();
  view_.drawn.clear();
  view_.export_panel = 0;
  painting_ = false;
}

void Stage::declare(const char* id, const PanelSpec& spec) {
  view_.specs.push_back(spec);
  // A heading is never cut.
  const float title = text_size(spec.title, Type::small, Font::bold).x / options_.scale + panel_buttons;
  view_.specs.back().least.x = std::max(spec.least.x, title);
  view_.ids.push_back(ImGui::GetID(id));
}

void Stage::place() {
  const auto front = std::find(view_.ids.begin(), view_.ids.end(), view_.front);
  if (front == view_.ids.end()) view_.enlarged = false;
  view_.main = view_.front != 0 && front != view_.ids.end() ? static_cast<std::size_t>(front - view_.ids.begin())
                                                            : answering_panel(view_.specs);
  StageOptions options = options_;
  options.one_panel = options.one_panel || view_.enlarged;
  if (options_.one_panel) options.tabs = 0;
  view_.plan = layout_stage(view_.specs, view_.main, area_, options, view_.placed);
  if (view_.plan.tabs && options.tabs > 0) draw_tabs();
  painting_ = true;
  next_ = 0;
}

void Stage::finish() {
  ImGui::SetCursorScreenPos(area_.min);
  ImGui::Dummy({area_.width(), area_.height()});
}

/// A small square button with a mark in it. True when pressed.
static bool mark_button(const char* label, ImVec2 at, float side) {
  ImGui::SetCursorScreenPos(at);
  return press_area(label, {side, side});
}

void Stage::draw_heading(const PlacedPanel& placed, const char* id) {
  const Theme& t = theme();
  const Painter p = Painter::window();
  const ImGuiID key = view_.ids[placed.panel];
  // Over the body, or at the right end of the tabs.
  const float side = t.px(22),
              y = placed.at.min.y - std::floor((placed.headed ? options_.heading : options_.tabs) * options_.scale);
  if (placed.headed)
    p.text({placed.at.min.x, y + t.px(3)}, view_.specs[placed.panel].title, t.muted, Type::small, Font::bold);
  else if (!view_.plan.tabs || options_.one_panel)
    return;
  ImGui::PushID(id);
  const float x = placed.at.max.x - side;
  if (mark_button(view_.enlarged ? "Back to all" : "Enlarge", {x, y}, side)) {
    view_.enlarged = !view_.enlarged;
    view_.front = key;
  }
  const auto hue = [&] { return ImGui::IsItemHovered() || ImGui::IsItemFocused() ? t.text : t.muted; };
  enlarge_mark(p, {{x, y}, {x + side, y + side}}, view_.enlarged, hue());
  if (ImGui::IsItemHovered()) tip(view_.enlarged ? "Show all panels" : "Enlarge this panel", {});
  if (cover_ == Cover::veiled) {  // nothing to export yet
    ImGui::PopID();
    return;
  }
  if (mark_button("Export", {x - side - t.px(4), y}, side)) view_.export_panel = key;
  export_mark(p, {{x - side - t.px(4), y}, {x - t.px(4), y + side}}, hue());
  if (ImGui::IsItemHovered()) tip("Export this panel", {});
  ImGui::PopID();
}

void Stage::draw_tabs() {
  const Theme& t = theme();
  const float right = area_.max.x - t.px(panel_buttons);
  float x = area_.min.x;
  const float gap = t.px(22), more_width = text_size("more", Type::body).x + t.px(24);
  // Room that is kept for the front panel until it has its tab.
  float owed = text_size(view_.specs[view_.main].title, Type::body).x + gap;
  std::size_t hidden = 0;
  for (std::size_t i = 0; i < view_.specs.size(); ++i) {
    const char* title = view_.specs[i].title.data();
    const float width = text_size(view_.specs[i].title, Type::body).x;
    const bool last = i + 1 == view_.specs.size() && hidden == 0;
    if (i == view_.main) owed = 0;
    if (i != view_.main && x + width + (last ? 0 : gap + owed + more_width) > right) {
      ++hidden;
      continue;
    }
    ImGui::SetCursorScreenPos({x, area_.min.y - t.px(4)});
    ImGui::PushID(static_cast<int>(view_.ids[i]));
    if (tab(title, i == view_.main, true)) {
      view_.front = view_.ids[i];
    }
    ImGui::PopID();
    x += width + gap;
  }
  if (hidden == 0) return;
  ImGui::SetCursorScreenPos({x, area_.min.y - t.px(4)});
  if (tab("more", false, true)) ImGui::OpenPopup("more panels");
  if (ImGui::BeginPopup("more panels")) {
    for (std::size_t i = 0; i < view_.specs.size(); ++i)
      if (ImGui::Selectable(view_.specs[i].title.data(), i == view_.main)) view_.front = view_.ids[i];
    ImGui::EndPopup();
  }
}

bool Stage::begin_panel(const char* id, ImVec2& size) {
  const std::size_t index = next_++;
  const auto placed =
      std::find_if(view_.placed.begin(), view_.placed.end(), [&](const PlacedPanel& p) { return p.panel == index; });
  if (placed == view_.placed.end() || index >= view_.specs.size()) return false;
  draw_heading(*placed, id);
  current_ = placed->at;
  size = {current_.width(), current_.height()};
  // In less than a line of text nothing can be read, and what divides such a panel would come to items without a size.
  if (const float least = theme().px(least_panel); !(size.x >= least) || !(size.y >= least)) return false;
  ImGui::SetCursorScreenPos(current_.min);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushID("panel");  // apart from whatever else stands in the same window
  const bool scrolls = view_.specs[index].scrolls;
  ImGui::BeginChild(id, size, ImGuiChildFlags_NavFlattened,
                    scrolls ? 0 : ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar();
  if (cover_ != Cover::none) ImGui::BeginDisabled();
  if (cover_ == Cover::veiled) {
    draw_veil(Painter::window(), current_, {});
    // Under the veil the body runs, so that its plots say where they stand; of it only what is given is seen.
    ImGui::PushClipRect({0, 0}, {0, 0}, false);
  }
  return true;
}

void Stage::end_panel() {
  if (cover_ == Cover::veiled) ImGui::PopClipRect();
  if (cover_ != Cover::none) ImGui::EndDisabled();
  if (cover_ == Cover::dimmed)
    Painter::window().rect(current_.min, current_.max, with_alpha(theme().background, 0.62f));
  // Dear ImGui wants an item wherever the cursor was moved to; what is veiled, or has no room, submits none.
  ImGui::SetCursorScreenPos(current_.min);
  ImGui::Dummy({0, 0});
  if (cover_ == Cover::veiled) {
    const Painter p = Painter::window();
    if (next_ - 1 != view_.main) {
      paint_veiled_plots(p, given_);
    } else {
      {
        const TextPlaces places(view_.given_texts);
        paint_veiled_plots(p, given_);
      }
      // One panel says it for all.
      draw_veil_words(p, current_, "veiled until you commit", gave_ ? &view_.given_texts : nullptr);
    }
  }
  ImGui::EndChild();
  ImGui::PopID();
}

Rect Stage::place_of(const char* id) const {
  const auto at = std::find(view_.ids.begin(), view_.ids.end(), ImGui::GetID(id));
  for (const PlacedPanel& p : view_.placed)
    if (at != view_.ids.end() && p.panel == static_cast<std::size_t>(at - view_.ids.begin())) return p.at;
  return {};
}

void turn_panels(StageView& view, int steps) {
  const auto n = static_cast<int>(view.ids.size());
  if (n < 2) return;
  const int to = ((static_cast<int>(view.main) + steps) % n + n) % n;
  view.front = view.ids[static_cast<std::size_t>(to)];
}

}  // namespace widgets
