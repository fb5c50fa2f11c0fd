#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/profiling/measure/lab.h"
#include "widgets/base/heading.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/theme.h"
#include "widgets/controls/button.h"
#include "widgets/plot/plot.h"

namespace chapters::profiling::measure {
namespace {

using widgets::Plot;

constexpr std::array<DescribedColumn, 6> method_columns{{
    {.key = "method"},
    {.key = "found", .digits = 3},
    {.key = "lo", .priority = 1, .digits = 3},
    {.key = "hi", .priority = 1, .digits = 3},
    {.key = "p", .priority = 2, .digits = 2},
    {.key = "says"},
}};
constexpr std::array<DescribedColumn, 4> order_columns{{
    {.key = "order"},
    {.key = "bias", .digits = 2},
    {.key = "alarms", .priority = 1, .digits = 2},
    {.key = "seen", .priority = 2, .digits = 2},
}};

/// Axes end here while a question is open, %: the range of the runs would give the answer away.
constexpr double veiled_gain = 10;

double to_tenth(double value) { return std::round(10 * value) / 10; }

void draw_clock(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("runs", view.runs,
            {.x = {.lo = 0, .hi = picture.slots_hi, .label = "run"},
             .y = {.lo = picture.time_lo, .hi = picture.time_hi, .label = "time of a run", .unit = "s"},
             .size = size,
             .ghost = false});
  plot.curves(picture.runs);
  if (!picture.drawn || !(picture.cold_time > 0)) return;
  double at = picture.slots_hi - 1, time = picture.drift_at;
  if (plot.drag_point("drag the drift", at, time, {.label = picture.drift_words, .lo = at, .hi = at}))
    in.drift = std::clamp(to_tenth(100 * (time / picture.cold_time - 1) / picture.heated), -20.0, 20.0);
}

void draw_funnel(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const bool veiled = widgets::veiled();
  Plot plot("interval", view.funnel,
            {.x = {.lo = 0, .hi = picture.pairs_hi, .label = "pairs of runs"},
             .y = {.lo = veiled ? -veiled_gain : picture.gain_lo,
                   .hi = veiled ? veiled_gain : picture.gain_hi,
                   .label = "gain of B",
                   .unit = "%"},
             .size = size,
             .ghost = false});
  plot.curves(picture.funnel);
  if (!picture.zero_words.empty())
    plot.horizontal_mark(0, picture.zero_words, {.dashed = false, .output = picture.zero_is_order ? "order_bias" : ""});
  if (picture.order_apart)
    plot.horizontal_mark(out.order_bias, "the order alone", {.colour = t.bad, .output = "order_bias"});
  double pairs = static_cast<double>(out.pairs), gain = in.gain;
  if (plot.drag_x("drag the budget", pairs, {.label = "budget", .lo = 4, .hi = 0.5 * max_runs}))
    in.runs = std::clamp<std::int64_t>(2 * (std::llround(pairs) + in.discard), 12, max_runs);
  if (plot.drag_y("drag B's real gain", gain, {.label = picture.funnel_words, .lo = -20, .hi = 20}))
    in.gain = to_tenth(gain);
}

/// Two parts next to each other where there is width for them, or else one above the other.
struct TwoParts {
  ImVec2 corner, first, second_at, second;
  TwoParts(ImVec2 size, bool apart, float share, float gap) : corner(ImGui::GetCursorScreenPos()) {
    first =
        apart ? ImVec2{std::floor(share * (size.x - gap)), size.y} : ImVec2{size.x, std::floor(share * (size.y - gap))};
    second_at = apart ? ImVec2{corner.x + first.x + gap, corner.y} : ImVec2{corner.x, corner.y + first.y + gap};
    second = apart ? ImVec2{size.x - first.x - gap, size.y} : ImVec2{size.x, size.y - first.y - gap};
  }
};

/// Pixels from the top of a hero's part down to its plot: its heading, or the button next to that.
float head_height() { return widgets::button_size("Stop").y + widgets::theme().px(6); }

/// The one thing to do next, at the right end of the first heading.
void draw_next(Inputs& in, const Picture& picture, View& view, ImVec2 corner, float right) {
  if (widgets::veiled()) return;
  const bool here = in.source == Source::machine, running = here && view.requests.running;
  if (here ? picture.request.empty() : !picture.more) return;
  const char* label = running ? "Stop" : here ? "Time them" : "One more run";
  ImGui::SetCursorScreenPos({right - widgets::button_size(label).x, corner.y});
  if (!widgets::button(label, here && !running)) return;
  if (here)
    view.requests.work = running ? "stop" : picture.request;
  else
    in.runs = std::min(max_runs, in.runs + 1);
}

/// A heading with the button behind it.
void draw_head(Inputs& in, const Picture& picture, View& view, ImVec2 corner, float width, std::string_view title) {
  const bool running = in.source == Source::machine && view.requests.running;
  const std::string_view more = running ? std::string_view(view.requests.status) : picture.runs_words;
  const float button = widgets::button_size("One more run").x + widgets::theme().px(8);
  widgets::heading(title, more, std::max(widgets::theme().px(60), width - button), widgets::HeadingMore::beside);
  draw_next(in, picture, view, corner, corner.x + width);
}

void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  if (picture.version == 0 || picture.runs.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const auto& t = widgets::theme();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const bool apart = size.x > t.px(700);
  // One above the other needs height for two pairs of axes; without it the interval is what answers.
  const bool alone = !apart && size.y < t.px(460);
  const float head = head_height();
  const TwoParts parts(size, apart, apart ? 0.55f : 0.48f, t.px(18));
  const ImVec2 at = alone ? corner : parts.second_at, second = alone ? size : parts.second;
  if (!alone) {
    draw_head(in, picture, view, corner, parts.first.x, "A and B, timed");
    ImGui::SetCursorScreenPos({corner.x, corner.y + head});
    draw_clock(in, picture, view, {parts.first.x, parts.first.y - head});
  }
  ImGui::SetCursorScreenPos(at);
  if (alone)
    draw_head(in, picture, view, at, second.x, "What B gains");
  else
    widgets::heading("What B gains, as runs are added", "", second.x);
  ImGui::SetCursorScreenPos({at.x, at.y + head});
  draw_funnel(in, out, picture, view, {second.x, second.y - head});
  widgets::drew("the interval");
}

void draw_looks(const Picture& picture, View& view, ImVec2 size) {
  Plot plot("looks", view.looks,
            {.x = {.lo = 0, .hi = picture.looks_hi, .label = "pairs of runs at the look"},
             .y = {.lo = 0,
                   .hi = widgets::veiled() ? 100 : picture.alarms_hi,
                   .label = "equals called different",
                   .unit = "%"},
             .size = size,
             .ghost = false});
  plot.curves(picture.looks);
  plot.horizontal_mark(100 * alpha, "5 %");
}

void draw_power(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  Plot plot("power", view.power,
            {.x = {.lo = 0,
                   .hi = widgets::veiled() ? veiled_gain : picture.power_hi,
                   .label = "what B really saves",
                   .unit = "%"},
             .y = {.lo = 0, .hi = 102, .label = "B called faster", .unit = "%"},
             .size = size,
             .ghost = false});
  plot.curves(picture.power);
  plot.error_bars(picture.power_at, picture.power_from, picture.power_to, t.series_at(4));
  plot.horizontal_mark(100 * wanted_power, "four of five");
  double gain = in.gain;
  if (in.gain >= 0 && plot.drag_x("drag the real gain", gain, {.label = "really", .lo = 0, .hi = 20}))
    in.gain = to_tenth(gain);
}

void draw_chances(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const TwoParts parts(size, size.x > t.px(640) || size.y < t.px(330), 0.5f, t.px(16));
  draw_looks(picture, view, parts.first);
  ImGui::SetCursorScreenPos(parts.second_at);
  draw_power(in, picture, view, parts.second);
}

void draw_ways(const Outputs& out, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  // Of measured runs nobody knows what another order would have shown.
  if (out.orders.empty()) {
    view.methods.draw("methods", out.methods, method_columns, size);
    return;
  }
  const float rows = static_cast<float>(out.orders.size() + out.methods.size()) + 2;
  const bool apart = size.x > t.px(900);
  const float share = apart ? 0.45f : static_cast<float>(out.orders.size() + 1) / rows;
  const TwoParts parts(size, apart, share, t.px(14));
  view.orders.draw("orders", out.orders, order_columns, parts.first);
  ImGui::SetCursorScreenPos(parts.second_at);
  view.methods.draw("methods", out.methods, method_columns, parts.second);
}

}  // namespace

void draw(widgets::Stage& stage, Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  stage.panel(
      "measure", {.title = "The runs and what they say", .least = {560, 470}, .answers = true, .marks = "the interval"},
      [&](ImVec2 size) {
        draw_over_doors(
            picture.doors, size, view.requests, [&](ImVec2 room) { draw_hero(in, out, picture, view, room); }, 480);
      });
  stage.panel("chances", {.title = "Looking early, and what the budget can see", .least = {380, 300}},
              [&](ImVec2 size) { draw_chances(in, picture, view, size); });
  stage.panel("ways", {.title = "The same in other orders and by other methods", .least = {420, 372}, .scrolls = true},
              [&](ImVec2 size) { draw_ways(out, view, size); });
  published_panel(stage, "Published looks and this model", picture.published);
}

}  // namespace chapters::profiling::measure
