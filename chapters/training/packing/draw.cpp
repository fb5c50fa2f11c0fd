#include <algorithm>
#include <cmath>

#include "chapters/training/packing/lab.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

namespace chapters::training::packing {
namespace {

constexpr double play_s = 8;  ///< what all documents take to fall

void draw_buttons(const Picture& picture, View& view) {
  const auto& t = widgets::theme();
  const auto end = static_cast<double>(picture.run->packing.pieces.size());
  if (widgets::button(view.playback.playing ? "Pause##packing" : "Play##packing")) {
    view.playback.time_s = std::min(view.placed, end) / std::max(1.0, end) * play_s;
    widgets::start_or_stop(view.playback, play_s);
  }
  ImGui::SameLine(0, t.px(6));
  if (widgets::button("Next document")) {
    view.playback.playing = false;
    view.placed = view.placed >= end ? 1 : std::floor(view.placed) + 1;
  }
  ImGui::SameLine(0, t.px(6));
  if (widgets::button("All")) {
    view.playback.playing = false;
    view.placed = 1e9;
  }
  ImGui::SameLine(0, t.px(12));
  widgets::Line words;
  words.add(widgets::format(std::floor(std::min(view.placed, end)), "", 9))
      .add(" of ")
      .add(widgets::format(end, "", 9))
      .add(" placed; click a row for its mask");
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = widgets::button_size("All").y;
  widgets::fit_text(widgets::Painter::window(), {at.x, at.y + (height - t.type(widgets::Type::small)) / 2},
                    words.view(), ImGui::GetContentRegionAvail().x, t.muted, widgets::Type::small);
  ImGui::Dummy({1, height});
}

void draw_hero(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (picture.version == 0 || picture.by_row.empty()) {
    ImGui::Dummy(size);
    return;
  }
  if (view.playback.playing) {
    widgets::advance(view.playback, play_s, static_cast<double>(ImGui::GetIO().DeltaTime));
    view.placed = view.playback.time_s / play_s * static_cast<double>(picture.run->packing.pieces.size());
  }
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float buttons = size.y > t.px(240) ? widgets::button_size("All").y + t.px(8) : 0.0f;
  if (buttons > 0) draw_buttons(picture, view);
  const float height = size.y - buttons;
  const float mask = size.x > t.px(620) ? std::min(size.x * 0.38f, height - t.px(100)) : 0.0f,
              gap = mask > 0 ? t.px(28) : 0.0f;
  ImGui::SetCursorScreenPos({corner.x, corner.y + buttons});
  draw_batch(in, out, picture, view, {size.x - mask - gap, height});
  if (mask <= 0) return;
  ImGui::SetCursorScreenPos({corner.x + size.x - mask, corner.y + buttons});
  draw_mask(in, picture, view, {mask, height});
}

/// The same documents by every policy; a click chooses one.
void draw_policies(Inputs& in, const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {
      {"policy", "policy"},
      {"rows", "rows"},
      {.key = "useful_share", .title = "useful", .bar = true, .full = 100},
      {.key = "flops", .priority = 1},
      {"speedup", "against padding"},
  };
  std::int64_t& selected = view.policies.view.selected;
  selected = static_cast<std::int64_t>(in.policy);
  const auto result = view.policies.draw("policies", out.policies, columns, size);
  if (result.selection_changed && selected >= 0) in.policy = static_cast<models::PackingPolicy>(selected);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("batch", {.title = "The batch", .least = {520, 320}, .answers = true, .marks = "rows, mask"},
              [&](ImVec2 size) { draw_hero(in, out, picture, view, size); });
  stage.panel("policies", {.title = "Every policy", .least = {420, 220}, .ideal = {0, 270}, .scrolls = true},
              [&](ImVec2 size) { draw_policies(in, out, view, size); });
  published_panel(stage, "Published packings of Wikipedia", picture.published);
}

}  // namespace chapters::training::packing
