#include <algorithm>
#include <cmath>

#include "chapters/serving/slo/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/number/number.h"
#include "widgets/plot/plot.h"

/// The stick of first tokens with its limit, and the hill under it on the same loads.
namespace chapters::serving::slo {
namespace {

using widgets::AxisKind, widgets::Plot;

/// To two digits, as a limit is written.
double round_limit(double seconds) {
  const double unit = std::pow(10.0, std::floor(std::log10(seconds)) - 1);
  return std::round(seconds / unit) * unit;
}

void draw_smear(Plot& plot, const Smear& smear, const std::vector<widgets::Curve>& tails) {
  for (const widgets::Curve& dots : smear.dots)
    if (!dots.x.empty()) plot.curve(dots);
  plot.curves(tails);
}

void paint_stick(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("stick", view.stick,
            {.x = {.lo = 0, .hi = picture.most_rate, .label = "arrivals per second"},
             .y = {.kind = AxisKind::log10,
                   .lo = picture.least_ttft_s,
                   .hi = picture.most_ttft_s,
                   .label = picture.stick_label,
                   .unit = "s"},
             .size = size,
             .link = &view.link,
             .x_axis = false,
             .ghost = false});
  if (picture.tails.empty()) return;
  draw_smear(plot, picture.first_tokens, picture.tails);
  if (std::isfinite(picture.unstable_from)) plot.vertical_mark(picture.unstable_from, picture.unstable_words);
  plot.tag_y(in.ttft_limit_s);
  double limit = in.ttft_limit_s;
  if (plot.drag_y("drag the limit", limit, {.label = "limit", .lo = 1e-3, .hi = 1e3}))
    in.ttft_limit_s = std::clamp(round_limit(limit), 1e-3, 1e3);
}

void paint_hill(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("hill", view.hill,
            {.x = {.lo = 0, .hi = picture.most_rate, .label = "arrivals per second"},
             .y = {.lo = 0, .hi = picture.most_per_s, .label = "requests per second"},
             .size = size,
             .legend = size.y > widgets::theme().px(150),
             .link = &view.link});
  if (picture.served.x.empty()) return;
  plot.curve(picture.lost);
  plot.curve(picture.in_time);
  plot.curve(picture.offered);
  plot.curve(picture.served);
  if (std::isfinite(picture.knee)) plot.vertical_mark(picture.knee, picture.knee_words, {.output = "knee_rate_per_s"});
  if (!picture.lost_bold.empty() && picture.here_rate <= picture.most_rate)
    plot.bracket(picture.here_rate, picture.here_good, picture.here_served, picture.lost_bold, picture.lost_words);
  double rate = std::min(in.arrival_rate, picture.most_rate);
  plot.tag_x(rate, picture.here_rate > picture.most_rate ? std::string_view(picture.beyond_words) : std::string_view());
  if (plot.drag_x("drag the load", rate, {.label = "load", .lo = picture.step_per_s, .hi = picture.most_rate}))
    in.arrival_rate = std::max(picture.step_per_s, std::round(rate / picture.step_per_s) * picture.step_per_s);
}

}  // namespace

void draw_hero(Inputs& in, const Outputs&, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(6), stick = std::floor((size.y - gap) * 0.56f);
  paint_stick(in, picture, view, {size.x, stick});
  widgets::drew("dots");
  ImGui::SetCursorScreenPos({at.x, at.y + stick + gap});
  paint_hill(in, picture, view, {size.x, size.y - stick - gap});
  widgets::drew("hill");
}

void draw_paces(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  Plot plot("paces", view.paces,
            {.x = {.lo = 0, .hi = picture.most_rate, .label = "arrivals per second"},
             .y = {.kind = AxisKind::log10,
                   .lo = picture.least_tpot_s,
                   .hi = picture.most_tpot_s,
                   .label = "time per further token",
                   .unit = "s"},
             .size = size,
             .ghost = false});
  if (picture.pace_tails.empty()) return;
  draw_smear(plot, picture.paces, picture.pace_tails);
  plot.tag_y(in.tpot_limit_s);
  double limit = in.tpot_limit_s;
  if (plot.drag_y("drag the pace", limit, {.label = "limit", .lo = 1e-3, .hi = 10}))
    in.tpot_limit_s = std::clamp(round_limit(limit), 1e-3, 10.0);
}

void draw_times(Inputs& in, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = t.px(6), upper = std::floor((size.y - gap) * (picture.scales ? 0.36f : 0.64f));
  {
    Plot plot("requests in time", view.times,
              {.x = {.lo = 0, .hi = picture.end_s, .label = "time", .unit = "s"},
               .y = {.kind = AxisKind::log10,
                     .lo = picture.least_ttft_s,
                     .hi = picture.most_ttft_s,
                     .label = picture.has_tokens ? "time to first token" : "time in the system",
                     .unit = "s"},
               .size = {size.x, upper},
               .link = &view.time_link,
               .x_axis = false,
               .ghost = false});
    if (!picture.fleet.empty()) {
      draw_smear(plot, picture.times, {});
      plot.horizontal_mark(in.ttft_limit_s, "limit");
    }
  }
  const float lower = size.y - upper - gap, queue = picture.scales ? std::floor((lower - gap) * 0.36f)
                                                                   : lower;  // the fleet's has a legend and the axis
  ImGui::SetCursorScreenPos({at.x, at.y + upper + gap});
  {
    Plot plot("queue in time", view.queue,
              {.x = {.lo = 0, .hi = picture.end_s, .label = "time", .unit = "s"},
               .y = {.lo = 0, .label = "requests in the queues"},
               .size = {size.x, queue},
               .link = &view.time_link,
               .x_axis = !picture.scales,
               .ghost = false});
    if (!picture.fleet.empty()) plot.curve(picture.fleet[0]);
  }
  if (!picture.scales) return;
  ImGui::SetCursorScreenPos({at.x, at.y + upper + gap + queue + gap});
  Plot plot("fleet in time", view.fleet,
            {.x = {.lo = 0, .hi = picture.end_s, .label = "time", .unit = "s"},
             .y = {.lo = 0, .label = "replicas"},
             .size = {size.x, lower - queue - gap},
             .link = &view.time_link,
             .ghost = false});
  if (picture.fleet.size() < 3) return;
  plot.curve(picture.fleet[2]);
  plot.curve(picture.fleet[1]);
}

}  // namespace chapters::serving::slo
