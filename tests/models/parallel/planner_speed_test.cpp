#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "models/base/integer_math.h"
#include "models/memory/training_memory_parts.h"
#include "models/parallel/planner/planner_data.h"
#include "models/transformer/language_model.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

// What makes the search quick changes no figure in its last bit: the clock of sharded units against the plain one that
// keeps an array entry for each of them, and the fullest moment against all moments of a step.

using namespace models;
using namespace models::parallel;

namespace {

/// Micro-batches that are gone through one by one; from there on each is as the last one was.
constexpr std::int64_t micro_batches_in_full = 3;
/// Units on each side of the one at work whose times decide what comes next.
constexpr std::size_t reach = 4;

/// One GPU and one communicator, both in order. In a row of units alike the times soon move on by the same step from
/// unit to unit; then the rest of the row is skipped.
class PlainClock {
 public:
  PlainClock(const std::vector<ShardedUnit>& units, const ShardedOrder& order) : order_(order) {
    for (const ShardedUnit& unit : units) {
      const std::size_t begin = units_.size();
      units_.insert(units_.end(), static_cast<std::size_t>(unit.alike), &unit);
      rows_.insert(rows_.end(), static_cast<std::size_t>(unit.alike), {begin, units_.size()});
    }
    ready_.resize(units_.size());
    scattered_.resize(units_.size() + 2);
  }

  /// The ends of one micro-batch after the other.
  std::vector<double> run(std::int64_t micro_batches) {
    std::vector<double> ends;
    passes_.assign(static_cast<std::size_t>(micro_batches) * 2 * units_.size(), 0.0);
    for (std::int64_t m = 0; m < micro_batches; ++m) {
      forward();
      backward();
      ends.push_back(std::max(compute_, network_));
    }
    return ends;
  }

 private:
  struct Row {
    std::size_t begin = 0, end = 0;
  };
  using State = std::array<double, 2 * reach + 1>;

  void gather(std::size_t unit, std::size_t position, std::int64_t ahead) {
    if (units_[unit]->gather_s <= 0) return;
    const std::int64_t need = static_cast<std::int64_t>(position) - 1 - ahead;
    network_ = std::max(network_, need >= 0 ? passes_[static_cast<std::size_t>(need)] : 0) + units_[unit]->gather_s;
    ready_[unit] = network_;
  }

  /// Times around the pass that just ended, from its end on: `at(i)` are those that the next ones will ask for.
  template <class At>
  State state(const At& at) const {
    State out{};
    out[0] = network_ - compute_;
    for (std::size_t i = 0; i + 1 < out.size(); ++i) out[i + 1] = at(i) - compute_;
    return out;
  }
  static bool alike(const State& x, const State& y, double scale) {
    for (std::size_t i = 0; i < x.size(); ++i)
      if (std::abs(x[i] - y[i]) > 1e-12 * scale) return false;
    return true;
  }

  void forward() {
    const std::size_t n = units_.size();
    const auto ahead = static_cast<std::size_t>(order_.forward_ahead);
    std::fill(ready_.begin(), ready_.end(), 0.0);
    State before{};
    double before_s = -1;
    std::size_t next = 0;
    for (std::size_t u = 0; u < n; ++u) {
      for (; next < n && next <= u + ahead; ++next) gather(next, first_ + next, order_.forward_ahead);
      compute_ = std::max(compute_, ready_[u]) + units_[u]->forward_s;
      passes_[first_ + u] = compute_;
      const Row row = rows_[u];
      if (u < row.begin + reach || u + 2 * reach >= row.end) continue;
      const State now = state([&](std::size_t i) {
        return i < reach ? ready_[std::min(n - 1, u + 1 + i)] * (u + 1 + i < next ? 1 : 0)
                         : passes_[first_ + u - (i - reach)];
      });
      if (before_s >= 0 && alike(now, before, compute_)) {
        const std::size_t skipped = row.end - 1 - 2 * reach - u;
        const double by_s = static_cast<double>(skipped) * (compute_ - before_s);
        for (std::size_t i = 0; i < reach; ++i) {
          if (u + 1 + i < next) ready_[u + skipped + 1 + i] = ready_[u + 1 + i] + by_s;
          passes_[first_ + u + skipped - i] = passes_[first_ + u - i] + by_s;
        }
        compute_ += by_s;
        network_ += by_s;
        u += skipped;
        next += skipped;
        before_s = -1;
        continue;
      }
      before = now;
      before_s = compute_;
    }
    first_ += n;
  }

  void backward() {
    const std::size_t n = units_.size();
    const auto ahead = static_cast<std::size_t>(order_.backward_ahead);
    std::fill(scattered_.begin(), scattered_.end(), 0.0);
    State before{};
    double before_s = -1;
    std::size_t next = n;  // units from here on are gathered for this pass, or stay so
    for (std::size_t u = n; u-- > 0;) {
      for (; next > 0 && next - 1 + ahead >= u; --next)
        if (!units_[next - 1]->stays_gathered) gather(next - 1, first_ + (n - next), order_.backward_ahead);
      compute_ = std::max({compute_, ready_[u], scattered_[u + 2]}) + units_[u]->backward_s;
      passes_[first_ + (n - 1 - u)] = compute_;
      if (units_[u]->scatter_s > 0) {
        network_ = std::max(network_, compute_) + units_[u]->scatter_s;
        scattered_[u] = network_;
      }
      const Row row = rows_[u];
      if (u + reach >= row.end || u < row.begin + 2 * reach) continue;
      const State now = state([&](std::size_t i) {
        if (i == 0) return scattered_[u];
        if (i == 1) return scattered_[u + 1];
        if (i < reach + 2) return u - (i - 1) >= next ? ready_[u - (i - 1)] : compute_;
        return passes_[first_ + (n - 1 - u) - (i - reach - 2)];
      });
      if (before_s >= 0 && alike(now, before, compute_)) {
        const std::size_t skipped = u - row.begin - 2 * reach;
        const double by_s = static_cast<double>(skipped) * (compute_ - before_s);
        for (std::size_t i = 0; i < reach; ++i) {
          if (i < 2) scattered_[u - skipped + i] = scattered_[u + i] + by_s;
          if (u - (i + 1) >= next) ready_[u - skipped - (i + 1)] = ready_[u - (i + 1)] + by_s;
          passes_[first_ + (n - 1 - u) + skipped - i] = passes_[first_ + (n - 1 - u) - i] + by_s;
        }
        compute_ += by_s;
        network_ += by_s;
        u -= skipped;
        next -= skipped;
        before_s = -1;
        continue;
      }
      before = now;
      before_s = compute_;
    }
    first_ += n;
  }

  const ShardedOrder& order_;
  std::vector<const ShardedUnit*> units_;
  std::vector<Row> rows_;
  std::vector<double> passes_, ready_, scattered_;
  std::size_t first_ = 0;  ///< passes before the one at work
  double compute_ = 0, network_ = 0;
};

double plain_exposed_s(const std::vector<ShardedUnit>& units, const ShardedOrder& order) {
  double work = 0;
  for (const ShardedUnit& unit : units) work += unit.alike * (unit.forward_s + unit.backward_s);
  const std::int64_t most = std::min(order.micro_batches, micro_batches_in_full);
  const std::vector<double> ends = PlainClock(units, order).run(most);
  double end = ends.back();
  if (order.micro_batches > most) end += as_double(order.micro_batches - most) * (ends.back() - ends[ends.size() - 2]);
  return end - as_double(order.micro_batches) * work;
}

}  // namespace

TEST_CASE("planner speed: the clock of rows is the plain clock to the last bit") {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> share(0, 1);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int skipping = 0;
  for (int trial = 0; trial < 1200; ++trial) {
    std::vector<ShardedUnit> units;
    for (int row = 0, rows = 1 + below(5); row < rows; ++row) {
      ShardedUnit u{.forward_s = share(random), .backward_s = 2 * share(random)};
      u.gather_s = below(8) == 0 ? 0 : 2 * share(random);
      u.scatter_s = below(8) == 0 ? 0 : 2 * share(random);
      u.alike = 1 + below(below(2) == 0 ? 3 : 140);
      u.stays_gathered = below(4) == 0;
      skipping += u.alike > 20 ? 1 : 0;
      units.push_back(u);
    }
    ShardedOrder order;
    order.forward_ahead = below(4);
    order.backward_ahead = below(4);
    order.micro_batches = 1 + below(6);
    CHECK(sharded_exposed_s(units, order) == plain_exposed_s(units, order));
  }
  CHECK(skipping > 300);
}

TEST_CASE("planner speed: the fullest moment alone is that of all moments to the last bit") {
  std::mt19937 random(12);
  const auto pick = [&](std::initializer_list<std::int64_t> all) { return all.begin()[random() % all.size()]; };
  const auto models_of = [](const char* file) {
    return *parse_language_models(
        support::read_text(support::source_file("assets/models/" + std::string(file) + ".json")), file);
  };
  std::vector<LanguageModel> known = models_of("llama");
  for (const LanguageModel& m : models_of("deepseek")) known.push_back(m);
  int gathered = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const Architecture& a = known[random() % known.size()].architecture;
    memory::TrainingPlan p;
    p.batch = pick({1, 2, 4});
    p.sequence = pick({2048, 8192});
    p.micro_batches = pick({1, 1, 4});
    p.tensor = pick({1, 2, 8});
    p.pipeline = pick({1, 1, 2, 4});
    p.stage = pick({0, 1, 3}) % p.pipeline;
    p.data = pick({1, 8, 64});
    p.zero_stage = pick({1, 2, 3, 3, 3});
    p.sequence_parallel = p.tensor > 1;
    p.recompute = static_cast<Recompute>(random() % 3);
    p.recipe = static_cast<memory::StateRecipe>(random() % memory::state_recipe_count);
    p.loss = static_cast<memory::LossKind>(random() % memory::loss_kind_count);
    p.reshard = pick({0, 1, 1}) == 1;
    p.gather_ahead = pick({0, 1, 2});
    p.host_activations = pick({0, 0, 1}) == 1;
    p.whole_in_pipeline = pick({0, 1}) == 1;
    p.frozen = pick({0, 0, 0, 1}) == 1;
    p.adapter_rank = 16;
    if (!memory::plan_problem(a, p).empty()) continue;
    const auto all = memory::step_moments(a, p);
    const auto whole = memory::training_memory(a, p);
    REQUIRE(all);
    REQUIRE(whole);
    if (!memory::gathers_units(p) && !whole->gradients_late) continue;
    ++gathered;
    const memory::StepMoment* fullest = nullptr;
    for (const memory::StepMoment& m : *all)
      if (m.backward && (fullest == nullptr || m.held.total() > fullest->held.total())) fullest = &m;
    REQUIRE(fullest != nullptr);
    CHECK(whole->held.bytes == fullest->held.bytes);
    CHECK(whole->moment == fullest->moment);
    CHECK(whole->whole.total() == fullest->whole.total());
  }
  CHECK(gathered > 150);
}
