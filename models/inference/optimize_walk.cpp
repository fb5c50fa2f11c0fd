#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include "models/inference/optimize.h"

namespace models::inference {
namespace {

/// States of every subset of the changes: bit i of the index is the i-th of the order.
using SubsetStates = std::vector<RequestState>;

Result<SubsetStates> price_subsets(const RequestJob& job, ChangeSet found, std::span<const RequestChange> order) {
  using Out = Result<SubsetStates>;
  SubsetStates states;
  RequestPricer pricer(job);
  states.reserve(std::size_t{1} << order.size());
  for (std::size_t subset = 0; subset < std::size_t{1} << order.size(); ++subset) {
    ChangeSet set = found;
    for (std::size_t i = 0; i < order.size(); ++i)
      if (subset >> i & 1u) set = set.with(order[i]);
    auto state = pricer.price(set);
    if (!state) return Out::fail(std::move(state.error));
    states.push_back(*std::move(state));
  }
  return Out::ok(std::move(states));
}

/// Share of all orders of n in which exactly a given set of `before` stands before a given one: before! after! / n!.
double share_of_orders(std::size_t before, std::size_t n) {
  double ways = 1;  // n x C(n - 1, before)
  for (std::size_t i = 0; i < before; ++i) ways *= static_cast<double>(n - 1 - i) / static_cast<double>(i + 1);
  return 1 / (ways * static_cast<double>(n));
}

/// What the i-th change is worth behind every subset of the others.
void fill_places(const SubsetStates& states, std::size_t i, std::size_t n, ChangeStage& stage) {
  const std::size_t bit = std::size_t{1} << i;
  bool first = true;
  for (std::size_t subset = 0; subset < states.size(); ++subset) {
    if (subset & bit) continue;
    const double before = states[subset].request_s, after = states[subset | bit].request_s, gain = before / after,
                 saved = before - after;
    std::size_t members = 0;
    for (std::size_t rest = subset; rest > 0; rest >>= 1) members += rest & 1u;
    stage.average_saved_s += share_of_orders(members, n) * saved;
    stage.least_gain = first ? gain : std::min(stage.least_gain, gain);
    stage.most_gain = first ? gain : std::max(stage.most_gain, gain);
    stage.least_saved_s = first ? saved : std::min(stage.least_saved_s, saved);
    stage.most_saved_s = first ? saved : std::max(stage.most_saved_s, saved);
    first = false;
  }
}

constexpr ChangeSet set_with(std::initializer_list<RequestChange> changes) {
  ChangeSet set;
  for (const RequestChange c : changes) set = set.with(c);
  return set;
}

using enum RequestChange;
constexpr ChangeSet eager = set_with({flash_attention}), compiled = set_with({flash_attention, fusion, graph});
constexpr std::array<MeasuredRung, 8> rungs{{
    {eager, 1, 25.5},
    {compiled, 1, 107.0},
    {compiled.with(eight_bit_weights), 1, 157.4},
    {compiled.with(four_bit_weights), 1, 202.1},
    {compiled.with(four_bit_weights).with(speculative), 1, 244.7},
    {compiled.with(tensor_parallel), 2, 168.84},
    {compiled.with(tensor_parallel), 4, 254.02},
    {compiled.with(tensor_parallel), 8, 328.43},
}};

}  // namespace

std::span<const MeasuredRung> gpt_fast_rungs() { return rungs; }

const MeasuredRung* find_rung(const RequestJob& job, ChangeSet changes, std::string_view model_id) {
  const bool same = model_id == "llama-2-7b" && job.chip->id == "a100_80_sxm" && job.batch == 1 && job.prompt == 5 &&
                    job.output == 200 && job.eight_bits == EightBits::int8_weights && job.four_bits == 5;
  if (!same) return nullptr;
  // 4-bit weights take the place of 8-bit ones.
  if (changes.has(four_bit_weights)) changes = changes.without(eight_bit_weights);
  for (const MeasuredRung& rung : rungs)
    if (rung.changes == changes && (rung.chips == 1 || rung.chips == job.chips)) return &rung;
  return nullptr;
}

Result<std::vector<RequestChange>> largest_first(const RequestJob& job, ChangeSet found,
                                                 std::span<const RequestChange> changes) {
  using Out = Result<std::vector<RequestChange>>;
  const auto states = price_subsets(job, found, changes);
  if (!states) return Out::fail(states.error);
  std::vector<RequestChange> order;
  std::size_t made = 0;
  while (order.size() < changes.size()) {
    std::size_t best = changes.size();
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const std::size_t bit = std::size_t{1} << i;
      if (made & bit) continue;
      if (best == changes.size() ||
          (*states)[made | bit].request_s < (*states)[made | std::size_t{1} << best].request_s)
        best = i;
    }
    made |= std::size_t{1} << best;
    order.push_back(changes[best]);
  }
  return Out::ok(std::move(order));
}

Result<ChangeWalk> walk_changes(const RequestJob& job, ChangeSet found, std::span<const RequestChange> order) {
  using Out = Result<ChangeWalk>;
  ChangeSet seen = found;
  for (const RequestChange c : order) {
    if (seen.has(c)) return Out::fail("Each change can be made once, and not where it is there from the start.");
    seen = seen.with(c);
  }
  const auto states = price_subsets(job, found, order);
  if (!states) return Out::fail(states.error);
  const std::size_t n = order.size(), all = states->size() - 1;
  ChangeWalk walk{.found = states->front()};
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t bit = std::size_t{1} << i;
    const RequestState &before = (*states)[bit - 1], &after = (*states)[2 * bit - 1];
    ChangeStage stage{.change = order[i], .after = after};
    stage.saved_s = before.request_s - after.request_s;
    stage.gain = before.request_s / after.request_s;
    stage.first_saved_s = states->front().request_s - (*states)[bit].request_s;
    stage.last_saved_s = (*states)[all ^ bit].request_s - states->back().request_s;
    stage.first_gain = states->front().request_s / (*states)[bit].request_s;
    stage.last_gain = (*states)[all ^ bit].request_s / states->back().request_s;
    fill_places(*states, i, n, stage);
    walk.stages.push_back(std::move(stage));
  }
  return Out::ok(std::move(walk));
}

}  // namespace models::inference
