#include <algorithm>
#include <cmath>

#include "chapters/inference/phases/lab.h"
#include "chapters/mechanism/short_name.h"
#include "widgets/number/number.h"

namespace chapters::inference::phases {
namespace {

using widgets::Curve, widgets::figure, widgets::format_text;

/// "Llama 3 8B on one H100 PCIe"
std::string place_text(const Inputs& in) {
  const auto model = find_model(in.model);
  const auto chip = find_chip(in.chip);
  if (!model || !chip) return "The model";
  const std::string n = in.tensor_parallel == 1 ? "one" : format_text(static_cast<double>(in.tensor_parallel), "");
  return short_name((*model)->name, 26) + " on " + n + " " + short_name((*chip)->short_name, 14);
}

/// Whether decode waits for bytes or for arithmetic, and what twice of it gives.
std::string decode_text(const Inputs& in, const Outputs& out) {
  const bool computes = out.now.decode.computes();
  const Lane& faster = computes ? out.faster_flops : out.faster_bytes;
  return "Decode of " + place_text(in) + (computes ? " waits for arithmetic" : " waits for bytes") + ": twice the " +
         (computes ? "FLOP/s" : "bandwidth") + " gives " + figure(faster.tokens_per_s, "") + " tokens/s, not " +
         figure(out.now.tokens_per_s, "") + ".";
}

/// The same of prefill, with its place in the request.
std::string prefill_text(const Outputs& out) {
  const std::string first = figure(out.now.first_token_s, "s") + " of " + figure(out.now.request_s, "s");
  if (!out.now.prefill.computes())
    return "So does prefill: the prompt is so short that reading the weights takes longer, " + first + ".";
  return "Prefill computes, " + first + "; twice the FLOP/s ends it " + figure(out.first_token_gain_s, "s") +
         " sooner.";
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (out.fits_batch < 1)
    return decode_text(in, out) + "\nBut no such request fits next to the weights on these chips.";
  if (out.fits_batch < static_cast<double>(in.batch))
    return decode_text(in, out) + "\nBut only " + figure(out.fits_batch, "") + " of " +
           figure(static_cast<double>(in.batch), "") + " such requests fit next to the weights on these chips.";
  std::string second = prefill_text(out);
  if (out.now.decode.computes() && !out.now.prefill.computes())
    second = "Prefill waits for bytes: reading the weights takes longer than the short prompt's arithmetic.";
  return decode_text(in, out) + "\n" + second;
}

void arrange_walk(const Outputs& out, const Run& run, Picture& p) {
  const double peak = run.machine.peak_flops_per_s, low = 0.25,
               high = std::max(4 * out.ridge, 4 * out.intensity_prefill);
  Curve roof{.label = "roof",
             .info = "min(peak, intensity x bandwidth)",
             .tint = widgets::Tint::strong(),
             .legend = false,
             .given = true};
  roof.add(low, low * run.machine.bandwidth_bytes_per_s);
  roof.add(out.ridge, peak);
  roof.add(high, peak);
  p.walk.push_back(std::move(roof));
  Curve walk{.kind = Curve::Kind::dots,
             .label = "decode, batches that fit",
             .tint = widgets::Meaning::memory_bound,
             .marker = widgets::Marker::circle,
             .radius = 4};
  for (std::size_t i = 0; i < run.batches.size(); ++i) walk.add(run.intensity[i], run.flops_per_s[i]);
  if (!walk.x.empty()) p.walk.push_back(std::move(walk));
  Curve prefill{.kind = Curve::Kind::dots,
                .label = "prefill",
                .output = "intensity_prefill",
                .tint = widgets::Meaning::compute_bound,
                .marker = widgets::Marker::square,
                .radius = 7,
                .labels = {"prefill"}};
  const double rate = out.prefill_work.flops() / out.now.first_token_s / (out.peak_flops_per_s / peak);
  prefill.add(out.intensity_prefill, rate);
  p.walk.push_back(std::move(prefill));
  Curve now{.kind = Curve::Kind::dots,
            .label = "decode now",
            .output = "intensity_decode",
            .tint = widgets::Tint::yours(),
            .radius = 7,
            .labels = {"decode now"}};
  p.now_flops_per_s = p.lanes[0].step_flops * peak;
  now.add(out.intensity_decode, p.now_flops_per_s);
  p.walk.push_back(std::move(now));
}

void arrange_batch(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  Curve rate{.label = "tokens a second, all requests",
             .info = "batch / step",
             .output = "decode_tokens_per_s",
             .tint = widgets::Tint::series(0)};
  for (std::size_t i = 0; i < run.batches.size(); ++i) rate.add(run.batches[i], run.tokens_per_s[i]);
  Curve now{.kind = Curve::Kind::dots,
            .label = "now",
            .output = "decode_tokens_per_s",
            .tint = widgets::Tint::yours(),
            .legend = false};
  now.add(static_cast<double>(in.batch), out.now.tokens_per_s);
  if (rate.x.size() > 1) p.batch.push_back(std::move(rate));
  p.batch.push_back(std::move(now));
}

/// A lane on a chip whose roofs are so many times those of the chip as it is.
AreaLane area_lane(const Inputs& in, const Outputs& out, const Lane& lane, double flops_scale, double bytes_scale) {
  const double peak = out.peak_flops_per_s * flops_scale / in.flops_scale,
               bandwidth = out.bandwidth_bytes_per_s * bytes_scale / in.bandwidth_scale;
  AreaLane a{.flops_scale = flops_scale,
             .bytes_scale = bytes_scale,
             .prefill_s = lane.prefill.time_s,
             .attention_s = lane.prefill.attention_s,
             .step_s = lane.decode.time_s,
             .request_s = lane.request_s};
  a.prefill_flops = out.prefill_work.matmul_flops / a.prefill_s / peak;
  a.prefill_bytes = out.prefill_work.bytes() / a.prefill_s / bandwidth;
  a.step_flops = out.decode_work.flops() / a.step_s / peak;
  a.step_weights = out.decode_work.weight_bytes / a.step_s / bandwidth;
  a.step_caches = out.decode_work.cache_bytes / a.step_s / bandwidth;
  a.detail = "prefill " + format_text(lane.first_token_s, "s") + ", then " +
             format_text(static_cast<double>(in.answer), "") + (in.answer == 1 ? " step of " : " steps of ") +
             format_text(lane.decode.time_s, "s");
  return a;
}

void arrange_lanes(const Inputs& in, const Outputs& out, Picture& p) {
  const auto won = [](double s, const char* where) {
    return s > 0 ? format_text(s, "s") + " won" + where : std::string("nothing won");
  };
  p.lanes.push_back(area_lane(in, out, out.now, in.flops_scale, in.bandwidth_scale));
  p.lanes.push_back(area_lane(in, out, out.faster_flops, 2 * in.flops_scale, in.bandwidth_scale));
  p.lanes.push_back(area_lane(in, out, out.faster_bytes, in.flops_scale, 2 * in.bandwidth_scale));
  p.lanes[0].name = in.tensor_parallel > 1 ? "These chips" : "This chip";
  p.lanes[1].name = "Twice the FLOP/s";
  p.lanes[1].words = won(out.flops_gain_s, out.now.decode.computes() ? "" : ", all before the first token");
  if (out.faster_flops.request_s < out.now.request_s && out.flops_gain_s < 1e-3 * out.now.request_s)
    p.lanes[1].words = "next to nothing won";
  p.lanes[2].name = "Twice the bandwidth";
  p.lanes[2].words = won(out.bytes_gain_s, "");
  if (out.engine.empty()) return;
  Lane seen = out.now;
  seen.decode.time_s = out.expected_step_s;
  seen.request_s = out.expected_request_s;
  AreaLane& lane = p.lanes.emplace_back(area_lane(in, out, seen, in.flops_scale, in.bandwidth_scale));
  lane.name = "As " + out.engine + " was seen to decode";
  lane.detail = "steps of " + format_text(out.expected_step_s, "s") + "; prefill at the bound";
  lane.words = format_text(out.expected_tokens_per_s, "tokens/s") + " expected";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  p.answer = answer_of(in, out);
  arrange_lanes(in, out, p);
  p.peak_words = format_text(out.peak_flops_per_s, "FLOP/s");
  p.bandwidth_words = format_text(out.bandwidth_bytes_per_s, "B/s");
  const double read = out.decode_work.bytes();
  p.decode_words = format_text(static_cast<double>(in.answer), "") + (in.answer == 1 ? " step" : " steps") +
                   ", each reads " + format_text(read, "B");
  p.used_words = "matrix units " + widgets::format_percent(p.lanes[0].step_flops, 2) + " used";
  arrange_walk(out, run, p);
  arrange_batch(in, out, run, p);
  return p;
}

}  // namespace chapters::inference::phases
