#include "models/rare/rare_clock.h"

#include <algorithm>
#include <cmath>

#include "models/base/counter_random.h"
#include "models/machine/all_reduce_time.h"

namespace models::rare {
namespace {

double transfer_time(const RareMessage& message, std::size_t workers, const RarePrice& price) {
  const AllReduceGroup group{.ranks = static_cast<std::int64_t>(workers), .ranks_per_node = 1};
  const AllReduceLinks links{.inside_bytes_per_s = price.bytes_per_s,
                             .between_bytes_per_s = price.bytes_per_s,
                             .inside_hop_s = price.hop_s,
                             .between_hop_s = price.hop_s};
  double s = 0;
  if (message.summed > 0)
    s += all_reduce_time(AllReduceAlgorithm::ring, group, links, message.summed * price.parameters).total_s();
  if (message.gathered > 0)
    s += ring_gather_time(group, links, message.gathered * price.parameters * static_cast<double>(workers)).total_s();
  return s;
}

}  // namespace

std::size_t RareClock::syncs_by(double time_s) const {
  const auto later = std::upper_bound(talks.begin(), talks.end(), time_s,
                                      [](double t, const RareTalk& talk) { return t < talk.until_s; });
  return static_cast<std::size_t>(later - talks.begin());
}

RareClock rare_clock(const RareSetup& setup, const RarePrice& price) {
  RareClock out;
  const std::vector<GradientShape> shapes = shapes_of(price.layers);
  const RareMessage message = rare_message(setup, shapes);
  out.transfer_s = transfer_time(message, setup.workers, price);
  out.sent_bytes = message.sent(setup.workers) * price.parameters;
  out.ratio = message.ratio();
  out.code_s = rare_code_bytes(setup.method) * price.parameters / price.memory_bytes_per_s * price.code_slowdown;

  const bool local = rare_method_is_local(setup.method);
  const std::size_t period = local ? setup.period : 1, delay = setup.method == RareMethod::stale ? setup.stale_by : 0;
  std::vector<double> ready(setup.workers), known{0};
  std::vector<double> arrived;  // by sync
  double computed = 0;
  for (std::size_t step = 1; step <= setup.steps; ++step) {
    // A worker waits for the sums that it may not do without.
    const double may_start = !local && step > delay + 1 ? arrived[step - delay - 2] : 0;
    const bool syncs = step % period == 0 || step == setup.steps;
    double last = 0;
    for (std::size_t w = 0; w < setup.workers; ++w) {
      const std::uint64_t stream = random_stream(static_cast<std::int64_t>(setup.seed), 1000 + w);
      const double drawn =
          price.spread > 0 ? std::exp(price.spread * normal_draw(stream, step) - price.spread * price.spread / 2) : 1;
      ready[w] = std::max(ready[w], may_start) + price.step_s * drawn + (syncs ? out.code_s : 0);
      computed += price.step_s * drawn;
      last = std::max(last, ready[w]);
    }
    if (!syncs) {
      known.push_back(last);
      continue;
    }
    const double from = std::max(last, arrived.empty() ? 0.0 : arrived.back());
    arrived.push_back(from + out.transfer_s);
    out.talks.push_back({from, arrived.back()});
    if (local) std::fill(ready.begin(), ready.end(), arrived.back());
    known.push_back(delay == 0 ? arrived.back() : std::max(last, step > delay ? arrived[step - delay - 1] : 0.0));
  }
  out.known_s = std::move(known);
  out.computed_s = computed / static_cast<double>(setup.workers);
  out.waited_s = std::max(0.0, out.total_s() - out.computed_s - out.code_s * static_cast<double>(out.talks.size()));
  // The last transfers of stale gradients end after the last step.
  for (const RareTalk& talk : out.talks)
    out.talked_s += std::max(0.0, std::min(talk.until_s, out.total_s()) - talk.from_s);
  const std::size_t rounds = setup.steps / period;
  for (std::size_t i = 1; i < rounds; ++i)
    out.silence_s += (out.talks[i].from_s - out.talks[i - 1].until_s) / static_cast<double>(rounds - 1);
  return out;
}

RareGoal rare_goal(const RareRun& run, const RareClock& clock, double target_loss) {
  for (std::size_t i = 1; i < run.looks.size(); ++i) {
    const RareLook &before = run.looks[i - 1], &here = run.looks[i];
    if (!(here.loss <= target_loss)) continue;
    // Workers that step alone share a model at their syncs and not in between.
    const bool alone = here.syncs - before.syncs < here.step - before.step;
    double step = static_cast<double>(here.step);
    if (!alone && before.loss > here.loss) {
      const double part = (before.loss - target_loss) / (before.loss - here.loss),
                   from = static_cast<double>(before.step);
      step = std::max(1.0, std::ceil(from + part * (step - from) - 1e-9));
    }
    const double time_s = clock.known_s[static_cast<std::size_t>(step)];
    return {.steps = step,
            .time_s = time_s,
            .bytes = clock.sent_bytes * static_cast<double>(clock.syncs_by(time_s)),
            .reached = true};
  }
  return {};
}

}  // namespace models::rare
