#include <imgui.h>

#include <algorithm>
#include <array>
#include <limits>

#include "chapters/serving/batching/draw_race.h"
#include "chapters/serving/batching/draw_strips.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/controls/button.h"

namespace chapters::serving::batching {
namespace {

using widgets::Painter;
using widgets::Type;

/// What the colours mean, of those that are drawn; entries without room are left out whole.
void draw_key(const Picture& picture, const RaceRows& rows, ImVec2 at, float width) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  const float sample = t.px(16), height = t.type(Type::small);
  float x = at.x;
  const auto entry = [&](std::string_view words, const auto& paint) {
    const float whole = sample + t.px(6) + widgets::text_size(words, Type::small).x;
    if (x + whole > at.x + width) return;
    paint(widgets::Rect{{x, at.y + t.px(2)}, {x + sample, at.y + height}});
    p.text({x + sample + t.px(6), at.y}, words, t.muted, Type::small);
    x += whole + t.px(16);
  };
  const auto fill = [&](models::SlotUse use, bool missed) {
    return [&p, use, missed](widgets::Rect r) { p.rect(r.min, r.max, use_colour(use, missed)); };
  };
  const DrawnMarks& drawn = picture.drawn;
  const bool bars = std::any_of(picture.policies.begin(), picture.policies.end(), [&](const PolicyPicture& r) {
    return !r.queue.empty() && queue_has_bars(queue_top(picture, r), rows.queue - t.px(4));
  });
  if (rows.queue > 0 && drawn.waits)
    entry("waits", [&](widgets::Rect r) {
      if (bars)
        p.frame(r.min, r.max, t.text, 1);
      else
        p.rect(r.min, r.max, widgets::with_alpha(t.muted, 0.75f));
    });
  const bool tokens = picture.kv_blocks > 0;
  if (tokens && drawn.prefill) entry("prefill", fill(models::SlotUse::prefill, false));
  if (drawn.decode) entry(tokens ? "decode" : "in service", fill(models::SlotUse::decode, false));
  if (drawn.missed) entry("SLO missed", fill(models::SlotUse::decode, true));
  if (drawn.held)
    entry("done, slot held", [&](widgets::Rect r) {
      p.rect(r.min, r.max, widgets::with_alpha(t.muted, rows.occupied > 0 ? 0.4f : 0.22f));
      if (rows.occupied <= 0) widgets::hatch(p, r, widgets::with_alpha(t.muted, 0.55f), t.px(5));
    });
  if (!picture.later.empty())
    entry("other requests", [&](widgets::Rect r) { p.rect(r.min, r.max, widgets::with_alpha(t.muted, later_alpha)); });
  if (drawn.sent_back && rows.occupied <= 0)  // slots seen as one area have no ends
    entry("sent back", [&](widgets::Rect r) { p.rect({r.max.x - t.px(3), r.min.y}, r.max, t.text); });
}

/// One request's way through every policy, or what the colours mean.
void draw_story(const Picture& picture, const RaceRows& rows, std::int64_t request, ImVec2 at, float width) {
  const auto& t = widgets::theme();
  const Painter p = Painter::window();
  if (request < 0) {
    draw_key(picture, rows, at, width);
    return;
  }
  const auto index = static_cast<std::size_t>(request);
  const Dot& d = picture.dots[index];
  widgets::Line who;
  who.add("Request ").add_integer(picture.first + request + 1);
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
      spans.rows.push_back({r.name, std::to_string(picture.first + s.request + 1), std::to_string(s.lane + 1),
                            uses[static_cast<std::size_t>(s.use)], widgets::exact(s.start_s), widgets::exact(s.end_s)});
    for (const auto& w : r.waiting) queue.rows.push_back({r.name, widgets::exact(w.time_s), widgets::exact(w.value)});
  }
  p.record()->tables.push_back(std::move(spans));
  p.record()->tables.push_back(std::move(queue));
}

/// The slots, queues and caches of all policies on one axis of time.
void draw_race_panel(const Picture& picture, View& view, ImVec2 size) {
  // In less room than its rows take nothing could be told apart, and it would scroll.
  if (picture.policies.empty() || size.y < least_race_height(picture)) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  // In very little room the legend goes first, then the buttons: the keyboard plays all the same.
  const float least = least_race_height(picture), buttons = widgets::button_size("Play").y + t.px(6),
              key = t.type(Type::small) + t.px(8), top = size.y - buttons >= least ? buttons : 0,
              story = size.y - top - key >= least ? key : 0;
  if (top > 0) {
    widgets::draw_playback("race", view.playback, picture.shown_s, picture.caption);
    ImGui::SetCursorScreenPos({at.x, at.y + top});
  } else {
    widgets::advance(view.playback, picture.shown_s, static_cast<double>(ImGui::GetIO().DeltaTime));
  }
  const RaceRows rows = fit_race(picture, size.y - top - story);
  const std::int64_t request = draw_race(picture, view, size.x, rows);
  save_tables(Painter::window(), picture);
  if (story > 0) draw_story(picture, rows, request, {at.x, at.y + size.y - story + t.px(4)}, size.x);
}

/// Shares of the requests up to each time, a curve for each policy. `limited`: the limit on the first token is on this.
void draw_shares(const char* label, const Picture& picture, bool ttft, bool limited, widgets::EcdfView& view,
                 ImVec2 size) {
  std::array<widgets::EcdfSeries, policy_markers.size()> series;
  const std::size_t n = std::min(series.size(), picture.policies.size());
  for (std::size_t i = 0; i < n; ++i) {
    const PolicyPicture& r = picture.policies[i];
    series[i] = {.label = r.curve, .values = ttft ? r.ttft_s : r.latency_s, .tint = policy_tint(i)};
  }
  widgets::draw_ecdf(label, {series.data(), n}, view,
                     {
                         .unit = "s",
                         .axis_label = ttft ? picture.ttft_axis : picture.latency_axis,
                         .size = size,
                         .limit = limited ? picture.ttft_limit_s : std::numeric_limits<double>::quiet_NaN(),
                         .limit_label = "SLO",
                         .nothing = picture.no_shares,
                         .revision = picture.version,
                     });
}

/// What others measured, filled, the bound of each, hollow, and the share of it that was reached.
void draw_measured(const Picture& picture, View& view, ImVec2 size) {
  view.measured_rows.clear();
  for (const MeasuredRun& run : picture.measured.runs)
    view.measured_rows.push_back({
        .label = run.name,
        .bound = run.bound,
        .measured = run.measured,
        .tint = widgets::Tint::series(view.measured_rows.empty() ? 0 : 1),
        .info = run.info,
    });
  widgets::draw_dot_plot("published runs", view.measured_rows, view.measured,
                         {
                             .axis_label = picture.measured.axis,
                             .bound_label = "limit of the chips",
                             .axis = widgets::AxisKind::log10,
                             .size = size,
                         });
}

}  // namespace

void draw(widgets::Stage& stage, Inputs&, const Outputs&, const Picture& picture, View& view) {
  const float each = picture.tokens ? 88 : 68;
  stage.panel("race",
              {.title = "The race",
               .least = {540, 104 + each * static_cast<float>(picture.raced)},
               .answers = true,
               .marks = "slots"},
              [&](ImVec2 size) { draw_race_panel(picture, view, size); });
  if (!picture.measured.title.empty())
    stage.panel("measured", {.title = picture.measured.title, .least = {300, 180}},
                [&](ImVec2 size) { draw_measured(picture, view, size); });
  // In a plain queue the answer is one token.
  if (picture.tokens)
    stage.panel("ttft", {.title = "Time to first token", .least = {300, 180}},
                [&](ImVec2 size) { draw_shares("ttft", picture, true, true, view.ttft, size); });
  stage.panel("latency", {.title = "Latency", .least = {300, 180}},
              [&](ImVec2 size) { draw_shares("latency", picture, false, !picture.tokens, view.latency, size); });
}

}  // namespace chapters::serving::batching
