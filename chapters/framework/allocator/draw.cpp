#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/framework/allocator/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/controls/button.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

namespace chapters::framework::allocator {
namespace {

constexpr double play_s = 10;  ///< what the whole list takes

/// The events that are done in the strip.
double shown_event(const Picture& picture, const View& view) {
  return view.cursor > static_cast<double>(picture.events) ? static_cast<double>(picture.opening) : view.cursor;
}

/// Reserved and in use over the list, and the cursor that scrubs it. What the learner took for the reservation is a
/// level.
void draw_history(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  const bool guessed = guess && (guess->output == "reserved_bytes" || guess->output == "peak_reserved_bytes");
  const double most =
      std::max(picture.capacity_bytes, guessed ? std::min(guess->value, 3 * picture.capacity_bytes) : 0);
  widgets::Plot plot("history", view.history,
                     {
                         .x = {.kind = widgets::AxisKind::category,
                               .lo = 0,
                               .hi = std::max(1.0, static_cast<double>(picture.events)),
                               .label = "events done"},
                         .y = {.kind = widgets::AxisKind::linear_bytes,
                               .lo = 0,
                               .hi = most * 1.04,
                               .label = "reserved, and in use",
                               .unit = "B"},
                         .size = size,
                         .legend = false,
                         .end_labels = false,
                     });
  plot.area(
      "reserved", picture.run->at, picture.run->reserved,
      {.colour = t.muted, .alpha = 0.28f, .legend = false, .info = "held from the device", .version = picture.version});
  plot.area("in use", picture.run->at, picture.run->allocated,
            {.colour = t.series_at(0),
             .alpha = 0.35f,
             .legend = false,
             .info = "blocks of tensors",
             .version = picture.version});
  if (picture.device_bytes <= picture.capacity_bytes * 1.02) {
    widgets::Line device;
    device.add("device: ").add(widgets::format(picture.device_bytes, "B", 3, widgets::Prefix::binary));
    plot.horizontal_mark(picture.device_bytes, device.view());
  }
  if (picture.failed_event >= 0)
    plot.vertical_mark(static_cast<double>(picture.failed_event), "fails", {.colour = t.bad});
  else if (picture.opening < picture.events)
    plot.vertical_mark(static_cast<double>(picture.opening), "most reserved");
  if (guessed) {
    const widgets::Line words = widgets::guess_words(
        widgets::format(guess->value, "B", 3, widgets::Prefix::binary).view(), guess->value > most);
    plot.horizontal_mark(std::min(guess->value, most), words.view(), {.colour = t.accent});
  }
  double at = shown_event(picture, view);
  if (plot.drag_x("drag cursor", at, {.label = "", .lo = 0, .hi = static_cast<double>(picture.events)})) {
    view.cursor = std::round(at);
    view.playback.playing = false;
  }
}

/// Play or Pause, to the failure, and how many events are done.
void draw_buttons(const Picture& picture, View& view, float width) {
  const auto& t = widgets::theme();
  const auto end = static_cast<double>(picture.events);
  if (widgets::button(view.playback.playing ? "Pause##list" : "Play##list")) {
    view.playback.time_s = std::min(view.cursor, end) / std::max(1.0, end) * play_s;
    widgets::start_or_stop(view.playback, play_s);
  }
  ImGui::SameLine(0, t.px(6));
  if (widgets::button("Start")) view.cursor = 0;
  ImGui::SameLine(0, t.px(6));
  const bool fails = picture.failed_event >= 0;
  if (fails || picture.opening < picture.events) {
    if (widgets::button(fails ? "The failure" : "The peak")) view.cursor = static_cast<double>(picture.opening);
    ImGui::SameLine(0, t.px(6));
  }
  if (widgets::button("The end")) view.cursor = end;
  ImGui::SameLine(0, t.px(12));
  widgets::Line words;
  words.add(widgets::format(static_cast<double>(view.strip.cursor), ""))
      .add(" of ")
      .add(widgets::format(end, ""))
      .add(" events: ")
      .add(widgets::format(static_cast<double>(view.strip.in_use), "B", 3, widgets::Prefix::binary))
      .add(" in use, ")
      .add(widgets::format(static_cast<double>(view.strip.reserved), "B", 3, widgets::Prefix::binary))
      .add(" reserved");
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = widgets::button_size("Play").y;
  widgets::fit_text(widgets::Painter::window(), {at.x, at.y + (height - t.type(widgets::Type::small)) / 2},
                    words.view(), width - (at.x - ImGui::GetWindowPos().x), t.muted, widgets::Type::small);
  ImGui::Dummy({1, height});
}

void draw_memory(const Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  if (picture.version == 0) {
    ImGui::Dummy(size);
    return;
  }
  if (widgets::veiled()) return draw_given_memory(in, picture, size);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (view.playback.playing) {
    widgets::advance(view.playback, play_s, static_cast<double>(ImGui::GetIO().DeltaTime));
    view.cursor = std::round(view.playback.time_s / play_s * static_cast<double>(picture.events));
  }
  const auto cursor = static_cast<std::int64_t>(shown_event(picture, view));
  if (view.strip.version != picture.version || view.strip.cursor != cursor) lay_strip(picture, cursor, view.strip);
  const float buttons = size.y > t.px(260) ? widgets::button_size("Play").y + t.px(8) : 0.0f,
              history = size.y > t.px(330) ? std::clamp(size.y * 0.27f, t.px(96), t.px(210)) : 0.0f;
  if (buttons > 0) draw_buttons(picture, view, corner.x + size.x - ImGui::GetWindowPos().x);
  ImGui::SetCursorScreenPos({corner.x, corner.y + buttons});
  widgets::drew("strip");
  draw_strip(picture, view.strip, {size.x, size.y - buttons - history - (history > 0 ? t.px(8) : 0.0f)});
  if (history <= 0) return;
  ImGui::SetCursorScreenPos({corner.x, corner.y + size.y - history});
  draw_history(picture, view, {size.x, history});
}

/// The same list under other settings: how far it comes, and what is reserved for what is in use.
void draw_settings(const Outputs& out, View& view, ImVec2 size) {
  static constexpr std::array<DescribedColumn, 5> columns{
      {{.key = "name", .title = "setting"},
       {.key = "outcome", .title = "how far it comes"},
       {.key = "peak_allocated_bytes", .title = "peak in use", .priority = 1},
       {.key = "peak_reserved_bytes", .title = "peak reserved", .bar = true},
       {.key = "wasted_share", .title = "reserved above need", .priority = 2}}};
  view.settings.draw("settings", out.settings, columns, size);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel("memory", {.title = "Memory", .least = {480, 400}, .answers = true, .marks = "strip"},
              [&](ImVec2 size) { draw_memory(in, picture, view, size); });
  stage.panel("settings", {.title = "Other settings", .least = {420, 150}, .ideal = {0, 190}, .scrolls = true},
              [&](ImVec2 size) { draw_settings(out, view, size); });
  published_panel(stage, "Recorded and replayed", picture.published);
}

}  // namespace chapters::framework::allocator
