#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "chapters/fleet/scaling_tax/lab.h"
#include "models/base/integer_math.h"

/// What others published: MFU by GPUs, and staircases stage by stage.
namespace chapters::fleet::scaling_tax {
namespace {

using models::as_double;
using widgets::Curve, widgets::Tint;

struct PublishedPoint {
  double gpus, mfu;
};
/// MegaScale, NSDI 2024, table 2 (175B on Ampere, batches of 768 and 6,144) and Llama 3, 2024, table 4 (405B on H100,
/// from the printed TFLOP/s over 989.5).
constexpr std::array<PublishedPoint, 4> megascale_768{{{256, 65.3}, {512, 63.5}, {768, 61.3}, {1024, 59.0}}};
constexpr std::array<PublishedPoint, 2> megascale_6144{{{3072, 59.1}, {12288, 55.2}}};
constexpr std::array<PublishedPoint, 2> megatron_768{{{256, 53.0}, {1024, 44.7}}};
constexpr std::array<PublishedPoint, 3> megatron_6144{{{3072, 48.7}, {6144, 47.8}, {12288, 41.2}}};
constexpr std::array<PublishedPoint, 2> llama3{{{8192, 43.5}, {16384, 40.4}}};

template <std::size_t N>
Curve published_curve(std::string_view label, const std::array<PublishedPoint, N>& points, Tint tint,
                      widgets::Marker marker, bool legend, std::string_view info) {
  Curve c{.kind = Curve::Kind::dots,
          .label = std::string(label),
          .info = std::string(info),
          .tint = tint,
          .marker = marker,
          .legend = legend,
          .given = true};
  for (const PublishedPoint& q : points) c.add(q.gpus, q.mfu);
  return c;
}

void arrange_runs(const Outputs& out, Picture& p) {
  using widgets::Marker;
  Curve yours{.label = "this model, yours", .output = "model_mfu", .tint = Tint::yours(), .width = 2.5f};
  for (const CanaryRow& r : out.rungs) yours.add(as_double(r.gpus), r.past_mfu);
  constexpr std::string_view scale = "MegaScale, NSDI 2024, table 2: 175B on Ampere", meta = "Llama 3, 2024, table 4";
  p.runs = {
      published_curve("MegaScale", megascale_768, Tint::strong(), Marker::circle, true, scale),
      published_curve("MegaScale, batch 6,144", megascale_6144, Tint::strong(), Marker::circle, false, scale),
      published_curve("Megatron-LM", megatron_768, Tint::series(2), Marker::square, true, scale),
      published_curve("Megatron-LM, batch 6,144", megatron_6144, Tint::series(2), Marker::square, false, scale),
      published_curve("Llama 3 405B", llama3, Tint::series(4), Marker::triangle, true, meta),
      std::move(yours),
  };
  p.runs_hi = std::max(20'000.0, out.rungs.empty() ? 0 : as_double(out.rungs.back().gpus));
}

/// A published tread: percent of the chip's dense peak.
struct PublishedStep {
  std::string_view name;
  double mfu;
  bool at_least = false;
};
/// Best product: a search over shapes (stas00, ML engineering). GPUs: Llama 3, 2024, table 4, over 989.5 TFLOP/s. The
/// whole run: 6 N D of 15.6e12 tokens over 30.84 million GPU-hours.
constexpr std::array<PublishedStep, 5> llama3_steps{{{"best matmul", 80.3},
                                                     {"8,192 GPUs", 43.5},
                                                     {"16,384 GPUs", 40.4},
                                                     {"131,072 tokens", 38.4},
                                                     {"the whole run", 34.6}}};
/// MegaScale, NSDI 2024, table 2; more than 90 % of the time effective, section 6.3.
constexpr std::array<PublishedStep, 6> megascale_steps{{{"best matmul", 86.9},
                                                        {"256 GPUs", 65.3},
                                                        {"1,024 GPUs", 59.0},
                                                        {"3,072, batch x 8", 59.1},
                                                        {"12,288 GPUs", 55.2},
                                                        {"over time", 49.7, true}}};
/// The same, table 3: nine changes on 256 GPUs, of which these are the steps that it prints.
constexpr std::array<PublishedStep, 6> ladder_steps{{{"baseline", 47.7},
                                                     {"window attention", 53.3},
                                                     {"tensor overlap", 55.5},
                                                     {"data overlap", 59.5},
                                                     {"operators", 61.2},
                                                     {"LAMB, batch x 3", 65.3}}};

std::string one_decimal(double mfu) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f", mfu);
  return text;
}

template <std::size_t N>
OtherStairs other_stairs(std::string_view name, std::string_view note, const std::array<PublishedStep, N>& steps) {
  OtherStairs out{.name = std::string(name), .note = std::string(note)};
  for (const PublishedStep& s : steps)
    out.steps.push_back(
        {std::string(s.name), (s.at_least ? "\xE2\x89\xA5 " : "") + one_decimal(s.mfu), s.mfu, s.at_least});
  return out;
}

OtherStairs your_stairs(const Outputs& out) {
  OtherStairs yours{.name = "This model, yours", .note = "computed", .yours = true};
  const auto add = [&](std::string_view name, double mfu) {
    yours.steps.push_back({std::string(name), one_decimal(mfu), mfu});
  };
  add("best matmul", out.kernel_mfu);
  add("one GPU", out.gpu_mfu);
  add("one node", out.node_mfu);
  add("all GPUs", out.model_mfu);
  add("a month of it", out.model_mfu * out.goodput_used / 100);
  return yours;
}

}  // namespace

void arrange_published(const Outputs& out, Picture& p) {
  arrange_runs(out, p);
  p.others.push_back(your_stairs(out));
  p.others.push_back(other_stairs("Llama 3 405B", "H100, measured", llama3_steps));
  p.others.push_back(other_stairs("MegaScale 175B", "Ampere, measured", megascale_steps));
  p.others.push_back(other_stairs("MegaScale on 256", "change by change", ladder_steps));
}

}  // namespace chapters::fleet::scaling_tax
