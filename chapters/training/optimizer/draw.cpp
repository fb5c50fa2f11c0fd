#include <algorithm>

#include "chapters/training/optimizer/lab.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"

namespace chapters::training::optimizer {
namespace {

using widgets::Meaning;

constexpr double play_s = 8;  ///< what the longer lane takes

void draw_hero(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (picture.version == 0) {
    ImGui::Dummy(size);
    return;
  }
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const double end = picture.upper.bytes;
  if (view.playback.playing) {
    widgets::advance(view.playback, play_s, static_cast<double>(ImGui::GetIO().DeltaTime));
    view.at = view.playback.time_s / play_s * end;
  }
  const float buttons = size.y > t.px(260) ? widgets::button_size("Play").y + t.px(8) : 0.0f;
  if (buttons > 0) {
    if (widgets::button(view.playback.playing ? "Pause##passes" : "Play##passes")) {
      view.playback.time_s = std::min(view.at, end) / end * play_s;
      widgets::start_or_stop(view.playback, play_s);
    }
    ImGui::SameLine(0, t.px(6));
    if (widgets::button("Next pass")) {
      view.playback.playing = false;
      double next = 0;
      for (const PassColumn& c : picture.upper.columns)
        if (next == 0 && (view.at >= end || c.from + c.bytes > view.at)) next = c.from + c.bytes;
      view.at = next;
    }
    ImGui::SameLine(0, t.px(12));
    const PassLane& chosen = picture.chosen_lower ? picture.lower : picture.upper;
    widgets::Line words;
    words.add(widgets::format(chosen.travelled(std::min(view.at, end)), "B"))
        .add(" of ")
        .add(widgets::format(chosen.all_bytes, "B"))
        .add(" per parameter have travelled between HBM and the chip");
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = widgets::button_size("Play").y;
    widgets::fit_text(widgets::Painter::window(), {at.x, at.y + (height - t.type(widgets::Type::small)) / 2},
                      words.view(), ImGui::GetContentRegionAvail().x, t.muted, widgets::Type::small);
    ImGui::Dummy({1, height});
  }
  ImGui::SetCursorScreenPos({corner.x, corner.y + buttons});
  draw_passes(picture, std::min(view.at, end), {size.x, size.y - buttons});
}

void draw_choices(Inputs& in, const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {
      {"optimizer", "optimizer"},
      {"code", "written"},
      {.key = "home", .title = "found in", .priority = 4},
      {.key = "traffic_bytes", .title = "traffic", .bar = true},
      {.key = "state_bytes", .title = "moments", .priority = 1},
      {.key = "launches", .title = "kernels", .priority = 3},
      {"time_s", "time"},
      {.key = "step_share", .title = "of the step", .priority = 2},
  };
  const auto result = view.choices.draw("choices", out.choices, columns, size);
  if (!result.selection_changed || view.choices.view.selected < 0) return;
  const ChoiceRow& row = out.choices[static_cast<std::size_t>(view.choices.view.selected)];
  for (std::size_t k = 0; k < kind_choices().size(); ++k)
    if (kind_choices()[k].label == row.optimizer) in.kind = static_cast<models::OptimizerKind>(k);
  for (std::size_t c = 0; c < code_choices().size(); ++c)
    if (code_choices()[c].label == row.code) in.code = static_cast<models::UpdateCode>(c);
}

/// The step with this optimizer as it is written, and fused.
void draw_step(const Outputs& out, View& view, ImVec2 size) {
  view.segments.clear();
  view.rows.clear();
  for (const double time : {out.time.time_s, out.fused_time.time_s})
    view.segments.push_back(
        {{{.label = "forward and backward", .value = out.forward_backward_s, .tint = Meaning::forward},
          {.label = "optimizer", .value = time, .tint = Meaning::optimizer}}});
  view.rows.push_back({.label = "as written", .segments = view.segments[0]});
  view.rows.push_back({.label = "fused", .segments = view.segments[1]});
  widgets::draw_stacked_bars("step", view.rows, view.bars,
                             {.unit = "s", .size = {size.x - widgets::theme().px(28), size.y}});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("passes",
              {.title = "Between HBM and the chip", .least = {520, 390}, .answers = true, .marks = "both lanes"},
              [&](ImVec2 size) { draw_hero(picture, view, size); });
  stage.panel("step", {.title = "The step", .least = {360, 130}, .ideal = {0, 160}},
              [&](ImVec2 size) { draw_step(out, view, size); });
  stage.panel("choices", {.title = "Every optimizer", .least = {520, 220}, .ideal = {0, 250}, .scrolls = true},
              [&](ImVec2 size) { draw_choices(in, out, view, size); });
}

}  // namespace chapters::training::optimizer
