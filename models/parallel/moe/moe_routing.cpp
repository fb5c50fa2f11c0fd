#include "models/parallel/moe/moe_routing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "models/base/counter_random.h"
#include "models/base/lanes.h"

namespace models::parallel {
namespace {

/// The k best of a row, best first, among the experts of allowed groups.
class MoePicker {
 public:
  explicit MoePicker(const MoeRouting& r)
      : r_(r),
        experts_(static_cast<std::size_t>(r.experts)),
        groups_(static_cast<std::size_t>(r.groups)),
        per_group_(experts_ / groups_),
        row_(experts_) {}

  void pick(const float* scores, const std::vector<float>& bias, std::vector<std::uint16_t>& chosen) {
    for (std::size_t e = 0; e < experts_; ++e) row_[e] = bias.empty() ? scores[e] : scores[e] + bias[e];
    if (r_.group_limit > 0 && r_.group_limit < r_.groups) close_groups();
    chosen.clear();
    for (std::int64_t j = 0; j < r_.top_k; ++j) chosen.push_back(take_best(row_, 0, experts_));
  }

 private:
  static constexpr float closed = -1e30f;

  /// The index of the largest, the first of equals, which is closed. By blocks: only the block that holds it is
  /// searched.
  static std::uint16_t take_best(std::vector<float>& row, std::size_t from, std::size_t to) {
    constexpr std::size_t block = 4 * lanes::width;
    std::size_t begin = from, e = from;
    float best = row[from];
    for (; e + block <= to; e += block) {
      const float* p = &row[e];
      const lanes::Four high = lanes::larger(lanes::larger(lanes::load(p), lanes::load(p + 4)),
                                             lanes::larger(lanes::load(p + 8), lanes::load(p + 12)));
      const float highest = std::max(std::max(high[0], high[1]), std::max(high[2], high[3]));
      if (highest > best) {
        best = highest;
        begin = e;
      }
    }
    for (; e < to; ++e)
      if (row[e] > best) {
        best = row[e];
        begin = e;
      }
    const auto at = static_cast<std::size_t>(std::find(row.data() + begin, row.data() + to, best) - row.data());
    row[std::min(at, to - 1)] = closed;
    return static_cast<std::uint16_t>(std::min(at, to - 1));
  }
  void close_groups() {
    const std::size_t each =
        std::min(per_group_, static_cast<std::size_t>((r_.top_k + r_.group_limit - 1) / r_.group_limit));
    rank_.clear();
    for (std::size_t g = 0; g < groups_; ++g) {
      copy_ = row_;
      double sum = 0;
      for (std::size_t i = 0; i < each; ++i) {
        const std::size_t e = take_best(copy_, g * per_group_, (g + 1) * per_group_);
        sum += static_cast<double>(row_[e]);
      }
      rank_.push_back({-sum, g});
    }
    std::sort(rank_.begin(), rank_.end());
    for (std::size_t i = static_cast<std::size_t>(r_.group_limit); i < groups_; ++i)
      std::fill_n(row_.begin() + static_cast<std::ptrdiff_t>(rank_[i].second * per_group_), per_group_, closed);
  }

  const MoeRouting& r_;
  std::size_t experts_, groups_, per_group_;
  std::vector<float> row_, copy_;
  std::vector<std::pair<double, std::size_t>> rank_;
};

/// Decks of all cards, shuffled one after the other; a card that the hand already has waits for the next hand.
class MoeDeck {
 public:
  MoeDeck(std::uint64_t stream, std::size_t cards) : stream_(stream), cards_(cards) {}

  void deal(std::int64_t count, std::vector<std::uint16_t>& hand) {
    const auto full = hand.size() + static_cast<std::size_t>(count);
    while (hand.size() < full) {
      auto card = std::find_if(deck_.begin(), deck_.end(),
                               [&](std::uint16_t e) { return std::find(hand.begin(), hand.end(), e) == hand.end(); });
      if (card == deck_.end()) {
        add_deck();
        continue;
      }
      hand.push_back(*card);
      deck_.erase(card);
    }
  }
  double draw() { return unit_draw(stream_, draws_++); }

 private:
  void add_deck() {
    const std::size_t from = deck_.size();
    for (std::size_t e = 0; e < cards_; ++e) deck_.push_back(static_cast<std::uint16_t>(e));
    for (std::size_t i = cards_ - 1; i > 0; --i) {
      const auto j = static_cast<std::size_t>(draw() * static_cast<double>(i + 1));
      std::swap(deck_[from + i], deck_[from + j]);
    }
  }
  std::uint64_t stream_, draws_ = 0;
  std::size_t cards_;
  std::vector<std::uint16_t> deck_;
};

/// Deals k experts to a token. Under a limit the groups are dealt first; how many experts each of them gives is drawn
/// as if k were taken from all of theirs, and each group deals its own.
class MoeDealer {
 public:
  MoeDealer(const MoeRouting& r, std::uint64_t stream)
      : r_(r), deck_(stream, static_cast<std::size_t>(limited() ? r.groups : r.experts)) {
    for (std::int64_t g = 0; limited() && g < r.groups; ++g)
      group_decks_.emplace_back(random_stream(stream, static_cast<std::uint64_t>(g) + 1),
                                static_cast<std::size_t>(r.experts / r.groups));
  }

  void deal(std::vector<std::uint16_t>& chosen) {
    chosen.clear();
    if (!limited()) {
      deck_.deal(r_.top_k, chosen);
      return;
    }
    const std::int64_t each = r_.experts / r_.groups;
    groups_.clear();
    deck_.deal(r_.group_limit, groups_);
    given_.assign(groups_.size(), 0);
    for (std::int64_t taken = 0; taken < r_.top_k; ++taken) {
      auto left = static_cast<std::int64_t>(deck_.draw() * static_cast<double>(r_.group_limit * each - taken));
      std::size_t group = 0;
      while (left >= each - given_[group]) left -= each - given_[group++];
      ++given_[group];
    }
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      hand_.clear();
      group_decks_[groups_[i]].deal(given_[i], hand_);
      for (const std::uint16_t e : hand_) chosen.push_back(static_cast<std::uint16_t>(groups_[i] * each + e));
    }
  }

 private:
  bool limited() const { return r_.group_limit > 0 && r_.group_limit < r_.groups; }
  const MoeRouting& r_;
  MoeDeck deck_;  ///< cards are experts, or groups under a limit
  std::vector<MoeDeck> group_decks_;
  std::vector<std::uint16_t> groups_, hand_;
  std::vector<std::int64_t> given_;
};

/// k different experts of a word.
void hash_experts(const MoeRouting& r, std::uint64_t stream, std::uint16_t word, std::vector<std::uint16_t>& chosen) {
  chosen.clear();
  for (std::uint64_t i = 0; static_cast<std::int64_t>(chosen.size()) < r.top_k; ++i) {
    const auto e =
        static_cast<std::uint16_t>(counter_hash(stream, word * 4096u + i) % static_cast<std::uint64_t>(r.experts));
    if (std::find(chosen.begin(), chosen.end(), e) == chosen.end()) chosen.push_back(e);
  }
}

void choose_by_tokens(const MoeRouting& r, std::size_t tokens, const std::vector<float>& scores,
                      const std::vector<float>& bias, const std::uint16_t* words, MoeRouted& out) {
  const std::size_t stride = moe_score_stride(r.experts), k = static_cast<std::size_t>(r.top_k);
  out.copies.resize(tokens * k);
  MoePicker picker(r);
  MoeDealer dealer(r, random_stream(r.seed, 21));
  const std::uint64_t stream = random_stream(r.seed, 22);
  std::vector<std::uint16_t> chosen;
  for (std::size_t t = 0; t < tokens; ++t) {
    if (r.rule == MoeRule::top_k) picker.pick(&scores[t * stride], bias, chosen);
    if (r.rule == MoeRule::hash) hash_experts(r, stream, words[t], chosen);
    if (r.rule == MoeRule::dealt) dealer.deal(chosen);
    float sum = 0;
    if (r.rule == MoeRule::top_k)
      for (const std::uint16_t e : chosen) sum += scores[t * stride + e];
    for (std::size_t j = 0; j < k; ++j) {
      float weight = 1.0f / static_cast<float>(k);
      if (r.rule == MoeRule::top_k) {
        weight = scores[t * stride + chosen[j]];
        if (k > 1) weight /= std::max(sum, 1e-30f);
      }
      out.copies[j * tokens + t] = {static_cast<std::uint32_t>(t), chosen[j], true, weight};
    }
  }
}

void choose_by_experts(const MoeRouting& r, std::size_t tokens, const std::vector<float>& scores, MoeRouted& out) {
  const std::size_t stride = moe_score_stride(r.experts);
  const auto each = static_cast<std::size_t>(std::min<std::int64_t>(out.capacity, static_cast<std::int64_t>(tokens)));
  out.copies.clear();
  std::vector<std::uint32_t> order(tokens);
  for (std::size_t e = 0; e < static_cast<std::size_t>(r.experts); ++e) {
    std::iota(order.begin(), order.end(), 0u);
    const auto better = [&](std::uint32_t a, std::uint32_t b) {
      const float sa = scores[a * stride + e], sb = scores[b * stride + e];
      return sa != sb ? sa > sb : a < b;
    };
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(each - 1), order.end(), better);
    for (std::size_t i = 0; i < each; ++i)
      out.copies.push_back({order[i], static_cast<std::uint16_t>(e), true, scores[order[i] * stride + e]});
  }
  std::sort(out.copies.begin(), out.copies.end(), [](const MoeCopy& a, const MoeCopy& b) {
    return a.token != b.token ? a.token < b.token : a.expert < b.expert;
  });
}

/// Experts take copies as they arrive, until they are full.
void fill_experts(const MoeRouting& r, std::size_t tokens, MoeRouted& out) {
  const auto experts = static_cast<std::size_t>(r.experts);
  out.asked.assign(experts, 0);
  out.kept.assign(experts, 0);
  out.dropped = 0;
  std::vector<bool> worked(tokens, false);
  for (MoeCopy& copy : out.copies) {
    ++out.asked[copy.expert];
    copy.kept = out.capacity == 0 || out.kept[copy.expert] < out.capacity;
    if (!copy.kept) {
      ++out.dropped;
      continue;
    }
    ++out.kept[copy.expert];
    worked[copy.token] = true;
  }
  out.tokens_without = std::count(worked.begin(), worked.end(), false);
}

double total_load(const std::vector<double>& load) { return std::accumulate(load.begin(), load.end(), 0.0); }

}  // namespace

std::size_t moe_score_stride(std::int64_t experts) { return (static_cast<std::size_t>(experts) + 3) / 4 * 4; }

Status check_moe_routing(const MoeRouting& r) {
  if (r.top_k > r.experts)
    return Status::fail("A token cannot go to " + std::to_string(r.top_k) + " of " + std::to_string(r.experts) +
                        " experts: take more experts or fewer choices.");
  if (r.group_limit <= 0) return Status::ok();
  if (r.experts % r.groups != 0)
    return Status::fail("With a limit of nodes a token, " + std::to_string(r.experts) + " experts must lie evenly on " +
                        std::to_string(r.groups) + " nodes: take a multiple, or no limit.");
  if (std::min(r.group_limit, r.groups) * (r.experts / r.groups) < r.top_k)
    return Status::fail("The " + std::to_string(std::min(r.group_limit, r.groups)) +
                        " nodes that a token may go to hold " +
                        std::to_string(std::min(r.group_limit, r.groups) * (r.experts / r.groups)) +
                        " experts, and it wants " + std::to_string(r.top_k) + ": allow more nodes.");
  return Status::ok();
}

std::int64_t moe_capacity(const MoeRouting& r, std::size_t tokens) {
  const double factor = r.rule == MoeRule::expert_choice && r.capacity_factor <= 0 ? 1 : r.capacity_factor;
  if (factor <= 0) return 0;
  const double even = static_cast<double>(tokens) * static_cast<double>(r.top_k) / static_cast<double>(r.experts);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(factor * even - 1e-9)));
}

void route_tokens(const MoeRouting& r, std::size_t tokens, const std::vector<float>& scores,
                  const std::vector<float>& bias, const std::uint16_t* words, MoeRouted& out) {
  out.capacity = moe_capacity(r, tokens);
  if (r.rule == MoeRule::expert_choice)
    choose_by_experts(r, tokens, scores, out);
  else
    choose_by_tokens(r, tokens, scores, bias, words, out);
  fill_experts(r, tokens, out);
}

double max_over_mean(const std::vector<double>& load) {
  const double total = total_load(load);
  return total > 0 ? *std::max_element(load.begin(), load.end()) * static_cast<double>(load.size()) / total : 1;
}

double load_entropy(const std::vector<double>& load) {
  const double total = total_load(load);
  if (!(total > 0) || load.size() < 2) return 1;
  double entropy = 0;
  for (const double l : load)
    if (l > 0) entropy -= l / total * std::log(l / total);
  return entropy / std::log(static_cast<double>(load.size()));
}

double load_deviation(const std::vector<double>& load) {
  const double total = total_load(load);
  if (!(total > 0)) return 0;
  const double mean = total / static_cast<double>(load.size());
  double squares = 0;
  for (const double l : load) squares += (l - mean) * (l - mean);
  return std::sqrt(squares / static_cast<double>(load.size())) / mean;
}

}  // namespace models::parallel
