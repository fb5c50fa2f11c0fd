#include <algorithm>
#include <cmath>

#include "chapters/serving/capacity/lab.h"
#include "widgets/number/number.h"

namespace chapters::serving::capacity {
namespace {

using widgets::Curve, widgets::format_text, widgets::Meaning, widgets::Tint;

std::string whole_text(double value) { return format_text(std::round(value), "", 9); }
/// A wall's own height: with a decimal where it is short.
std::string wall_text(double chips) {
  return chips < 9.95 ? format_text(std::round(10 * chips) / 10, "") : whole_text(chips);
}

/// Money to the cent, or to two digits below that.
std::string money_text(double dollars) { return format_text(dollars, "$", dollars >= 10 ? 4 : dollars >= 1 ? 3 : 2); }

PlanPicture plan_of(const PlanRow& row, std::size_t index) {
  PlanPicture p{.name = row.chip_name, .format = row.format_name};
  p.tint = row.yours ? Tint::yours() : Tint::series(index == 1 ? 1 : index == 2 ? 3 : index == 3 ? 4 : 0);
  p.yours = row.yours;
  p.why = row.why;
  if (row.price_per_hour > 0) {
    p.price_per_hour = row.price_per_hour;
    p.price = money_text(row.price_per_hour);
    p.hour_info = "one chip for an hour: " + row.price_date;
  }
  if (!row.why.empty()) return p;
  const double heights[] = {row.memory_wall, row.latency_wall, row.rate_wall};
  for (std::size_t i = 0; i < 3; ++i) {
    p.walls[i].endless = !std::isfinite(heights[i]);
    p.walls[i].chips = p.walls[i].endless ? static_cast<double>(row.chips) : heights[i];
    p.walls[i].words = p.walls[i].endless ? "\xE2\x88\x9E" : wall_text(heights[i]);
  }
  p.binds = row.binds == models::CapacityWall::memory ? 0 : row.binds == models::CapacityWall::latency ? 1 : 2;
  p.chips = static_cast<double>(row.chips);
  p.fleet = whole_text(p.chips);
  p.under =
      whole_text(static_cast<double>(row.replicas)) + " \xC3\x97 " + whole_text(static_cast<double>(row.replica_chips));
  if (!(row.dollars_per_million_tokens > 0)) return p;
  p.dollars = row.dollars_per_million_tokens;
  p.tokens = money_text(row.dollars_per_million_tokens);
  p.million_info = whole_text(p.chips) + " chips, " + format_text(row.dollars_per_hour, "$/h") + " in all";
  if (row.price_high > 0) {
    p.low = row.price_low;
    p.high = row.price_high;
    p.dollars_low = row.dollars_low;
    p.dollars_high = row.dollars_high;
    p.hour_info += "; elsewhere " + money_text(p.low) + " to " + money_text(p.high);
    p.million_info += "; elsewhere " + money_text(p.dollars_low) + " to " + money_text(p.dollars_high);
  }
  return p;
}

/// Ranges of the two scales of prices: all that is shown, and a little more.
void set_scales(Picture& p) {
  p.price_lo = p.dollars_lo = 1e300;
  p.price_hi = p.dollars_hi = 0;
  for (const PlanPicture& plan : p.plans) {
    if (!(plan.price_per_hour > 0)) continue;
    p.price_lo = std::min(p.price_lo, plan.price_per_hour);
    p.price_hi = std::max(p.price_hi, plan.price_per_hour);
    if (!(plan.dollars > 0)) continue;
    p.priced = true;
    p.dollars_lo = std::min(p.dollars_lo, plan.dollars);
    p.dollars_hi = std::max(p.dollars_hi, plan.dollars);
    if (!plan.yours || !(plan.low > 0)) continue;
    p.price_lo = std::min(p.price_lo, plan.low);
    p.price_hi = std::max(p.price_hi, plan.high);
    p.dollars_lo = std::min(p.dollars_lo, plan.dollars_low);
    p.dollars_hi = std::max(p.dollars_hi, plan.dollars_high);
  }
  if (!(p.price_hi > 0)) p.price_lo = p.price_hi = 1;
  if (!p.priced) p.dollars_lo = p.dollars_hi = 1;
  for (auto [lo, hi] : {std::pair{&p.price_lo, &p.price_hi}, std::pair{&p.dollars_lo, &p.dollars_hi}})
    if (*hi < 1.3 * *lo) {
      *lo /= 1.2;
      *hi *= 1.2;
    }
}

void add_loads(const Run& run, Picture& p) {
  const auto curve = [&](const char* label, Tint tint, const std::vector<double>& chips) {
    Curve c{.kind = Curve::Kind::steps, .label = label, .tint = tint, .width = 2, .named = false};
    for (std::size_t i = 0; i < run.rates.size(); ++i)
      if (std::isfinite(chips[i])) c.add(run.rates[i], chips[i]);
    if (c.x.size() > 1) p.fleet.push_back(std::move(c));
  };
  curve("memory", Meaning::kv_cache, run.memory);
  curve("latency", Meaning::memory_bound, run.latency);
  curve("work", Meaning::compute_bound, run.work);
  if (run.rates.empty()) return;
  p.fleet_lo = run.rates.front();
  p.fleet_hi = run.rates.back();
}

void add_cliff(const Inputs& in, const Outputs& out, Picture& p) {
  Curve model{
      .label = "this lab", .output = "saturated_per_chip", .tint = Tint::yours(), .width = 2.5f, .named = false};
  Curve dots{.kind = Curve::Kind::dots, .label = "sizes", .tint = Tint::yours(), .radius = 6, .legend = false};
  for (const SizeRow& row : out.sizes) {
    if (!row.fits) continue;
    model.add(static_cast<double>(row.replica_chips), row.saturated_per_chip);
    dots.add(static_cast<double>(row.replica_chips), row.saturated_per_chip);
  }
  if (model.x.empty()) return;
  p.cliff.push_back(std::move(model));
  p.cliff.push_back(std::move(dots));
  Curve runs{.kind = Curve::Kind::dots, .label = "published, of these lengths", .tint = Tint::strong(), .radius = 5};
  for (const Published& row : catalog().published_of("serving/capacity")) {
    const bool same =
        row.sets("model", in.model) && row.sets("chip", in.chip) && row.sets("format", models::format_id(in.format)) &&
        row.number("prompt_tokens", 0) == in.prompt_tokens && row.number("output_tokens", 0) == in.output_tokens;
    if (!same || in.traffic != Traffic::lengths || row.output != "saturated_tokens_per_s") continue;
    const double chips = row.number("tensor_parallel", 1);
    runs.add(chips, row.measured / chips);
  }
  if (!runs.x.empty()) p.cliff.push_back(std::move(runs));
}

/// Requests a second over the window, in at most 240 bins.
void add_skyline(const Outputs& out, const Run& run, Picture& p) {
  constexpr std::int64_t bins = 240;
  const std::int64_t bin_us = std::max<std::int64_t>(1'000'000, (run.window_us + bins - 1) / bins);
  std::vector<double> counts(static_cast<std::size_t>((run.window_us + bin_us - 1) / bin_us), 0.0);
  for (const models::RequestArrival& a : run.arrivals)
    if (a.at_us < run.window_us) ++counts[static_cast<std::size_t>(a.at_us / bin_us)];
  const double bin_s = static_cast<double>(bin_us) / 1e6;
  Curve c{
      .kind = Curve::Kind::steps, .label = "requests a second", .tint = Tint::strong(), .width = 1.5f, .named = false};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    // The last bin may be cut off; less than half of one says nothing.
    const double wide_s = std::min(bin_s, static_cast<double>(run.window_us) / 1e6 - static_cast<double>(i) * bin_s);
    if (wide_s < bin_s / 2) break;
    const double rate = counts[i] / wide_s;
    c.add(static_cast<double>(i) * bin_s, rate);
    p.skyline_most = std::max(p.skyline_most, rate);
  }
  p.skyline_s = static_cast<double>(run.window_us) / 1e6;
  if (!c.y.empty()) c.add(p.skyline_s, c.y.back());
  if (c.x.size() > 1) p.skyline.push_back(std::move(c));
  p.skyline_words = "a bin is " + format_text(bin_s, "s") +
                    "; variance over mean in 10 s: " + format_text(out.arrivals.in_10s.index_of_dispersion, "");
}

void add_words(const Inputs& in, const Outputs& out, Picture& p) {
  p.first_token_tight = !std::isfinite(out.chips_for_ttft) || out.chips_for_ttft > out.chips_for_tpot;
  if (!std::isfinite(out.chips_for_tpot)) p.first_token_tight = false;
  p.latency_name = p.first_token_tight ? "latency: first token within " + format_text(in.ttft_limit_s, "s")
                                       : "latency: a token every " + format_text(in.tpot_limit_s, "s");
  p.memory_name = "memory: caches of " + whole_text(std::max(1.0, out.users)) + (out.users < 1.5 ? " user" : " users");
  p.work_name = "work: " + format_text(in.busy_percent, "%") + " busy at most";
  p.lengths = in.traffic == Traffic::lengths;
  p.hint = p.lengths ? "Drag a wall: memory is answers' length, latency the limit, work the requests."
                     : "Drag a wall: latency is the limit, the others how fast requests come.";
  if (!(out.now.price_per_hour > 0)) return;
  p.price_words = out.now.price_date == "as set" ? "Price as set" : "Price: " + out.now.price_date;
  if (out.now.price_high > 0) {
    const std::size_t comma = out.price_band_source.rfind(", ");
    p.price_words += "; bar: clouds, " +
                     (comma == std::string::npos ? out.price_band_source : out.price_band_source.substr(comma + 2));
  }
  p.price_words += ".";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || out.chips == 0) return p;
  p.answer = answer_of(in, out);
  for (std::size_t i = 0; i < out.plans.size(); ++i) p.plans.push_back(plan_of(out.plans[i], i));
  for (const PlanPicture& plan : p.plans) p.most_chips = std::max(p.most_chips, plan.chips);
  set_scales(p);
  add_loads(run, p);
  add_cliff(in, out, p);
  if (run.window_us > 0) add_skyline(out, run, p);
  add_words(in, out, p);
  p.doors = doors_of(in, out);
  return p;
}

}  // namespace chapters::serving::capacity
