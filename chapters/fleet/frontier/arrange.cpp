#include <algorithm>
#include <cmath>

#include "chapters/fleet/frontier/lab.h"
#include "widgets/number/number.h"

namespace chapters::fleet::frontier {
namespace {

using widgets::AxisKind, widgets::AxisSpec, widgets::format_text;

/// Values of all points that are shown, with room at the ends; what is behind a wall takes a fifth at most.
AxisSpec spec_of(const SeenAxis& axis, const Run& run) {
  const AxisKind kind = axis.column->log ? AxisKind::log10 : AxisKind::linear;
  widgets::Range data{HUGE_VAL, -HUGE_VAL};
  for (const std::size_t p : run.shown) {
    data.lo = std::min(data.lo, axis.value(p));
    data.hi = std::max(data.hi, axis.value(p));
  }
  const widgets::Range room = widgets::fit_range(kind, data, 0.07);
  AxisSpec spec{.kind = kind, .lo = room.lo, .hi = room.hi};
  if (!(axis.wall > 0) || run.none_passes) return spec;
  const Ends ends = ends_of(kind, axis.high, room);
  const double wall = widgets::axis_forward(kind, axis.wall), all = ends.best - ends.worst;
  const double open = (ends.best - wall) / all;
  if (!(open > 0) || open >= 0.8) return spec;
  const double worst = ends.best - std::max(open / 0.8, 0.2) * all;
  (axis.high ? spec.lo : spec.hi) = widgets::axis_inverse(kind, worst);
  return spec;
}

/// Where a value lies on its axis, 0 worst to 1 best.
float place(const AxisSpec& spec, bool high, double value) {
  const double from = widgets::axis_forward(spec.kind, spec.lo), to = widgets::axis_forward(spec.kind, spec.hi);
  const double at = (widgets::axis_forward(spec.kind, value) - from) / (to - from);
  return static_cast<float>(std::clamp(high ? at : 1 - at, -1.0, 2.0));
}

/// How many steps the whole axis has.
double steps_across(const AxisSpec& spec, const SeenAxis& axis) {
  return std::abs(axis.steps(spec.hi) - axis.steps(spec.lo));
}

std::string title_of(const SeenAxis& axis) {
  return axis.column->label + (axis.column->unit.empty() ? "" : " (" + axis.column->unit + ")");
}

/// "0.5 points": so much of a linear axis; of a share points, since "0.5 % more" would be a share of a share.
std::string units_words(const SeenAxis& axis, double units) {
  const std::string& unit = axis.column->unit;
  const std::string number = format_text(units, "", 2);
  if (unit == "%") return number + (number == "1" ? " point" : " points");
  return number + (unit.empty() ? "" : " " + unit);
}

/// "twice", "half": what a step for the better is called.
std::string step_words(const SeenAxis& axis) {
  const std::string& label = axis.column->label;
  if (axis.column->log) return (axis.high ? "twice the " : "half the ") + label;
  return "1 " + (axis.column->unit.empty() ? "" : axis.column->unit + " ") + (axis.high ? "more " : "less ") + label;
}

/// "1.6x the energy", "a point less": what is given for it.
std::string given_words(const SeenAxis& y, double rate) {
  if (!y.column->log) return units_words(y, rate) + (y.high ? " less " : " more ") + y.column->label;
  return (y.high ? "1/" : "") + format_text(rate, y.high ? "" : widgets::times_unit, 2) +
         (y.high ? " of the " : " the ") + y.column->label;
}

/// What another front costs against yours.
std::string price_words(const SeenAxis& y, const FrontRow& row) {
  if (!std::isnan(row.times)) return format_text(row.times, widgets::times_unit, 2);
  if (std::isnan(row.units)) return {};
  return units_words(y, std::abs(row.units)) + (row.units >= 0 ? " worse" : " better");
}

void arrange_fronts(const Outputs& out, const Run& run, Picture& p) {
  const auto spot = [&](std::size_t point) {
    return Spot{place(p.x, run.x.high, run.x.value(point)), place(p.y, run.y.high, run.y.value(point))};
  };
  std::vector<std::uint8_t> on_front(run.set->size(), 0);
  for (std::size_t q = 0; q < run.fronts.size(); ++q) {
    const Front& front = run.fronts[q];
    DrawnFront drawn;
    drawn.name = run.set->qualities[q];
    drawn.price = out.fronts[q].quality_name + ": " + price_words(run.y, out.fronts[q]);
    drawn.best = out.fronts[q].winner_name;
    drawn.compared = std::find(run.compared.begin(), run.compared.end(), q) != run.compared.end();
    drawn.has_winner = front.has_winner;
    if (front.has_winner) drawn.winner = spot(front.winner);
    // Over more than two axes points of a front lie under its stairs.
    float highest = -1;
    for (std::size_t i = front.points.size(); i-- > 0;) {
      on_front[front.points[i]] = 1;
      const Spot at = spot(front.points[i]);
      drawn.points.push_back(at);
      if (at.v < highest) continue;
      highest = at.v;
      if (!drawn.corners.empty()) drawn.corners.push_back({at.u, drawn.corners.back().v});
      drawn.corners.push_back(at);
    }
    p.fronts.push_back(std::move(drawn));
  }
  for (const std::size_t point : run.shown) {
    Dot dot;
    static_cast<Spot&>(dot) = spot(point);
    dot.quality = run.set->quality_of[point];
    dot.on_front = on_front[point] != 0;
    dot.point = static_cast<std::uint32_t>(point);
    p.dots.push_back(dot);
  }
  p.winner = p.fronts[run.quality].winner;
  p.has_more = run.has_more;
  if (run.has_more) p.more = spot(run.more);
  p.has_mine = run.has_mine;
  if (run.has_mine) p.mine = spot(run.mine);
}

void arrange_words(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  p.x_title = title_of(run.x);
  p.y_title = title_of(run.y);
  p.x_better = run.x.high ? "more is better" : "less is better";
  p.y_better = run.y.high ? "more is better" : "less is better";
  p.winner_name = out.winner;
  p.winner_x = out.winner_across;
  p.winner_y = out.winner_up;
  p.winner_values = p.winner_x + ", " + p.winner_y;
  p.rate_words = step_words(run.x) + " for " + given_words(run.y, out.rate);
  if (run.has_more) {
    const SeenAxis &asked = run.x.column->log ? run.y : run.x, &pays = run.x.column->log ? run.x : run.y;
    p.more_bold = units_words(asked, in.more) + (asked.high ? " more: " : " less: ") +
                  (pays.high ? "1/" + format_text(out.more_times, "", 2) + " of the rate"
                             : format_text(out.more_times, widgets::times_unit, 2));
    p.more_words = out.more_winner;
  }
  if (run.has_mine) p.mine_words = out.mine_found;
  if (run.x.wall > 0) p.wall_x_words = wall_text(run.x);
  if (run.y.wall > 0) p.wall_y_words = wall_text(run.y);
  p.note = run.set->source.empty() ? run.set->note : "Measured: " + run.set->source + ", as of " + run.set->date;
}

void arrange_reigns(const Outputs& out, const Run& run, Picture& p) {
  double least = HUGE_VAL, most = 0;
  for (const ReignRow& row : out.reigns) {
    p.reign_names.push_back(row.point_name);
    p.reign_rates.push_back(value_text(run.x, row.across) + ", " + value_text(run.y, row.up));
    if (!std::isnan(row.rate_to) && row.rate_to > (run.y.column->log ? 1.0 : 0.0)) {
      least = std::min(least, row.rate_to);
      most = std::max(most, row.rate_to);
    }
  }
  const double floor = run.y.column->log ? 1.01 : 0.001;
  p.least_rate = std::max(floor, std::min(least, out.rate) / 1.5);
  p.most_rate = std::max({2 * p.least_rate, 1.5 * most, 1.5 * out.rate});
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || !run.set) return p;
  p.x = spec_of(run.x, run);
  p.y = spec_of(run.y, run);
  p.quality = run.quality;
  arrange_fronts(out, run, p);
  arrange_words(in, out, run, p);
  arrange_reigns(out, run, p);
  p.fall_of_slope = steps_across(p.x, run.x) / steps_across(p.y, run.y);
  p.fall = run.slope * p.fall_of_slope;
  p.answer = answer_of(in, out, run);
  p.doors = doors_of(run, out);
  return p;
}

}  // namespace chapters::fleet::frontier
