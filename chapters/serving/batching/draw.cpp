#include <imgui.h>

#include <algorithm>
#include <array>

#include "chapters/serving/batching/draw_race.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/plot/plot.h"

namespace chapters::serving::batching {
namespace {

using widgets::Painter;
using widgets::Type;

/// One request's way through every policy, or what the colours mean.
void draw_story(const Picture& picture, std::int64_t request, float width) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy({width, t.type(Type::small) + t.px(6)});
  if (request < 0) {
    widgets::fit_text(p, at,
                      "Colour and number: a request. Capped: its prompt. Pale: done, its slot held. Red end: sent "
                      "back. Click one to follow it.",
                      width, t.muted, Type::small);
    return;
  }
  const auto index = static_cast<std::size_t>(request);
  const Dot& d = picture.dots[index];
  widgets::Line who;
  who.add("Request ").add_integer(request + 1);
  if (picture.kv_blocks > 0)
    who.add(": ").add_integer(d.prompt_tokens).add(" tokens in, ").add_integer(d.output_tokens).add(" out");
  float x = at.x;
  const float end = at.x + width, gap = t.px(16);
  x += p.text_fit({x, at.y}, who.view(), end - x, t.text, Type::small, widgets::Font::bold) + gap;
  for (const PolicyPicture& r : picture.policies) {
    if (index >= r.served.size() || x >= end) continue;
    const models::ServedRequest& s = r.served[index];
    widgets::Line line;
    line.add(r.name);
    if (!(s.finish_s >= 0))
      line.add(" refuses it");
    else
      line.add(" waits ")
          .add(widgets::format(s.start_s - d.arrival_s, "s"))
          .add(", first token ")
          .add(widgets::format(s.first_token_s - d.arrival_s, "s"))
          .add(", done ")
          .add(widgets::format(s.finish_s - d.arrival_s, "s"));
    x += p.text_fit({x, at.y}, line.view(), end - x, t.muted, Type::small) + gap;
  }
}

void save_tables(const Painter& p, const Picture& picture) {
  if (!p.record()) return;
  widgets::DataTable spans{"slots", {"policy", "request", "slot", "use", "start_s", "end_s"}, {}},
      queue{"queue", {"policy", "time_s", "waiting"}, {}};
  static constexpr std::array<const char*, 3> uses{"prompt", "output", "held"};
  for (const PolicyPicture& r : picture.policies) {
    for (const auto& s : r.spans)
      spans.rows.push_back({r.name, std::to_string(s.request + 1), std::to_string(s.lane + 1),
                            uses[static_cast<std::size_t>(s.use)], widgets::exact(s.start_s), widgets::exact(s.end_s)});
    for (const auto& w : r.waiting) queue.rows.push_back({r.name, widgets::exact(w.time_s), widgets::exact(w.value)});
  }
  p.record()->tables.push_back(std::move(spans));
  p.record()->tables.push_back(std::move(queue));
}

void draw_latencies(const Outputs& out, const Picture& picture, View& view, float width, float height) {
  const auto& t = widgets::theme();
  widgets::Plot plot("latencies", view.latencies,
                     {.x =
                          {
                              .lo = 0,
                              .hi = picture.shown_s,
                              .label = "time of departure",
                              .unit = "s",
                          },
                      .y =
                          {
                              .lo = 0,
                              .hi = 1.1 * picture.slowest_shown_s,
                              .label = "latency",
                              .unit = "s",
                          },
                      .size = {width, height}});
  for (std::size_t i = 0; i < picture.policies.size(); ++i) {
    const PolicyPicture& r = picture.policies[i];
    const auto n = static_cast<std::size_t>(std::upper_bound(r.done_s.begin(), r.done_s.end(), view.playback.time_s) -
                                            r.done_s.begin());
    plot.scatter(r.name, {r.done_s.data(), n}, {r.latency_s.data(), n},
                 {
                     .colour = t.series_at(i),
                     .marker = policy_markers[i % policy_markers.size()],
                     .radius = 4.5f,
                     .legend = false,
                     .info = "departure - arrival, one request each",
                 });
  }
  if (out.theory_latency_s > 0) plot.horizontal_mark(out.theory_latency_s, "mean by formula", {.colour = t.accent});
}

}  // namespace

void draw(Inputs&, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty() || picture.policies.empty()) return;
  const auto& t = widgets::theme();
  const float width = ImGui::GetContentRegionAvail().x;
  widgets::draw_playback("race", view.playback, picture.shown_s, picture.caption);
  // The plot keeps a readable height, the race gets what is left of the canvas; scrolling changes neither.
  const float room = ImGui::GetContentRegionAvail().y - ImGui::GetScrollY(),
              story = t.type(Type::small) + t.px(6) + 2 * ImGui::GetStyle().ItemSpacing.y;
  const float least = std::clamp(0.26f * room, t.px(104), t.px(200));
  const RaceRows rows = fit_race(picture, room - story - least);
  const std::int64_t request = draw_race(picture, view, width, rows);
  save_tables(Painter::window(), picture);
  draw_story(picture, request, width);
  draw_latencies(out, picture, view, width,
                 std::clamp(room - story - race_height(picture, rows) - t.px(2), least, t.px(460)));
}

}  // namespace chapters::serving::batching
