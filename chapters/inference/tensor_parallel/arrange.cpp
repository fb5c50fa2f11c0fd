#include <algorithm>
#include <cmath>

#include "chapters/inference/tensor_parallel/lab.h"
#include "chapters/mechanism/short_name.h"
#include "widgets/number/number.h"

namespace chapters::inference::tensor_parallel {
namespace {

using widgets::figure, widgets::format_text;

std::string count(double n) { return format_text(n, ""); }

std::string chips_of(const Inputs& in, double n) {
  const auto chip = find_chip(in.chip);
  const std::string name = chip ? short_name((*chip)->short_name, 14) : std::string("chip");
  return n == 1 ? "one " + name : figure(n, "") + " " + name;
}

std::string model_name(const Inputs& in) {
  const auto model = find_model(in.model);
  return model ? short_name((*model)->name, 26) : std::string("the model");
}

/// Whether twice as many chips would be faster, or which number is the fastest.
std::string verdict_of(const Inputs& in, const Outputs& out) {
  const std::string place =
      "A token of " + model_name(in) + " on " + chips_of(in, static_cast<double>(in.tensor_parallel));
  const std::string token = figure(out.now.time_s, "s"), best = figure(out.best_tensor_parallel, "");
  if (!out.now.slab.fits)
    return place + " cannot be: a chip would hold " + figure(out.now.slab.held_bytes, "B") +
           (std::isnan(out.best_tensor_parallel) ? "." : "; " + best + " chips are the fastest that fit.");
  const bool others_fitted =
      std::isnan(out.now.expected_s) &&
      std::any_of(out.slabs.begin(), out.slabs.end(), [](const SlabRow& r) { return std::isfinite(r.expected_s); });
  if (others_fitted)
    return place + " takes " + token + " at the roofs; what engines take was seen on up to eight chips.";
  if (out.best_tensor_parallel != static_cast<double>(in.tensor_parallel))
    return place + " takes " + token + "; on " + (out.best_tensor_parallel == 1 ? "one chip" : best + " chips") +
           ", the fastest number, " + figure(out.best_s, "s") + ".";
  const std::string says = place + " takes " + token + ", the fastest number of chips";
  return std::isnan(out.next_s) ? says + "." : says + "; on twice as many " + figure(out.next_s, "s") + ".";
}

/// Where the time goes, and what a token costs.
std::string reason_of(const Outputs& out) {
  std::string says = "Reading takes " + figure(out.read_s, "s") + " of it";
  if (out.now.slab.chips > 1) says += ", all-reduces " + figure(out.communication_time_s, "s");
  if (std::isnan(out.price_ratio) || !out.now.slab.fits) return says + ".";
  if (out.price_ratio < 1.005) return says + "; no number of chips makes a token cheaper.";
  return says + "; a token costs " + figure(out.price_ratio, widgets::times_unit) + " the least chip time.";
}

Slab slab_of(const SlabRow& row) {
  Slab s;
  s.chips = row.slab.chips;
  s.name = count(static_cast<double>(s.chips)) + (s.chips == 1 ? " chip" : " chips");
  s.weights = row.slab.weights_s;
  s.cache = row.slab.cache_s;
  s.talk = row.slab.talk_s();
  s.rest = row.rest_s;
  s.time = row.time_s;
  s.divided = std::isfinite(row.divided_s) ? row.divided_s : 0;
  s.total = format_text(row.time_s, "s");
  s.price = format_text(row.chip_s_per_token, "s") + " chip time";
  s.fits = row.slab.fits;
  s.yours = row.yours;
  if (!s.fits) s.why = "needs " + format_text(row.slab.held_bytes, "B") + " per chip";
  return s;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty() || out.slabs.empty()) return p;
  p.answer = verdict_of(in, out) + "\n" + reason_of(out);
  p.expected = !out.engine.empty();
  for (const SlabRow& row : out.slabs) {
    p.slabs.push_back(slab_of(row));
    p.rest = p.rest || row.rest_s > 1e-3 * row.time_s;
  }
  if (std::isfinite(out.next_gain_s))
    p.difference = (out.next_gain_s > 0 ? "\xE2\x88\x92" : "+") + format_text(std::abs(out.next_gain_s), "s");
  for (std::size_t i = 0; i < run.times.size(); ++i) {
    const SlabRow& row = out.slabs[i];
    widgets::Curve curve{.label = p.slabs[i].name,
                         .output = row.yours ? "token_s" : "",
                         .tint = row.yours ? widgets::Tint::yours() : widgets::Tint::ramp(i + 1, run.times.size() + 1),
                         .width = row.yours ? 3.0f : 1.5f};
    for (std::size_t k = 0; k < run.batches.size(); ++k) curve.add(run.batches[k], run.times[i][k]);
    if (curve.x.size() > 1) p.against_batch.push_back(std::move(curve));
  }
  return p;
}

}  // namespace chapters::inference::tensor_parallel
