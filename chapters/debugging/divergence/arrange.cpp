#include <algorithm>
#include <bit>

#include "chapters/debugging/divergence/lab.h"
#include "widgets/number/number.h"

namespace chapters::debugging::divergence {
namespace {

using namespace models::debugging;
using widgets::format_text;

/// Shade of a difference on the ramp of logarithms; -1: every bit is equal, 0: no number.
int shade_of(float difference) {
  if (difference == 0) return -1;
  if (!std::isfinite(difference)) return 0;
  const double low = std::log(min_difference), high = std::log(max_difference);
  const double at = (std::log(static_cast<double>(difference)) - low) / (high - low);
  return 1 + std::clamp(static_cast<int>(at * shades), 0, shades - 1);
}

void arrange_cells(const Inputs& in, const Run& run, Picture& p) {
  const auto& layers = run.second.picture.differences[static_cast<std::size_t>(in.shown)];
  const int steps = static_cast<int>(std::min(static_cast<std::size_t>(in.steps), run.second.losses.size()));
  for (int l = 0; l < twin_layers; ++l) {
    const std::vector<float>& row = layers[static_cast<std::size_t>(l)];
    for (int s = 0; s < std::min(steps, static_cast<int>(row.size())); ++s) {
      const int shade = shade_of(row[static_cast<std::size_t>(s)]);
      if (shade < 0) continue;
      if (!p.stretches.empty() && p.stretches.back().layer == l && p.stretches.back().to == s &&
          p.stretches.back().shade == shade)
        p.stretches.back().to = s + 1;
      else
        p.stretches.push_back({.layer = l, .from = s, .to = s + 1, .shade = shade});
    }
  }
  if (steps < static_cast<int>(in.steps)) {
    p.ended_at = steps;
    p.ended_words = run.second.stopped ? "ECC stops the run" : "no numbers any more";
  }
  p.shown_words = "difference of " + std::string(tensor_name(in.shown)) + "s";
  p.loudest.assign(static_cast<std::size_t>(in.steps), -1);
  p.cursor_words.assign(static_cast<std::size_t>(in.steps), {});
  for (int s = 0; s < static_cast<int>(in.steps); ++s) {
    const auto at = static_cast<std::size_t>(s);
    std::string& words = p.cursor_words[at];
    words = "step " + std::to_string(s) + ": ";
    if (s >= steps) {
      words += "the second run has ended";
      continue;
    }
    float most = 0;
    for (int l = 0; l < twin_layers; ++l) {
      const float here = layers[static_cast<std::size_t>(l)][at];
      if (here <= most) continue;
      most = here;
      p.loudest[at] = l;
    }
    if (p.loudest[at] < 0)
      words += "every bit of every layer is equal";
    else if (std::isfinite(most))
      words += "layer " + std::to_string(p.loudest[at]) + " is loudest, " +
               format_text(100 * static_cast<double>(most), "%", 2) + " off";
    else
      words += "layer " + std::to_string(p.loudest[at]) + " holds no numbers";
  }
}

void arrange_probes(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  for (const HashProbe& probe : run.search.probes)
    if (probe.level != ProbeLevel::cell)
      p.probes.push_back({.lo = probe.lo, .hi = probe.hi, .at = probe.at, .equal = probe.equal});
  const auto cells = static_cast<std::size_t>(out.comparisons) - p.probes.size();
  p.probe_words =
      std::to_string(p.probes.size()) + (p.probes.size() == 1 ? " comparison" : " comparisons") + " of steps";
  if (cells > 0) p.probe_words += ", " + std::to_string(cells) + " within the step";
  if (out.replayed_steps > 0)
    p.probe_words += ", " + std::to_string(static_cast<int>(out.replayed_steps)) + " steps run again";
  else if (in.interval == 1 && out.in_order > out.comparisons)
    p.probe_words += "; in order " + std::to_string(static_cast<int>(out.in_order));
}

void arrange_losses(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const bool same = std::isnan(out.silent_steps);  // also where one number alone differed for a step
  widgets::Curve first{.label = "first run",
                       .info = "loss of the batch, mean cross entropy",
                       .output = "loss_first",
                       .tint = widgets::Tint::strong(),
                       .width = 2.0f,
                       .named = false,
                       .given = true},
      second{.label = "second run",
             .info = "the same batches, with the fault",
             .output = "loss_second",
             .tint = same ? widgets::Tint::good() : widgets::Tint::bad(),
             .width = 1.3f,
             .dashed = same,
             .named = false};
  for (std::size_t s = 0; s < static_cast<std::size_t>(in.steps); ++s) {
    const double loss = run.healthy->passes[s].loss;
    first.add(static_cast<double>(s), loss);
    if (s >= 5) p.most_loss = std::max(p.most_loss, loss);  // the first losses, of untrained weights, leave the frame
  }
  p.most_loss *= 1.05;
  const std::size_t from = out.equal ? 0 : static_cast<std::size_t>(out.first_step);
  for (std::size_t s = from; s < run.second.losses.size(); ++s) {
    const double loss = run.second.losses[s];
    second.add(static_cast<double>(s), std::isfinite(loss) ? std::min(loss, 2 * p.most_loss) : std::nan(""));
  }
  p.last_step = static_cast<double>(in.steps - 1);
  if (!out.equal && in.fixed_order && out.silent_steps > 0) {
    p.losses.push_back({.kind = widgets::Curve::Kind::area,
                        .label = "apart, and not to be seen",
                        .info = "from the first difference until the losses part",
                        .output = "silent_steps",
                        .tint = widgets::Tint::bad(),
                        .alpha = 0.13f,
                        .width = 0,
                        .named = false,
                        .x = {out.first_step, out.first_step + out.silent_steps},
                        .y = {p.most_loss, p.most_loss}});
    const auto steps = static_cast<int>(out.silent_steps);
    p.silence_at = out.first_step + 0.03 * out.silent_steps;
    p.silence_words = std::to_string(steps) + (steps == 1 ? " step" : " steps") + " apart, nothing to see";
  }
  p.losses.push_back(std::move(first));
  p.losses.push_back(std::move(second));
  if (std::isnan(out.loss_parts_step)) return;
  p.parts_step = out.loss_parts_step;
  p.parts_words = "more than " + format_text(out.visible_nats, "", 2) + " nats apart";
}

void arrange_ring(const Inputs& in, const Outputs& out, Picture& p) {
  if (out.equal) return;
  p.ring_layer = static_cast<int>(out.first_layer);
  p.ring_step = static_cast<int>(out.first_step);
  p.ring_bold =
      "Layer " + std::to_string(p.ring_layer) + ", step " + std::to_string(p.ring_step) + ": the first difference";
  p.ring_words = "in its " + out.first_tensor + "s";
  if (out.first_step + 1 < static_cast<double>(in.steps) && out.layers_next > 0)
    p.ring_words += "; a step later in " +
                    (out.layers_next == twin_layers ? "all" : std::to_string(static_cast<int>(out.layers_next))) +
                    (out.layers_next == 1 ? " layer" : " layers");
}

void arrange_value(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  p.has_value = run.second.flipped.has_value();
  if (!p.has_value) {
    p.value_words = "No bit of the value stays wrong";
    return;
  }
  const std::array<float, 2> values{run.second.flipped->before, run.second.flipped->after};
  for (std::size_t v = 0; v < 2; ++v) {
    const auto word = std::bit_cast<std::uint32_t>(values[v]);
    for (int bit = 31; bit >= 0; --bit) p.bits[v].push_back((word >> bit) & 1u);
    p.values[v] = std::isfinite(values[v]) ? format_text(static_cast<double>(values[v]), "", 6) : "no number";
  }
  p.value_words = "One " + std::string(tensor_name(in.tensor)) + " of layer " + std::to_string(in.layer) +
                  (out.ecc_outcome == EccOutcome::corrected ? ": ECC gave it back" : ", before and after");
}

void arrange_ecc(Picture& p) {
  for (int flips = 1; flips <= 4; ++flips) {
    const SecdedCounts& c = secded_counts(flips);
    const double each = 100 / static_cast<double>(c.patterns);
    auto& segments = p.ecc_segments[static_cast<std::size_t>(flips - 1)];
    segments = {
        {{.label = "corrected", .value = each * static_cast<double>(c.corrected), .tint = widgets::Tint::good()},
         {.label = "detected, the run stops",
          .value = each * static_cast<double>(c.detected),
          .tint = widgets::Meaning::idle},
         {.label = "another word, unnoticed",
          .value = each * static_cast<double>(c.miscorrected + c.unseen),
          .tint = widgets::Tint::bad(),
          .hatched = true}}};
  }
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  if (out.reason.empty() && run.logs) return arrange_logs(in, out, *run.logs);
  Picture p;
  if (!out.reason.empty() || !run.healthy) return p;
  p.answer = answer_of(in, out);
  arrange_cells(in, run, p);
  arrange_probes(in, out, run, p);
  arrange_losses(in, out, run, p);
  arrange_ring(in, out, p);
  arrange_value(in, out, run, p);
  arrange_ecc(p);
  return p;
}

}  // namespace chapters::debugging::divergence
