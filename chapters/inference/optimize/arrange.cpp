#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/inference/optimize/lab.h"
#include "widgets/number/number.h"

namespace chapters::inference::optimize {
namespace {

using models::inference::RequestPass, models::inference::RequestState;
using widgets::Curve, widgets::format_text;

std::string count_text(double n) { return format_text(std::round(n), ""); }
std::string gain_text(double gain) { return format_text(gain, widgets::times_unit); }
std::string arrow_text(const std::string& before, const std::string& after) {
  return before + " \xE2\x86\x92 " + after;
}

/// What a change did to the work, in a few words.
std::string detail_of(RequestChange change, const RequestState& before, const RequestState& after) {
  switch (change) {
    case RequestChange::flash_attention:
      return "prefill moves " +
             arrow_text(format_text(before.prefill.bytes(), "B", 2), format_text(after.prefill.bytes(), "B", 2));
    case RequestChange::fusion:
      return "kernels " + arrow_text(count_text(before.decode.kernels), count_text(after.decode.kernels));
    case RequestChange::graph:
      return "launches " + arrow_text(count_text(before.decode.launches), count_text(after.decode.launches));
    case RequestChange::speculative:
      return format_text(after.tokens, "", 3) + " tokens per step";
    case RequestChange::tensor_parallel:
      return count_text(static_cast<double>(after.chips)) + (after.chips == 1 ? " chip" : " chips");
    default:
      return "reads " +
             arrow_text(format_text(before.bytes_per_token, "B", 2), format_text(after.bytes_per_token, "B", 2));
  }
}

/// Shares of the roofs that two phases fill.
void fill_areas(const RequestState& s, const Run& run, Strip& strip) {
  const auto bytes = [&](double moved, const RequestPass& pass) {
    return moved / pass.time_s / run.bandwidth_bytes_per_s;
  };
  strip.ttft_s = s.ttft_s;
  strip.request_s = s.request_s;
  strip.roof = s.peak_flops_per_s / run.largest_peak;
  strip.prefill_flops = s.prefill.flops / s.prefill.time_s / run.largest_peak;
  strip.decode_flops = s.decode.flops / s.decode.time_s / run.largest_peak;
  strip.prefill_bytes = bytes(s.prefill.bytes(), s.prefill);
  strip.decode_weights = bytes(s.decode.weight_bytes, s.decode);
  strip.decode_caches = bytes(s.decode.cache_bytes, s.decode);
  strip.decode_other = bytes(s.decode.other_bytes, s.decode);
  strip.fits = s.fits;
  const double waits = s.decode.wait_s() / s.decode.time_s;
  if (waits > 0.2) strip.waits = "no kernel runs " + widgets::format_percent(waits, 2) + " of the time";
  strip.takes = format_text(s.request_s, "s");
  strip.rate = format_text(s.tokens_per_s, "");
  strip.tip = "first token " + format_text(s.ttft_s, "s") + ", then " + format_text(s.tpot_s, "s") + " per token; " +
              format_text(s.bytes_per_token, "B") + " read per token";
}

void fill_measured(const Inputs& in, double tokens_per_s, Strip& strip, Picture& p) {
  if (!std::isfinite(tokens_per_s)) return;
  strip.measured_s = static_cast<double>(in.batch) * static_cast<double>(in.answer) / tokens_per_s;
  strip.measured = format_text(tokens_per_s, "", 4);
  p.longest_s = std::max(p.longest_s, strip.measured_s);
  p.measured = true;
}

void arrange_strips(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  p.longest_s = out.found.request_s;
  Strip& first = p.strips.emplace_back(Strip{.name = "As found"});
  fill_areas(out.found, run, first);
  first.detail = "reads " + format_text(out.found.bytes_per_token, "B", 2) + " per token";
  fill_measured(in, out.found_measured, first, p);
  const RequestState* before = &out.found;
  for (const StageRow& row : out.stages) {
    Strip& strip = p.strips.emplace_back(Strip{.name = row.name, .change = static_cast<std::int64_t>(row.change)});
    fill_areas(row.after, run, strip);
    strip.before_s = before->request_s;
    strip.detail = detail_of(row.change, *before, row.after);
    strip.here = gain_text(row.gain);
    strip.first = gain_text(row.first_gain);
    fill_measured(in, row.measured, strip, p);
    p.longest_s = std::max(p.longest_s, row.after.request_s);
    before = &row.after;
  }
  for (std::size_t i = 0; i < request_change_count; ++i) {
    if (in.made[i] == Made::on) continue;
    const bool found = in.made[i] == Made::found;
    p.offers.push_back({.words = (found ? "" : "+ ") + std::string(change_name(static_cast<RequestChange>(i))),
                        .change = static_cast<std::int64_t>(i),
                        .found = found});
  }
  p.roofs = "width is time, area is work: up to " + format_text(run.largest_peak, "FLOP/s") + " above, " +
            format_text(run.bandwidth_bytes_per_s, "B/s") + " below" + (out.now.chips > 1 ? ", on one chip" : "");
}

Curve batch_line(const std::vector<BatchPoint>& points, std::string label, widgets::Tint tint, bool dashed) {
  Curve line{
      .label = std::move(label), .info = "batch x answer / request", .tint = tint, .dashed = dashed, .named = false};
  for (const BatchPoint& b : points) line.add(b.tpot_s, b.tokens_per_s);
  return line;
}

/// Points of whole batches with a name at every other power of two.
Curve batch_dots(const std::vector<BatchPoint>& points, widgets::Tint tint, bool named) {
  Curve dots{.kind = Curve::Kind::dots,
             .label = named ? "batches" : "batches as found",
             .tint = tint,
             .radius = 3,
             .legend = false};
  for (std::size_t i = 0; i < points.size(); ++i) {
    dots.add(points[i].tpot_s, points[i].tokens_per_s);
    const bool last = i + 1 == points.size();
    dots.labels.push_back(named && (i % 3 == 0 || last) ? format_text(points[i].batch, "") : std::string());
  }
  return dots;
}

void arrange_batch(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const auto add = [&](Curve curve, std::size_t least) {
    if (curve.x.size() >= least) p.batch.push_back(std::move(curve));
  };
  if (!out.stages.empty()) {
    add(batch_line(run.found, "as found", widgets::Tint(), true), 2);
    add(batch_dots(run.found, widgets::Tint(), false), 1);
  }
  add(batch_line(run.now, out.stages.empty() ? "as found" : "with the changes", widgets::Tint::strong(), false), 2);
  add(batch_dots(run.now, widgets::Tint::strong(), true), 1);
  Curve now{.kind = Curve::Kind::dots,
            .label = "batch of " + format_text(static_cast<double>(in.batch), ""),
            .output = "tokens_per_s",
            .tint = widgets::Tint::yours(),
            .radius = 7};
  now.add(out.now.tpot_s, out.now.tokens_per_s);
  p.batch.push_back(std::move(now));
  p.dot_x = out.now.tpot_s;
  p.dot_y = out.now.tokens_per_s;
  for (const BatchPoint& b : run.now) {
    p.batches.push_back(b.batch);
    p.batch_rate.push_back(b.tokens_per_s);
  }
}

/// Names that stand beside each other under a plot.
constexpr std::array<const char*, request_change_count> short_names{"FlashAtt.", "fusion",   "graph", "8-bit",
                                                                    "4-bit",     "KV cache", "draft", "chips"};

/// Over the changes: from the least to the most that each saves in any order, and where it stands in this one.
void arrange_worth(const Outputs& out, Picture& p) {
  const auto dots = [](const char* label, widgets::Tint tint, widgets::Marker marker, float radius) {
    return Curve{.kind = Curve::Kind::dots, .label = label, .tint = tint, .marker = marker, .radius = radius};
  };
  Curve here = dots("in this order", widgets::Tint::yours(), widgets::Marker::circle, 7),
        first = dots("as the first", widgets::Tint::series(0), widgets::Marker::triangle, 5),
        last = dots("as the last", widgets::Tint::series(1), widgets::Marker::square, 5),
        average = dots("average over all orders", widgets::Tint::strong(), widgets::Marker::diamond, 6);
  for (std::size_t i = 0; i < out.stages.size(); ++i) {
    const StageRow& r = out.stages[i];
    const double x = static_cast<double>(i);
    p.worth_names.emplace_back(short_names[index_of(r.change)]);
    Curve span{
        .label = "all orders", .tint = widgets::Tint(), .alpha = 0.5f, .width = 6, .named = false, .legend = i == 0};
    span.add(x, r.least_saved_s);
    span.add(x, r.most_saved_s);
    p.worth.push_back(std::move(span));
    here.add(x, r.saved_s);
    first.add(x, r.first_saved_s);
    last.add(x, r.last_saved_s);
    average.add(x, r.average_saved_s);
  }
  if (out.stages.empty()) return;
  for (Curve* c : {&average, &last, &first, &here}) p.worth.push_back(std::move(*c));
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = answer_of(in, out);
  arrange_strips(in, out, run, p);
  arrange_batch(in, out, run, p);
  arrange_worth(out, p);
  return p;
}

}  // namespace chapters::inference::optimize
