#include <algorithm>
#include <cctype>
#include <limits>
#include <numeric>
#include <optional>

#include "chapters/fleet/frontier/lab.h"
#include "models/base/printable.h"
#include "models/base/trimmed.h"
#include "widgets/number/number.h"

namespace chapters::fleet::frontier {
namespace {

using models::fleet::ParetoAxis, models::fleet::PointAxis, models::fleet::PointSet, models::fleet::RulerPoint;
using SetRead = models::Result<std::shared_ptr<const PointSet>>;

constexpr std::size_t max_axes = 6, max_compared = 4;

/// A set of the program's own, read when it is asked for first.
SetRead published_set(std::size_t index) {
  static const auto sets = [] {
    std::array<std::shared_ptr<const PointSet>, set_ids.size() - 1> all;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (auto read = models::fleet::read_point_set(models::fleet::published_points(set_ids[i])))
        all[i] = std::make_shared<const PointSet>(std::move(*read));
    return all;
  }();
  return sets[index] ? SetRead::ok(sets[index]) : SetRead::fail("This set is not in the program: choose another.");
}

SetRead read_set(const Inputs& in) {
  const auto at = std::find(set_ids.begin(), set_ids.end(), in.set);
  if (at != set_ids.end() - 1 && at != set_ids.end())
    return published_set(static_cast<std::size_t>(at - set_ids.begin()));
  if (in.points.path.empty() && in.points.text.empty())
    return SetRead::fail("No points are given: drop a CSV here with a name and one column per axis, or choose a set.");
  auto read = models::fleet::read_point_set(in.points.text);
  if (!read) return SetRead::fail(std::move(read.error));
  return SetRead::ok(std::make_shared<const PointSet>(std::move(*read)));
}

/// The names of all columns of numbers, "a, b, c", at most 60 letters.
std::string axis_names(const PointSet& set) {
  std::string out;
  for (const PointAxis& axis : set.axes) {
    if (axis.bad_line > 0) continue;
    if (out.size() + axis.key.size() > 60) return out + ", ...";
    out += (out.empty() ? "" : ", ") + axis.key;
  }
  return out;
}

struct Chosen {
  std::vector<SeenAxis> axes;
  std::string fault;
};

Chosen choose_axes(const Inputs& in, const PointSet& set) {
  Chosen out;
  std::vector<std::string> names = listed(in.axes);
  if (names.empty())
    for (const PointAxis& axis : set.axes)
      if (axis.bad_line == 0 && names.size() < 2) names.push_back(axis.key);
  const std::vector<std::string> best = listed(in.best);
  if (names.size() < 2 || names.size() > max_axes) {
    out.fault = "There are " + std::to_string(names.size()) + " axes: name two to six of " + axis_names(set) + ".";
  } else if (!best.empty() && best.size() != names.size()) {
    out.fault = "What is best is said of " + std::to_string(best.size()) + " axes where there are " +
                std::to_string(names.size()) + ": write high or low for each.";
  }
  for (std::size_t i = 0; i < names.size() && out.fault.empty(); ++i) {
    const PointAxis* column = set.axis(names[i]);
    if (!column)
      out.fault = "No column is named \"" + models::printable(names[i]) + "\": there are " + axis_names(set) + ".";
    else if (column->bad_line > 0)
      out.fault = "Line " + std::to_string(column->bad_line) + " of the points has no number under \"" + column->key +
                  "\", so that it is no axis.";
    else if (std::count(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) > 0)
      out.fault = "The axis \"" + models::printable(names[i]) + "\" is named twice: name each once.";
    else if (!best.empty() && best[i] != "high" && best[i] != "low")
      out.fault = "What is best reads \"" + models::printable(best[i]) + "\": write high or low for each axis.";
    else
      out.axes.push_back({.column = column,
                          .high = best.empty() ? column->high : best[i] == "high",
                          .guessed = best.empty() && column->guessed});
  }
  return out;
}

/// The place of a quality by its name; the names that there are in a sentence where there is none.
models::Result<std::size_t> find_quality(const PointSet& set, std::string_view name, std::string_view key) {
  const auto at = std::find(set.qualities.begin(), set.qualities.end(), name);
  if (at != set.qualities.end())
    return models::Result<std::size_t>::ok(static_cast<std::size_t>(at - set.qualities.begin()));
  std::string some;
  for (const std::string& q : set.qualities)
    if (some.size() + q.size() < 80) some += (some.empty() ? "" : ", ") + (q.empty() ? "one without a name" : q);
  return models::Result<std::size_t>::fail("No " + std::string(key) + " is named \"" + models::printable(name, 60) +
                                           "\": the points have " + some + ".");
}

bool contains(std::string_view text, std::string_view part) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

RulerPoint seen(const Run& run, std::size_t point) {
  return {run.x.steps(run.x.value(point)), run.y.steps(run.y.value(point))};
}

/// A wall that no point of the quality passes leaves no choice: then all are looked at, and it is said.
bool passes(const Run& run, std::size_t point) {
  return run.none_passes || (run.x.passes(run.x.value(point)) && run.y.passes(run.y.value(point)));
}

/// The points of a front that pass the walls, with their places under the ruler.
void passing_points(const Run& run, const Front& front, std::vector<std::size_t>& points,
                    std::vector<RulerPoint>& places) {
  points.clear();
  places.clear();
  for (const std::size_t p : front.points) {
    if (!passes(run, p)) continue;
    points.push_back(p);
    places.push_back(seen(run, p));
  }
}

/// A wall that all points pass, as one that was set for another set does, is none.
void drop_wall_beyond(SeenAxis& axis, std::span<const std::size_t> shown) {
  if (!(axis.wall > 0) || shown.empty()) return;
  axis.wall_is_beyond =
      std::all_of(shown.begin(), shown.end(), [&](std::size_t p) { return axis.passes(axis.value(p)); });
  if (axis.wall_is_beyond) axis.wall = 0;
}

void fill_fronts(std::span<const SeenAxis> axes, Run& run, Outputs& out) {
  const PointSet& set = *run.set;
  std::vector<ParetoAxis> columns;
  for (const SeenAxis& axis : axes) columns.push_back({axis.column->values, axis.high});
  std::vector<std::vector<std::size_t>> by_quality(set.qualities.size());
  for (std::size_t p = 0; p < set.size(); ++p) {
    const bool whole =
        std::none_of(axes.begin(), axes.end(), [&](const SeenAxis& a) { return std::isnan(a.value(p)); });
    if (!whole) continue;
    run.shown.push_back(p);
    by_quality[set.quality_of[p]].push_back(p);
  }
  out.points_count = static_cast<std::int64_t>(run.shown.size());
  drop_wall_beyond(run.x, run.shown);
  drop_wall_beyond(run.y, run.shown);
  out.left_out = static_cast<std::int64_t>(set.size() - run.shown.size());
  const auto& chosen = by_quality[run.quality];
  run.none_passes = std::none_of(chosen.begin(), chosen.end(), [&](std::size_t p) { return passes(run, p); });
  std::vector<std::size_t> passing;
  std::vector<RulerPoint> places;
  for (std::size_t q = 0; q < by_quality.size(); ++q) {
    Front front{.points = models::fleet::pareto_front(columns, by_quality[q])};
    if (q == run.quality) {
      for (const std::size_t p : front.points) out.front.push_back(set.names[p]);
      out.quality_points = static_cast<std::int64_t>(by_quality[q].size());
    }
    std::stable_sort(front.points.begin(), front.points.end(),
                     [&](std::size_t a, std::size_t b) { return seen(run, a).across < seen(run, b).across; });
    passing_points(run, front, passing, places);
    FrontRow row;
    row.quality_name = set.qualities[q].empty() ? "all points" : set.qualities[q];
    row.points = static_cast<std::int64_t>(by_quality[q].size());
    row.on_front = static_cast<std::int64_t>(front.points.size());
    if (!passing.empty()) {
      const auto touch = models::fleet::touch_with_ruler(places, run.slope);
      front.winner = passing[touch.point];
      front.has_winner = true;
      front.value = touch.value;
      row.winner_name = set.names[front.winner];
      row.across = run.x.value(front.winner);
      row.up = run.y.value(front.winner);
    }
    run.fronts.push_back(std::move(front));
    out.fronts.push_back(std::move(row));
  }
  out.front_count = static_cast<std::int64_t>(out.front.size());
  out.dominated = out.quality_points - out.front_count;
}

/// What each other front costs up the ruler's axis at the same exchange rate.
void fill_prices(Run& run, Outputs& out) {
  const Front& yours = run.fronts[run.quality];
  for (std::size_t q = 0; q < run.fronts.size(); ++q) {
    if (!run.fronts[q].has_winner) continue;
    // Dearer where less is better and where more is better alike: so many steps worse.
    const double worse = yours.value - run.fronts[q].value;
    (run.y.column->log ? out.fronts[q].times : out.fronts[q].units) = run.y.column->log ? std::exp2(worse) : worse;
  }
  if (!run.has_against) return;
  run.has_against = run.fronts[run.against].has_winner;
  out.against_used = out.fronts[run.against].quality_name;
  out.against_winner = out.fronts[run.against].winner_name;
  out.against_x = out.fronts[run.against].across;
  out.against_y = out.fronts[run.against].up;
  out.against_times = out.fronts[run.against].times;
  out.against_units = out.fronts[run.against].units;
}

/// Who wins, for how long, and who comes before and after.
void fill_winner(Run& run, Outputs& out) {
  std::vector<std::size_t> passing;
  std::vector<RulerPoint> places;
  const Front& yours = run.fronts[run.quality];
  passing_points(run, yours, passing, places);
  const PointSet& set = *run.set;
  out.winner = set.names[yours.winner];
  out.winner_x = run.x.value(yours.winner);
  out.winner_y = run.y.value(yours.winner);
  out.winner_across = value_text(run.x, out.winner_x);
  out.winner_up = value_text(run.y, out.winner_y);
  const auto touch = models::fleet::touch_with_ruler(places, run.slope);
  // Beyond a thousand million nobody would pay: no end.
  constexpr double no_rate = 1e9;
  const auto rate_or_none = [&](double slope) {
    const double rate = rate_of_slope(run.y, slope);
    return rate <= no_rate ? rate : std::nan("");
  };
  out.rate = rate_of_slope(run.y, run.slope);
  out.rate_from = std::min(rate_of_slope(run.y, touch.from), no_rate);
  out.rate_to = rate_or_none(touch.to);
  out.winner_below = touch.below == touch.point ? "" : set.names[passing[touch.below]];
  out.winner_above = touch.above == touch.point ? "" : set.names[passing[touch.above]];
  if (touch.above != touch.point) {
    out.above_x = run.x.value(passing[touch.above]);
    out.above_y = run.y.value(passing[touch.above]);
  }
  for (const auto& reign : models::fleet::reigns_of(places)) {
    const std::size_t p = passing[reign.point];
    const double from = std::min(rate_of_slope(run.y, reign.from), no_rate);
    out.reigns.push_back({set.names[p], from, rate_or_none(reign.to), run.x.value(p), run.y.value(p)});
  }
  out.touched = static_cast<std::int64_t>(out.reigns.size());
  for (const std::size_t p : run.shown)
    out.passed += !run.none_passes && set.quality_of[p] == run.quality && passes(run, p) ? 1 : 0;
}

/// The price of a little more on the linear axis, on the other one.
void fill_more(const Inputs& in, Run& run, Outputs& out) {
  const SeenAxis &x = run.x, &y = run.y;
  if (x.column->log == y.column->log) return;
  const SeenAxis &asked = x.column->log ? y : x, &pays = x.column->log ? x : y;
  const Front& yours = run.fronts[run.quality];
  const double least = asked.steps(asked.value(yours.winner)) + in.more;
  double best = -std::numeric_limits<double>::infinity();
  for (const std::size_t p : yours.points) {
    // Printed figures: 89.566 and 0.1 more are 89.666.
    if (!passes(run, p) || asked.steps(asked.value(p)) < least - 1e-9) continue;
    if (pays.steps(pays.value(p)) <= best) continue;
    best = pays.steps(pays.value(p));
    run.more = p;
    run.has_more = true;
  }
  if (!run.has_more) return;
  out.more_times = std::exp2(pays.steps(pays.value(yours.winner)) - best);
  out.more_winner = run.set->names[run.more];
  out.more_value = asked.value(run.more);
  out.more_other = pays.value(run.more);
}

/// The learner's own configuration: how many beat it, and by how much at the same height.
void fill_mine(const Inputs& in, std::span<const SeenAxis> axes, Run& run, Outputs& out) {
  const std::string_view wanted = models::trimmed(in.mine);
  if (wanted.empty()) return;
  const PointSet& set = *run.set;
  for (const bool here : {true, false})
    for (const std::size_t p : run.shown) {
      if (run.has_mine || (set.quality_of[p] == run.quality) != here) continue;
      if (!contains(set.qualities[set.quality_of[p]] + " " + set.names[p], wanted)) continue;
      run.mine = p;
      run.has_mine = true;
    }
  if (!run.has_mine) {
    out.mine_found = "none";
    return;
  }
  const std::string& quality = set.qualities[set.quality_of[run.mine]];
  out.mine_found = quality.empty() ? set.names[run.mine] : quality + ", " + set.names[run.mine];
  out.mine_dominators = 0;
  double furthest = seen(run, run.mine).across;
  for (const std::size_t p : run.shown) {
    if (set.quality_of[p] != set.quality_of[run.mine]) continue;
    bool as_good = true, better = false;
    for (const SeenAxis& axis : axes) {
      const double mine = axis.steps(axis.value(run.mine)), other = axis.steps(axis.value(p));
      as_good &= other >= mine;
      better |= other > mine;
    }
    out.mine_dominators += as_good && better ? 1 : 0;
    if (seen(run, p).up >= seen(run, run.mine).up) furthest = std::max(furthest, seen(run, p).across);
  }
  if (run.x.column->log) out.mine_times = std::exp2(furthest - seen(run, run.mine).across);
}

}  // namespace

double rate_of_slope(const SeenAxis& y, double slope) { return y.column->log ? std::exp2(slope) : slope; }
double slope_of_rate(const SeenAxis& y, double rate) { return y.column->log ? std::log2(rate) : rate; }

std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> out;
  std::string one;
  const auto end = [&] {
    const std::string_view word = models::trimmed(one);
    if (!word.empty()) out.emplace_back(word);
    one.clear();
  };
  for (const char c : text) {
    if (c == ',')
      end();
    else if (c != '[' && c != ']' && c != '"' && c != '\'')
      one += c;
  }
  end();
  return out;
}

std::string value_text(const SeenAxis& axis, double value, int digits) {
  const std::string number = widgets::format_text(value, "", digits);
  return axis.column->unit.empty() ? number : number + " " + axis.column->unit;
}

std::string wall_text(const SeenAxis& axis) {
  return (axis.high ? "at least " : "at most ") + value_text(axis, axis.wall, 4);
}

Computed<Outputs, Run> compute(const Inputs& in) {
  using Answer = Computed<Outputs, Run>;
  const SetRead set = read_set(in);
  if (!set) return infeasible<Answer>(set.error);
  const Chosen chosen = choose_axes(in, **set);
  if (!chosen.fault.empty()) return infeasible<Answer>(chosen.fault);
  auto run = std::make_shared<Run>();
  run->set = *set;
  run->x = chosen.axes[0];
  run->y = chosen.axes[1];
  run->x.wall = in.wall_x;
  run->y.wall = in.wall_y;
  for (const PointAxis& axis : (*set)->axes)
    if (axis.bad_line == 0) run->all_axes.push_back(axis.key);
  const std::string& first = (*set)->qualities.front();
  const auto quality = find_quality(**set,
                                    !in.quality.empty()     ? in.quality
                                    : (*set)->start.empty() ? first
                                                            : (*set)->start,
                                    "quality");
  if (!quality) return infeasible<Answer>(quality.error);
  run->quality = *quality;
  const std::string& others = in.against.empty() ? (*set)->against : in.against;
  for (const std::string& other : listed(others)) {
    const auto against = find_quality(**set, other, "quality to compare with");
    if (!against) return infeasible<Answer>(against.error);
    if (*against != *quality && run->compared.size() < max_compared) run->compared.push_back(*against);
  }
  run->has_against = !run->compared.empty();
  if (run->has_against) run->against = run->compared.front();
  run->slope = slope_of_rate(run->y, run->y.column->log ? in.pays : in.pays_units);
  Outputs out;
  out.horizontal = run->x.column->label;
  out.vertical = run->y.column->label;
  fill_fronts(chosen.axes, *run, out);
  out.quality_used = out.fronts[run->quality].quality_name;
  if (!run->fronts[run->quality].has_winner)
    return infeasible<Answer>("No point of \"" + out.quality_used +
                              "\" has a number on every axis: choose other axes.");
  fill_prices(*run, out);
  fill_winner(*run, out);
  fill_more(in, *run, out);
  fill_mine(in, chosen.axes, *run, out);
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::fleet::frontier
