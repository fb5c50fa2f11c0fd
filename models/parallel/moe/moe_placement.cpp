#include "models/parallel/moe/moe_placement.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace models::parallel {
namespace {

/// A slot's expert and the load of one of its copies.
struct MoeSlot {
  std::int32_t expert = 0;
  double load = 0;
};
using MoeBins = std::vector<std::vector<MoeSlot>>;

double bin_load(const std::vector<MoeSlot>& bin) {
  double sum = 0;
  for (const MoeSlot& slot : bin) sum += slot.load;
  return sum;
}

/// Heaviest first, each to the emptiest bin with room; a bin that has the expert already only where no other has room.
MoeBins pack_slots(std::vector<MoeSlot> slots, std::size_t bins) {
  std::stable_sort(slots.begin(), slots.end(), [](const MoeSlot& a, const MoeSlot& b) { return a.load > b.load; });
  const std::size_t room = slots.size() / bins;
  MoeBins out(bins);
  std::vector<double> load(bins, 0.0);
  for (const MoeSlot& slot : slots) {
    std::size_t best = bins;
    bool best_has = true;
    for (std::size_t b = 0; b < bins; ++b) {
      if (out[b].size() >= room) continue;
      const bool has =
          std::any_of(out[b].begin(), out[b].end(), [&](const MoeSlot& s) { return s.expert == slot.expert; });
      if (best == bins || (best_has && !has) || (best_has == has && load[b] < load[best])) {
        best = b;
        best_has = has;
      }
    }
    out[best].push_back(slot);
    load[best] += slot.load;
  }
  return out;
}

bool holds_expert(const std::vector<MoeSlot>& bin, std::size_t but, std::int32_t expert) {
  for (std::size_t i = 0; i < bin.size(); ++i)
    if (i != but && bin[i].expert == expert) return true;
  return false;
}

/// One swap between the fullest bin and another that leaves the fuller of both emptier; the best there is.
bool swap_once(MoeBins& bins) {
  std::vector<double> load;
  for (const auto& bin : bins) load.push_back(bin_load(bin));
  const auto full = static_cast<std::size_t>(std::max_element(load.begin(), load.end()) - load.begin());
  double best = load[full] * (1 - 1e-12);
  std::size_t with = bins.size(), mine = 0, theirs = 0;
  for (std::size_t b = 0; b < bins.size(); ++b) {
    if (b == full) continue;
    for (std::size_t i = 0; i < bins[full].size(); ++i)
      for (std::size_t j = 0; j < bins[b].size(); ++j) {
        const double move = bins[full][i].load - bins[b][j].load;
        const double after = std::max(load[full] - move, load[b] + move);
        if (move <= 0 || after >= best || holds_expert(bins[b], j, bins[full][i].expert) ||
            holds_expert(bins[full], i, bins[b][j].expert))
          continue;
        best = after;
        with = b;
        mine = i;
        theirs = j;
      }
  }
  if (with == bins.size()) return false;
  std::swap(bins[full][mine], bins[with][theirs]);
  return true;
}

/// Slots of `experts` with `spare` more copies, each of the expert that has the most load a copy.
std::vector<MoeSlot> with_copies(const std::vector<std::int32_t>& experts, const std::vector<double>& load,
                                 std::int64_t spare, std::size_t bins) {
  std::vector<std::int64_t> copies(experts.size(), 1);
  for (std::int64_t s = 0; s < spare; ++s) {
    std::size_t best = 0;
    double most = -1;
    for (std::size_t i = 0; i < experts.size(); ++i) {
      const double each = load[static_cast<std::size_t>(experts[i])] / static_cast<double>(copies[i]);
      if (copies[i] < static_cast<std::int64_t>(bins) && each > most) {
        most = each;
        best = i;
      }
    }
    ++copies[best];
  }
  std::vector<MoeSlot> slots;
  for (std::size_t i = 0; i < experts.size(); ++i)
    for (std::int64_t c = 0; c < copies[i]; ++c)
      slots.push_back({experts[i], load[static_cast<std::size_t>(experts[i])] / static_cast<double>(copies[i])});
  return slots;
}

/// The experts of one node, or of all, onto its ranks.
void pack_ranks(const MoePlacementSetting& s, const std::vector<std::int32_t>& experts, const std::vector<double>& load,
                std::size_t first_rank, std::size_t ranks, MoePlacement& out) {
  const std::int64_t spare =
      s.rule == MoePlacementRule::replicated ? s.spare_slots * static_cast<std::int64_t>(ranks) : 0;
  MoeBins bins = pack_slots(with_copies(experts, load, spare, ranks), ranks);
  for (std::size_t tries = 0; tries < 4 * load.size() && swap_once(bins); ++tries) {
  }
  for (std::size_t r = 0; r < ranks; ++r)
    for (const MoeSlot& slot : bins[r]) out.experts[first_rank + r].push_back(slot.expert);
}

}  // namespace

Result<MoePlacement> place_experts(const MoePlacementSetting& s, const std::vector<double>& load) {
  const auto experts = static_cast<std::int64_t>(load.size());
  if (s.ranks < 1 || experts % s.ranks != 0)
    return Result<MoePlacement>::fail(std::to_string(experts) + " experts do not lie evenly on " +
                                      std::to_string(s.ranks) + " ranks: take a divisor of the experts.");
  if (s.within_nodes && s.ranks % s.nodes != 0)
    return Result<MoePlacement>::fail("With a limit of nodes a token, " + std::to_string(s.ranks) +
                                      " ranks must fill " + std::to_string(s.nodes) + " nodes evenly.");
  if (s.rule == MoePlacementRule::replicated && s.spare_slots > experts)
    return Result<MoePlacement>::fail("A rank needs no more than " + std::to_string(experts) +
                                      " spare slots, one for each expert.");
  const auto ranks = static_cast<std::size_t>(s.ranks), each = load.size() / ranks;
  MoePlacement out;
  out.experts.resize(ranks);
  const std::size_t parts = s.within_nodes ? static_cast<std::size_t>(s.nodes) : 1;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t first = part * ranks / parts, count = ranks / parts;
    std::vector<std::int32_t> of(count * each);
    std::iota(of.begin(), of.end(), static_cast<std::int32_t>(first * each));
    if (s.rule == MoePlacementRule::by_load || s.rule == MoePlacementRule::replicated)
      pack_ranks(s, of, load, first, count, out);
    else
      for (std::size_t i = 0; i < of.size(); ++i)
        out.experts[first + (s.rule == MoePlacementRule::contiguous ? i / each : i % count)].push_back(of[i]);
  }
  out.ranks.resize(load.size());
  for (std::size_t r = 0; r < ranks; ++r)
    for (const std::int32_t e : out.experts[r])
      out.ranks[static_cast<std::size_t>(e)].push_back(static_cast<std::int32_t>(r));
  return Result<MoePlacement>::ok(std::move(out));
}

std::vector<double> rank_loads(const MoePlacement& placement, const std::vector<double>& load) {
  std::vector<double> out(placement.experts.size(), 0.0);
  for (std::size_t e = 0; e < load.size(); ++e)
    for (const std::int32_t r : placement.ranks[e])
      out[static_cast<std::size_t>(r)] += load[e] / static_cast<double>(placement.ranks[e].size());
  return out;
}

}  // namespace models::parallel
