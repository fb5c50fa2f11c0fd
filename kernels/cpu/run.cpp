#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "kernels/cpu/clock.h"
#include "kernels/cpu/memory.h"
#include "kernels/cpu/operation.h"
#include "kernels/cpu/team.h"
#include "kernels/statistics.h"
#include "models/base/counter_random.h"

namespace kernels::cpu {
namespace {

constexpr double shortest_warm_sample_s = 20e-6;  // a thousand times what reading the clock takes
constexpr double settled_share = 0.01, min_settled_s = 0.2, between_reports_s = 0.02;
constexpr std::int64_t min_settled_samples = 30, min_samples = 3, max_repeats = 1 << 16;

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

/// Why a rung cannot run on this machine at this size; empty when it can.
std::string why_not(const Version& v, std::int64_t size, const models::OpCost& cost) {
  const std::string name = "The rung " + std::string(v.rung.id);
  if (!v.call) return name + " is written for x86-64, and this program was built for another architecture.";
  if (!has(v.needs))
    return name + " needs " + std::string(name_of(v.needs)) + ", which this CPU lacks: the rungs without it run here.";
  if (v.threads > hardware_threads())
    return name + " needs " + std::to_string(v.threads) + " hardware threads, which this CPU lacks: it has " +
           std::to_string(hardware_threads()) + ".";
  if (size < v.size_lo)
    return name + " goes over " + std::to_string(v.size_lo) + " bytes, and the size is " + std::to_string(size) +
           ": choose a larger one, or leave this rung out.";
  if (v.size_hi > 0 && size > v.size_hi)
    return name + " is not run at " + std::to_string(size) + ": one call is " + short_number(cost.flops * 1e-9) +
           " GFLOP, about " + short_number(cost.flops / v.flops_per_s) + " s at " + short_number(v.flops_per_s * 1e-9) +
           " GFLOP/s; choose a size up to " + std::to_string(v.size_hi) + ", or leave this rung out.";
  return {};
}

struct Operands {
  Shape shape;
  Buffer a, b, c, work;
  bool cold = false;

  bool made() const { return a.data() && b.data() && c.data() && work.data(); }
  void call(const Version& v) { v.call(shape.n, a.data(), b.data(), c.data(), work.data()); }
  void call_often(const Version& v, std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i) call(v);
  }
  void set_guards() {
    for (Buffer* buffer : {&a, &b, &c, &work}) buffer->set_guards();
  }
  bool guards_whole() const { return a.guards_whole() && b.guards_whole() && c.guards_whole() && work.guards_whole(); }
  /// Operands that are far larger than the last cache push each other out; smaller ones are flushed.
  void cool() const {
    if (!cold || a.bytes() + b.bytes() + c.bytes() >= 4 * cache_bytes(3)) return;
    for (const Buffer* buffer : {&a, &b, &c}) buffer->flush();
  }
};

models::Status make_operands(Operands& operands, const Operation& operation, std::int64_t size, std::uint64_t seed,
                             bool cold) {
  const Shape s = operands.shape = operation.shape(size);
  operands.cold = cold;
  operands.a = Buffer(s.a);
  operands.b = Buffer(s.b, operation.b_in_small_pages);
  operands.c = Buffer(s.c);
  operands.work = Buffer(s.work);
  if (!operands.made())
    return models::Status::fail("There is not enough memory for " + std::string(operation.ladder.id) + " at " +
                                std::to_string(size) + ": choose a smaller size.");
  operation.fill(s, seed, operands.a.data(), operands.b.data());
  return models::Status::ok();
}

/// One rung on its way from the first call to its result.
struct Trial {
  const Version* version = nullptr;
  Result result;
  std::vector<double> samples;
  double spent_s = 0, first_s = 0;
  std::int64_t repeats = 1, next_look = min_settled_samples;
  bool done = false;
};

/// Compares what the rung's last call has left; says in the result what is wrong, if anything is.
void check(Trial& t, const Operands& operands, const Operation& operation) {
  t.result.error = operation.error(operands.shape, operands.a.data(), operands.b.data(), operands.c.data());
  t.result.error_bound = operation.error_bound(operands.shape);
  const std::string name = "The rung " + std::string(t.version->rung.id);
  if (!operands.guards_whole())
    t.result.failure = name + " wrote outside its arrays, so it was not timed.";
  else if (std::isnan(t.result.error))
    t.result.failure = name + " left results that are not numbers, so it was not timed.";
  else if (!(t.result.error <= t.result.error_bound))
    t.result.failure = name + " is wrong: its error is " + short_number(t.result.error) + " where " +
                       short_number(t.result.error_bound) + " is allowed, so it was not timed.";
}

/// The first call of a rung, over results that are poisoned.
void try_out(Trial& t, Operands& operands, const Operation& operation) {
  operands.c.poison();
  operands.set_guards();  // a rung before may have broken them
  operands.cool();
  t.first_s = timed_s([&] { operands.call(*t.version); }, t.version->threads != 1);
  check(t, operands, operation);
}

/// Enough calls for one warm sample that the clock is no part of it. The first call says nothing of that: it was cold.
void choose_repeats(Trial& t, Operands& operands) {
  while (timed_s([&] { operands.call_often(*t.version, t.repeats); }, t.version->threads != 1) <
             shortest_warm_sample_s &&
         t.repeats < max_repeats)
    t.repeats *= 2;
}

double one_run_s(const Trial& t, Operands& operands) {
  operands.cool();
  const double taken = timed_s([&] { operands.call_often(*t.version, t.repeats); }, t.version->threads != 1);
  return taken / static_cast<double>(t.repeats * operands.shape.runs);
}

/// Whether a rung has been timed enough.
bool is_enough(Trial& t, double seconds) {
  const auto n = static_cast<std::int64_t>(t.samples.size());
  if (t.spent_s >= seconds) return n >= min_samples || t.first_s * static_cast<double>(n + 1) > seconds;
  if (n < t.next_look || t.spent_s < std::min(min_settled_s, seconds)) return false;
  t.next_look = n + n / 4;  // sorting for each new sample would cost more than the samples
  return is_settled(summarize(t.samples), settled_share);
}

class Run {
 public:
  Run(const Request& request, const Operation& operation, const Listener& listener)
      : request_(request), operation_(operation), listener_(listener) {}

  models::Status operator()() {
    if (auto prepared = prepare(); !prepared) return prepared;
    for (Trial& t : trials_) {
      if (t.result.failure.empty()) try_out(t, operands_, operation_);
      if (!t.result.failure.empty()) {
        finish(t);
      } else if (t.first_s >=
                 request_.seconds_per_rung) {  // the first call, cold as it was, has taken all the time there is
        t.samples.push_back(t.first_s / static_cast<double>(operands_.shape.runs));
        conclude(t);
      } else if (!request_.cold) {
        choose_repeats(t, operands_);
      }
      report(false);
      if (stopped_) return models::Status::ok();
    }
    // Round after round, one sample of each rung: what changes on the machine meanwhile changes for all of them.
    while (!stopped_ && std::any_of(trials_.begin(), trials_.end(), [](const Trial& t) { return !t.done; }))
      for (Trial& t : trials_) {
        if (t.done || stopped_) continue;
        sample(t);
        if (is_enough(t, request_.seconds_per_rung)) conclude(t);
        report(false);
      }
    report(true);
    return models::Status::ok();
  }

 private:
  models::Status prepare() {
    const std::int64_t size = request_.size > 0 ? request_.size : operation_.ladder.size_default;
    const models::OpCost cost = operation_.ladder.cost(size);
    for (const Version& v : operation_.versions) {
      const auto& named = request_.rungs;
      if (!named.empty() && std::find(named.begin(), named.end(), v.rung.id) == named.end()) continue;
      Trial& t = trials_.emplace_back();
      t.version = &v;
      t.result = {
          .ladder = std::string(operation_.ladder.id),
          .rung = std::string(v.rung.id),
          .size = size,
          .flops = cost.flops,
          .bytes = cost.bytes(),
          .failure = why_not(v, size, cost),
      };
    }
    return make_operands(operands_, operation_, size, request_.seed, request_.cold);
  }

  void sample(Trial& t) {
    const double before = wall_s();
    t.samples.push_back(one_run_s(t, operands_));
    t.spent_s += wall_s() - before;
  }

  /// Writes down what the samples say, unless the rung has gone wrong meanwhile.
  void conclude(Trial& t) {
    check(t, operands_, operation_);
    if (t.result.failure.empty()) {
      const Summary s = summarize(std::move(t.samples));
      t.result.time_s = s.median;
      t.result.spread_s = s.iqr;
      t.result.samples = s.samples;
    }
    finish(t);
  }

  void finish(Trial& t) {
    t.done = true;
    if (listener_.result && !listener_.result(t.result)) stopped_ = true;
  }

  void report(bool all) {
    const double now = wall_s();
    if (!listener_.progress || stopped_ || (!all && now < reported_s_ + between_reports_s)) return;
    reported_s_ = now;
    double done = 0;
    for (const Trial& t : trials_) done += t.done ? 1 : std::min(0.99, t.spent_s / request_.seconds_per_rung);
    if (!listener_.progress(all ? 1 : done / static_cast<double>(trials_.size()))) stopped_ = true;
  }

  const Request& request_;
  const Operation& operation_;
  const Listener& listener_;
  Operands operands_;
  std::vector<Trial> trials_;
  double reported_s_ = 0;
  bool stopped_ = false;
};

}  // namespace

models::Status run(const Request& request, const Operation& operation, const Listener& listener) {
  return Run(request, operation, listener)();
}

models::Status run_turns(const TurnsRequest& request, const Operation& operation, const TakeTurn& take) {
  const std::int64_t size = request.size > 0 ? request.size : operation.ladder.size_default;
  std::array<Trial, 2> trials;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    for (const Version& v : operation.versions)
      if (v.rung.id == (i == 0 ? request.a : request.b)) trials[i].version = &v;
    if (!trials[i].version) return models::Status::fail("The ladder has no such rung.");
    if (std::string why = why_not(*trials[i].version, size, operation.ladder.cost(size)); !why.empty())
      return models::Status::fail(std::move(why));
  }
  Operands operands;
  if (auto made = make_operands(operands, operation, size, request.seed, request.cold); !made) return made;
  for (Trial& t : trials) {
    try_out(t, operands, operation);
    if (!t.result.failure.empty()) return models::Status::fail(std::move(t.result.failure));
    if (!request.cold) choose_repeats(t, operands);
  }
  for (std::size_t k = 0; k < request.turns.size(); ++k) {
    const bool is_b = request.turns[k] == 'B';
    const Trial& t = trials[is_b ? 1 : 0];
    if (!take({static_cast<std::int64_t>(k), is_b, one_run_s(t, operands)})) return models::Status::ok();
  }
  // The last run has left its results: a rung that went wrong meanwhile is found out.
  Trial& last = trials[request.turns.back() == 'B' ? 1 : 0];
  check(last, operands, operation);
  return last.result.failure.empty() ? models::Status::ok() : models::Status::fail(std::move(last.result.failure));
}

void fill_uniform(std::uint64_t seed, float lo, float hi, float* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = models::counter_hash(seed, static_cast<std::uint64_t>(i));
    out[i] = lo + (hi - lo) * (static_cast<float>(bits >> 40) * 0x1p-24f);
  }
}

}  // namespace kernels::cpu
