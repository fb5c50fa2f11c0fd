#include "models/parallel/planner/planner_job.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "models/parallel/collectives/collective_tuner.h"
#include "models/parallel/topology/topology_boxes.h"

namespace models::parallel {
namespace {

ChipGeneration generation_of(const Chip& chip) {
  const std::string& name = chip.architecture;
  if (chip.vendor == "AMD") return ChipGeneration::cdna;
  if (name.starts_with("Volta")) return ChipGeneration::volta;
  if (name.starts_with("Ampere")) return ChipGeneration::ampere;
  if (name.starts_with("Hopper")) return ChipGeneration::hopper;
  if (name.starts_with("Blackwell Ultra")) return ChipGeneration::blackwell_ultra;
  if (name.starts_with("Blackwell")) return ChipGeneration::blackwell;
  return ChipGeneration::other;
}

/// The chips of assets/measured/training-runs.json, and DeepSeek-V3's.
constexpr std::array<std::string_view, 11> compared_chips{"h800_sxm",    "v100_sxm2", "v100_16_sxm2", "a100_40_sxm",
                                                          "a100_80_sxm", "h100_sxm",  "h200_sxm",     "b200_sxm",
                                                          "gb200_gpu",   "b300_sxm",  "gb300_gpu"};

/// What large copies reach of PCIe: 26 of 31.5 GB/s of generation 4, 55 of 63 of generation 5 (bandwidthTest).
constexpr double host_link_share = 0.85;

std::int64_t usual_box(const Chip& chip) {
  if (chip.form_factor == "NVL72 tray") return 72;
  return chip.form_factor == "Grace Hopper" ? 4 : 8;
}

/// Chips that a pod's torus joins at most: "pod 4096".
std::int64_t pod_of(const Chip& chip) {
  constexpr std::string_view word = "pod ";
  std::int64_t chips = 0;
  if (!chip.form_factor.starts_with(word)) return 0;
  std::from_chars(chip.form_factor.data() + word.size(), chip.form_factor.data() + chip.form_factor.size(), chips);
  return chips;
}

/// Sides of a slice, as even as whole numbers make them, the longest last.
std::array<std::int64_t, 3> sides_of(std::int64_t chips, std::int64_t dimensions) {
  std::array<std::int64_t, 3> out{1, 1, 1};
  std::int64_t left = chips;
  for (std::int64_t d = 0; d + 1 < dimensions; ++d) {
    std::int64_t side = 1;
    const auto fits = [&](std::int64_t n) {
      std::int64_t volume = n;
      for (std::int64_t i = d + 1; i < dimensions; ++i) volume *= n;
      return volume <= left;
    };
    for (std::int64_t n = 1; fits(n); ++n)
      if (left % n == 0) side = n;
    out[static_cast<std::size_t>(d)] = side;
    left /= side;
  }
  out[static_cast<std::size_t>(dimensions - 1)] = left;
  return out;
}

/// The slice that the job's chips are, where their links are those of a torus: one link's rate and its latency are the
/// topology lab's.
void add_torus(const Chip& chip, PlannerCluster& c) {
  const std::int64_t pod = pod_of(chip), links = chip.interconnect.links.value_or(0);
  if (pod < 1 || links < 2 || chip.interconnect.name.find("torus") == std::string::npos) return;
  const std::int64_t dimensions = std::min<std::int64_t>(3, links / 2);
  c.gpus_per_node = std::min(c.gpus, pod);
  c.torus = sides_of(c.gpus_per_node, dimensions);
  const TopologyRate ici = ici_rate(chip);
  c.torus_link_bytes_per_s = ici.reached_bytes_per_s;
  c.torus_hop_s = ici.latency_s;
}

/// What the node's switches add, as the collectives lab has it.
void add_switches(const Chip& chip, PlannerCluster& c) {
  const auto box = collective_machine(chip, {.ranks = c.gpus_per_node, .ranks_per_node = c.gpus_per_node});
  if (!box) return;
  const InSwitchSums sums = in_switch_sums(*box);
  c.switch_bytes_per_s = sums.bytes_per_s;
  c.switch_latency_s = sums.latency_s;
}

}  // namespace

Result<PlannerCluster> planner_cluster(const Chip& chip, const PlannerSite& site, Format format) {
  using Outcome = Result<PlannerCluster>;
  PlannerCluster c;
  c.generation = generation_of(chip);
  c.curve = planner_curve(c.generation);
  const auto wide =
      chip.peak_flops_per_s(Format::bf16) ? chip.peak_flops_per_s(Format::bf16) : chip.peak_flops_per_s(Format::fp16);
  if (!wide)
    return Outcome::fail(chip.name + " states no 16-bit peak, in which training's products run; choose another chip.");
  const auto fast = format == Format::fp8 || format == Format::fp4 ? chip.peak_flops_per_s(format) : wide;
  if (!fast)
    return Outcome::fail(chip.name + " states no peak for " + std::string(format_label(format)) +
                         "; choose BF16 or another chip.");
  if (!chip.interconnect.bytes_per_s_per_direction)
    return Outcome::fail(chip.name + " states no link between chips; choose another chip.");
  c.gpus = site.gpus;
  c.gpus_per_node = site.gpus_per_node > 0 ? site.gpus_per_node : usual_box(chip);
  c.peak_flops_per_s = *wide;
  c.fast_peak_flops_per_s = *fast;
  c.memory_bytes = chip.memory_bytes;
  c.memory_bandwidth_bytes_per_s = chip.memory_bandwidth_bytes_per_s;
  c.link_inside_bytes_per_s = *chip.interconnect.bytes_per_s_per_direction;
  c.link_between_bytes_per_s = site.network_bytes_per_s > 0 ? site.network_bytes_per_s : c.curve.network_bytes_per_s;
  if (site.network_latency_s >= 0) c.curve.between_hop_s = site.network_latency_s;
  if (site.in_switch) add_switches(chip, c);
  if (site.in_network) {
    auto node = collective_machine(chip, {.ranks = c.gpus_per_node,
                                          .ranks_per_node = c.gpus_per_node,
                                          .nic_line_bytes_per_s = c.link_between_bytes_per_s,
                                          .nvls = site.in_switch,
                                          .in_network = true});
    if (node) c.adding_network = std::move(*node);
  }
  if (site.gpus_per_node == 0) add_torus(chip, c);
  constexpr int usual_generation = 5;
  c.host_link_bytes_per_s =
      pcie_bytes_per_s_per_direction(chip.pcie_generation.value_or(usual_generation)).value_or(0) * host_link_share;
  c.compared = std::find(compared_chips.begin(), compared_chips.end(), chip.id) != compared_chips.end();
  return Outcome::ok(c);
}

}  // namespace models::parallel
