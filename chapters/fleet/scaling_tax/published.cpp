#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "chapters/fleet/scaling_tax/lab.h"

/// What others published: staircases stage by stage.
namespace chapters::fleet::scaling_tax {
namespace {

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
                                                     {"whole run, 6ND", 34.6}}};
/// MegaScale, NSDI 2024, table 2; more than 90 % of the time effective, section 6.3.
constexpr std::array<PublishedStep, 6> megascale_steps{{{"best matmul", 86.9},
                                                        {"256 GPUs", 65.3},
                                                        {"1,024 GPUs", 59.0},
                                                        {"3,072, batch × 8", 59.1},
                                                        {"12,288 GPUs", 55.2},
                                                        {"over time", 49.7, true}}};
/// The same, table 3: eight changes on 256 GPUs. A tread of two has the name of the one that won more: tensor overlap
/// 2.2 points after window attention's 1.0, operators 1.7 after data overlap's 1.5, LAMB 3.0 after 1.1 of small ones.
constexpr std::array<PublishedStep, 6> ladder_steps{{{"baseline", 47.7},
                                                     {"parallel block", 52.3},
                                                     {"tensor overlap +1", 55.5},
                                                     {"pipeline overlap", 58.0},
                                                     {"operators +1", 61.2},
                                                     {"LAMB, batch x3 +1", 65.3}}};

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
  OtherStairs yours{.name = "Yours", .note = "as on the staircase", .yours = true};
  const auto add = [&](std::string_view name, double mfu) {
    yours.steps.push_back({std::string(name), one_decimal(mfu), mfu});
  };
  add("best matmul", out.kernel_mfu);
  add("one GPU", out.gpu_mfu);
  add("one node", out.node_mfu);
  add("all GPUs", out.fleet_mfu);
  add("a month of it", out.effective_mfu);
  return yours;
}

}  // namespace

void arrange_published(const Outputs& out, Picture& p) {
  p.others.push_back(your_stairs(out));
  p.others.push_back(other_stairs("Llama 3 405B", "H100, measured", llama3_steps));
  p.others.push_back(other_stairs("MegaScale 175B", "Ampere, measured", megascale_steps));
  p.others.push_back(other_stairs("MegaScale on 256", "8 changes; +1: one more", ladder_steps));
}

}  // namespace chapters::fleet::scaling_tax
