#include <algorithm>
#include <cmath>

#include "chapters/training/adapters/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::training::adapters {
namespace {

using models::as_double;
using widgets::Curve, widgets::format_text, widgets::Tint;

std::string count_text(double n) { return format_text(n, ""); }

/// "4,096 x 14,336".
std::string sides(double rows, double columns) { return count_text(rows) + " \xC3\x97 " + count_text(columns); }

void arrange_vessels(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const Method middle = in.method == Method::bottleneck ? Method::bottleneck : Method::lora;
  const std::array<Method, 3> shown{Method::full, middle, Method::qlora};
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto m = static_cast<std::size_t>(shown[i]);
    VesselWords& v = p.vessels[i];
    v.method = shown[i];
    v.label = method_name(shown[i]);
    v.chosen = in.method == shown[i];
    if (!run.possible[m]) continue;
    const models::adapters::Held& h = run.steps[m].held;
    v.fullest = h.fullest;
    v.bytes = {h.base, h.adapters, h.gradients, h.master, h.moments, h.activations, h.temporary};
    // What frozen weights do not have runs out; the pairs have theirs with them.
    if (shown[i] != Method::full) v.bytes = {h.base, h.adapters + h.states(), 0, 0, 0, h.activations, h.temporary};
    const double over = h.total() - out.chip_bytes;
    v.note = over > 0 ? format_text(over, "B", 2) + " over" : format_text(-over, "B", 2) + " free";
  }
}

void arrange_pair(const Inputs& in, const Run& run, Picture& p) {
  p.inputs = run.inputs;
  p.outputs = run.outputs;
  p.pair = in.method != Method::full;
  p.series = in.method == Method::bottleneck;
  const double side = std::min(run.inputs, run.outputs), rank = as_double(in.rank);
  p.share = std::min(1.0, std::sqrt(rank / side));
  p.most_share = std::min(1.0, std::sqrt(as_double(max_rank) / side));
  p.wide_words = "W  " + sides(run.inputs, run.outputs);
  if (in.method == Method::full)
    p.wide_note = "all " + format_text(run.wide_parameters, "parameters") + " trained";
  else
    p.wide_note = in.method == Method::qlora ? "frozen, 4 bits" : "frozen";
  p.a_words = p.series ? "down" : "A";
  p.b_words = p.series ? "up" : "B";
  if (!p.pair) return;
  p.pair_words = "rank " + count_text(rank) + ": " + format_text(run.pair_parameters, "parameters");
  p.pair_note = format_text(100 * run.pair_parameters / run.wide_parameters, "%", 2) + " of W; widths on a root scale";
  if (!p.series) return;
  p.pair_words = "width " + count_text(rank) + ": down, activation, up";
  p.pair_note = "after each block; W stays as it is";
}

void arrange_bars(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const auto fill = [](const models::adapters::StepFlops& f) {
    return std::array<double, 4>{f.forward, f.recomputed, f.input_gradient, f.weight_gradient};
  };
  p.flops = {fill(run.steps[0].flops), fill(out.flops)};
  p.flops_note = in.method == Method::full ? "none saved"
                 : out.flops_saved > 0     ? "\xE2\x88\x92" + format_text(out.flops_saved, "%")
                                           : "+" + format_text(-out.flops_saved, "%");
  for (std::size_t m = 0; m < models::adapters::method_count; ++m) {
    if (!run.possible[m]) continue;
    const models::adapters::StepSeconds& s = run.steps[m].time;
    p.names.emplace_back(method_name(static_cast<Method>(m)));
    p.times.push_back({s.base, s.adapters, s.unpack, s.optimizer});
  }
}

/// A level over the whole axis of ranks.
Curve level(std::string label, std::string output, double value, Tint tint, bool dashed) {
  Curve c{.label = std::move(label), .output = std::move(output), .tint = tint, .dashed = dashed};
  c.add(1, value);
  c.add(16, value);
  return c;
}

void arrange_fit(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  Curve line{.label = "a pair next to each layer", .info = "trained here, rank by rank", .tint = Tint::series(0)};
  Curve dots{.kind = Curve::Kind::dots, .label = "trained ranks", .tint = Tint::series(0), .legend = false};
  Curve seen{.label = "on its own digits",
             .info = "where it falls on and the loss on others rises, the pair learns its digits by heart",
             .tint = Tint::series(0),
             .width = 1.5f,
             .dashed = true};
  double most = std::max({out.base_loss, out.fit_loss, out.full_fit_loss});
  for (const auto& [rank, tuned] : run.ranks) {
    line.add(as_double(rank), tuned->loss);
    dots.add(as_double(rank), tuned->loss);
    seen.add(as_double(rank), tuned->training_loss);
    dots.labels.push_back(format_text(100 * tuned->accuracy, "%", 2));
    most = std::max(most, tuned->loss);
  }
  p.fit = {level("before", "base_loss", out.base_loss, Tint(), true),
           level("all weights trained", "full_fit_loss", out.full_fit_loss, Tint::strong(), false), std::move(seen),
           std::move(line), std::move(dots)};
  p.fit_hi = 1.12 * most;
  p.fit_label = "rank " + std::to_string(in.fit_rank) + ": " + format_text(out.fit_loss, "", 2);
  p.fit_note = "with accuracy; first task: " + format_text(out.fit_kept, "%", 2) + " right, " +
               format_text(out.full_fit_kept, "%", 2) + " with all trained";
}

/// Adds the curve, dashed where not all of it fits the chip, and the part that fits on it.
void add_as_far_as_fits(Curve whole, double fit, std::vector<Curve>& to) {
  Curve within = whole;
  within.x.clear();
  within.y.clear();
  within.named = within.legend = false;
  for (std::size_t i = 0; i < whole.x.size(); ++i)
    if (whole.x[i] <= fit) within.add(whole.x[i], whole.y[i]);
  whole.dashed = within.x.size() < whole.x.size();
  const bool part = whole.dashed && !within.x.empty();
  to.push_back(std::move(whole));
  if (part) to.push_back(std::move(within));
}

void arrange_served(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  Curve batched{.label = "batched pairs",
                .info = "each adapter in the batch is read once",
                .output = "decode_s",
                .tint = Tint::series(0)};
  Curve merged{.label = "merged copies",
               .info = "one after the other, each reads its whole model",
               .output = "merged_decode_s",
               .tint = Tint::bad()};
  Curve base{.label = "base alone", .output = "base_decode_s", .tint = Tint()};
  p.served_lo = out.base_decode_s / 2;
  p.served_hi = out.decode_s;
  for (const ServedPoint& s : run.served) {
    batched.add(s.distinct, s.decode_s);
    merged.add(s.distinct, s.merged_s);
    base.add(s.distinct, out.base_decode_s);
    p.served_hi = std::max({p.served_hi, s.decode_s, s.merged_s});
  }
  p.served_hi *= 1.6;
  base.dashed = out.merged_fit < 1;
  p.served.push_back(std::move(base));
  add_as_far_as_fits(std::move(merged), out.merged_fit, p.served);
  add_as_far_as_fits(std::move(batched), out.adapters_fit, p.served);
  p.served_label = "+" + format_text(out.slowdown, "%", 2);
  p.served_note = count_text(as_double(in.served)) + " sequences; ";
  if (out.merged_fit < 1)
    p.served_note += "dashed: base and cache do not fit this chip";
  else
    p.served_note += count_text(out.adapters_fit) + " adapters of " + format_text(out.one_adapter_bytes, "B", 2) +
                     " fit, or " + count_text(out.merged_fit) + (out.merged_fit < 2 ? " copy" : " copies") +
                     (out.copies_fit ? "" : "; dashed: more");
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || run.served.empty()) return p;
  p.answer = answer_of(in, out);
  arrange_vessels(in, out, run, p);
  arrange_pair(in, run, p);
  arrange_bars(in, out, run, p);
  arrange_fit(in, out, run, p);
  arrange_served(in, out, run, p);
  p.doors = doors_of(in);
  return p;
}

}  // namespace chapters::training::adapters
