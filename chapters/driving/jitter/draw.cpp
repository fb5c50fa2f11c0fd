#include <cmath>

#include "chapters/driving/jitter/draw_parts.h"
#include "widgets/base/marks.h"
#include "widgets/base/wrapped_text.h"

namespace chapters::driving::jitter {

void draw_sources(const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (!picture.no_source_moves_p99.empty()) {
    const auto& t = widgets::theme();
    const widgets::Painter p = widgets::Painter::window();
    widgets::wrapped_text(p, ImGui::GetCursorScreenPos(), picture.no_source_moves_p99, size.x, t.text);
    return;
  }
  widgets::draw_tornado("sources of jitter", picture.sources, view.tornado,
                        {
                            .base = out.summary.p99_s,
                            .base_label = "P99",
                            .unit = "s",
                            .axis_label = "P99 without the source",
                            .size = size,
                        });
}

void draw_effects(const Outputs& out, View& view, ImVec2 size) {
  static constexpr DescribedColumn columns[] = {
      {"name", "source"},
      {.key = "hits", .title = "frames hit", .priority = 3},
      {.key = "share", .title = "share", .priority = 1},
      {.key = "misses", .title = "misses", .bar = true},
      {.key = "mean_s", .title = "mean hit", .priority = 1},
      {.key = "largest_s", .title = "largest hit", .priority = 2},
      {.key = "p99_without_s", .title = "P99 without it", .priority = 3},
      {.key = "p99_saved_s", .title = "P99 saved", .priority = 1},
  };
  view.effects.draw("what each source costs", out.effects, columns, size);
}

namespace {

/// In the place of a picture of times that would mean nothing.
void say_no_times(ImVec2 size) {
  widgets::wrapped_text(widgets::Painter::window(), ImGui::GetCursorScreenPos(),
                        "The queue never ends, and times would only say how long the run is.", size.x,
                        widgets::theme().muted);
}

/// Two pictures of the same thing in one panel: the first gets `share` of the height.
template <class First, class Second>
void over_each_other(ImVec2 size, float share, const First& first, const Second& second) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float gap = widgets::theme().px(10), high = std::floor((size.y - gap) * share);
  first(ImVec2{size.x, high});
  ImGui::SetCursorScreenPos({corner.x, corner.y + high + gap});
  second(ImVec2{size.x, size.y - high - gap});
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  const bool shown = !picture.run->frames.response_s.empty();
  // An overloaded stack has the same panels, so that none moves when a drag passes the point where it begins.
  const auto times = [&](const auto& body) {
    return [&out, &picture, &view, shown, &body](ImVec2 size) {
      if (out.overloaded) return say_no_times(size);
      if (shown) body(out, picture, view, size);
    };
  };
  stage.panel("road",
              {.title = "How far it drives blind", .least = {480, 230}, .answers = true, .marks = "road, frames"},
              [&](ImVec2 size) {
                if (!shown) return;
                if (widgets::veiled()) return draw_given_road(in, view, size);
                draw_over_doors(picture.doors, size, view.requests, [&](ImVec2 room) {
                  if (out.overloaded)
                    draw_overload(out, picture, view, room);
                  else
                    draw_road_and_frames(out, picture, view, room);
                });
              });
  stage.panel("causes", {.title = "Misses, by cause and frame by frame", .least = {420, 250}}, [&](ImVec2 size) {
    if (!shown) return;
    if (out.overloaded) return draw_window(out, picture, view, size);
    over_each_other(
        size, 0.5f, [&](ImVec2 room) { draw_causes(out, picture, view, room); },
        [&](ImVec2 room) { draw_window(out, picture, view, room); });
  });
  stage.panel("sources", {.title = "What each source adds to P99", .least = {460, 250}, .scrolls = true},
              times([](const Outputs& o, const Picture& p, View& v, ImVec2 size) {
                over_each_other(
                    size, 0.5f, [&](ImVec2 room) { draw_sources(o, p, v, room); },
                    [&](ImVec2 room) { draw_effects(o, v, room); });
              }));
  stage.panel("histogram", {.title = "Response times", .least = {340, 250}},
              times([](const Outputs& o, const Picture& p, View& v, ImVec2 size) {
                over_each_other(
                    size, 0.5f, [&](ImVec2 room) { draw_histogram(o, p, v, room); },
                    [&](ImVec2 room) { draw_tail(o, p, v, room); });
              }));
}

}  // namespace chapters::driving::jitter
