#include "models/machine/kernel_rules_probe.h"

#include <algorithm>

// Nothing here is a measured share: a rung shows one once it has run on a GPU.
namespace models {
namespace {

/// A kernel that asks one thing of each of a few ports: the fullest of them is its bound, the first where none is full.
KernelPrediction fullest(std::initializer_list<std::pair<PortLoad, KernelLimit>> loads, std::string_view why) {
  KernelPrediction out{.bound = {1, loads.begin()->second}, .why = why, .published_source = {}};
  for (const auto& [load, limit] : loads) {
    out.ports.room[out.ports.count++] = load;
    if (load.supply < out.bound.share * load.demand) out.bound = {std::max(load.supply / load.demand, 1e-6), limit};
  }
  return out;
}

struct StrideRule {
  std::string_view rung;
  double sectors;  ///< that a warp's load of 32 words touches
  std::string_view why;
};
constexpr StrideRule stride_rules[] = {
    {"every_1", 4, "Four sectors of 32 bytes for a warp's 128: all of each is used."},
    {"every_2", 8, "Eight sectors for the same 128 bytes: each is fetched in both passes."},
    {"every_4", 16, "Sixteen sectors: each is fetched in all four passes."},
    {"every_8", 32, "A sector for each lane: each is fetched in all eight passes."},
    {"every_32", 32, "A sector for each lane: each is fetched in eight of the 32 passes."},
};

struct BankRule {
  std::string_view rung;
  double wavefronts;  ///< words that a warp's load wants of one bank, at most
  std::string_view why;
};
constexpr BankRule bank_rules[] = {
    {"stride_1", 1, "32 words in 32 banks: one wavefront a load."},
    {"stride_2", 2, "Two words in every second bank."},
    {"stride_4", 4, "Four words in every fourth bank."},
    {"stride_8", 8, "Eight words in every eighth bank."},
    {"stride_16", 16, "Sixteen words in each of two banks."},
    {"stride_32", 32, "32 words in one bank."},
    {"stride_33", 1, "33 and 32 have no common divisor: 32 words in 32 banks."},
};

struct IlpRule {
  std::string_view rung;
  double threads, loads;  ///< share of the threads that a multiprocessor holds; loads under way of each
  std::string_view why;
};
constexpr IlpRule ilp_rules[] = {
    {"quarter_1", 0.25, 1, "A quarter of the threads with 4 bytes under way each."},
    {"quarter_2", 0.25, 2, "A quarter of the threads with 8 bytes under way each."},
    {"quarter_4", 0.25, 4, "A quarter of the threads with 16 bytes under way each: as many as all have with one load."},
    {"full_1", 1, 1, "All threads with 4 bytes under way each."},
    {"full_2", 1, 2, "All threads with 8 bytes under way each."},
    {"full_4", 1, 4, "All threads with 16 bytes under way each."},
};

struct SweepRule {
  std::string_view rung;
  double bytes;
};
constexpr double mebibyte = 1 << 20;
constexpr SweepRule sweep_rules[] = {
    {"mib_4", 4 * mebibyte},   {"mib_16", 16 * mebibyte},   {"mib_24", 24 * mebibyte},
    {"mib_32", 32 * mebibyte}, {"mib_48", 48 * mebibyte},   {"mib_64", 64 * mebibyte},
    {"mib_96", 96 * mebibyte}, {"mib_128", 128 * mebibyte}, {"mib_256", 256 * mebibyte},
};

template <class Rules>
const auto* rule_of(const Rules& rules, std::string_view rung) {
  const auto* at = std::find_if(std::begin(rules), std::end(rules), [&](const auto& r) { return r.rung == rung; });
  return at == std::end(rules) ? nullptr : at;
}

KernelPrediction of_launches(std::string_view rung, const GpuPorts& gpu) {
  const PortLoad device{"device, a kernel", "\xC2\xB5s", gpu.node_s * 1e6, gpu.node_s * 1e6};
  const auto host = [&](double s) { return PortLoad{"host, a launch", "\xC2\xB5s", s * 1e6, gpu.node_s * 1e6}; };
  if (rung == "sync")
    return fullest({{device, KernelLimit::latency}, {host(gpu.call_s + gpu.node_s), KernelLimit::latency}},
                   "The host's call and then the kernel, and what it takes the host to wake: nothing overlaps.");
  if (rung == "stream")
    return fullest({{device, KernelLimit::latency}, {host(gpu.call_s), KernelLimit::latency}},
                   "The host calls while the device works: the slower of the two sets the pace.");
  return fullest({{device, KernelLimit::latency}}, "One call for all: the device alone sets the pace.");
}

}  // namespace

std::optional<KernelPrediction> predict_probe_kernel(std::string_view ladder, std::string_view rung,
                                                     const GpuPorts& gpu) {
  const double dram = gpu.dram_bytes_per_s;
  if (ladder == "cuda-stride")
    if (const auto* r = rule_of(stride_rules, rung)) {
      auto out = fullest({{{"memory", "B/s", dram * r->sectors / 4, dram}, KernelLimit::memory}}, r->why);
      out.moved = r->sectors / 4;
      return out;
    }
  if (ladder == "cuda-banks")
    if (const auto* r = rule_of(bank_rules, rung))
      return fullest({{{"shared memory", "wavefronts/cycle", r->wavefronts, 1}, KernelLimit::shared_memory}}, r->why);
  if (ladder == "cuda-ilp")
    if (const auto* r = rule_of(ilp_rules, rung))
      return fullest({{{"memory", "B/s", dram, dram}, KernelLimit::memory},
                      {{"bytes under way", "B", dram * gpu.loaded_latency_s / gpu.multiprocessors,
                        gpu.threads * r->threads * 4 * r->loads},
                       KernelLimit::latency}},
                     r->why);
  if (ladder == "cuda-l2")
    if (const auto* r = rule_of(sweep_rules, rung)) {
      const double missed = std::max(0.0, 1 - gpu.l2_bytes / r->bytes);
      return fullest(
          {{{"L2", "B/s", gpu.l2_bytes_per_s, gpu.l2_bytes_per_s}, KernelLimit::memory},
           {{"memory", "B/s", missed * gpu.l2_bytes_per_s, dram}, KernelLimit::memory}},
          missed > 0 ? "At best L2 keeps its own size of the working set from pass to pass, and memory brings the rest."
                     : "The working set is no larger than L2: at best all of it stays there.");
    }
  if (ladder == "cuda-launch" && (rung == "sync" || rung == "stream" || rung == "graph")) return of_launches(rung, gpu);
  if (ladder == "cuda-host-copy" && (rung == "pageable" || rung == "pinned" || rung == "chunked"))
    return fullest({{{"link, both ways", "", rung == "chunked" ? 1.0 : 2.0, 1},
                     rung == "chunked" ? KernelLimit::memory : KernelLimit::latency}},
                   rung == "pageable" ? "One way at a time, and the CPU copies every byte once more."
                   : rung == "pinned" ? "One way at a time: the other half of the link is idle."
                                      : "Both ways at once.");
  return std::nullopt;
}

}  // namespace models
