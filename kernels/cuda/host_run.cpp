#include "kernels/cuda/host_run.h"

#include <algorithm>
#include <new>

#include "kernels/cuda/host_rung.h"
#include "kernels/cuda/operands.h"
#include "kernels/statistics.h"

namespace kernels::cuda {
namespace {

struct HostCandidate {
  const Rung* rung = nullptr;
  Result result;
  std::unique_ptr<HostRung> runs;
  std::vector<double> samples_s;
};

class HostRun {
 public:
  HostRun(const Session* session, const std::string& why, const Request& request, const Operation& operation,
          const Listener& listener)
      : session_(session), why_(why), request_(request), operation_(operation), listener_(listener) {
    size_ = operation.rounded(request.check_only ? operation.edge_size
                              : request.size > 0 ? request.size
                                                 : operation.ladder->size_default);
    for (const Rung& rung : operation.ladder->rungs) {
      if (!request.rungs.empty() &&
          std::find(request.rungs.begin(), request.rungs.end(), rung.id) == request.rungs.end())
        continue;
      const models::OpCost cost = cost_of(*operation.ladder, rung, size_);
      HostCandidate& c = candidates_.emplace_back();
      c.rung = &rung;
      c.result = {
          .ladder = std::string(operation.ladder->id),
          .rung = std::string(rung.id),
          .size = size_,
          .flops = cost.flops,
          .bytes = cost.bytes(),
      };
    }
  }

  void run() {
    for (HostCandidate& c : candidates_) {
      if (stopped_) return;
      guarded(c, [&] { measure(c); });
      c.runs.reset();
      step();
      if (listener_.result && !listener_.result(c.result)) stopped_ = true;
    }
  }

 private:
  void step() {
    steps_ += 1;
    if (listener_.progress && !listener_.progress(steps_ / static_cast<double>(candidates_.size()))) stopped_ = true;
  }

  template <class F>
  void guarded(HostCandidate& c, F work) {
    if (!c.result.failure.empty() || stopped_) return;
    if (!lost_.empty()) {
      c.result.failure = lost_;
      return;
    }
    try {
      work();
    } catch (const Failure& failure) {
      c.result.failure = failure.what();
      if (failure.context_lost)
        lost_ = "Not run: " + std::string(c.rung->id) +
                " has taken the GPU's context with it, and only a new process gets another.";
    } catch (const std::bad_alloc&) {
      c.result.failure =
          "This machine has too little memory for size " + std::to_string(size_) + ": choose a smaller one.";
    }
  }

  void check(HostCandidate& c, std::int64_t size, std::uint32_t seed) {
    c.runs->fill(seed);
    c.runs->run();
    const std::vector<std::byte> out = c.runs->result();
    const Deviation d = operation_.compare({operation_, c.rung->id, size, out, seed});
    must_agree(d, size);
    c.result.error = std::max(c.result.error, d.error);
    c.result.error_bound = d.bound;
  }

  bool done(const HostCandidate& c, double spent_s) const {
    const std::size_t n = c.samples_s.size();
    if (n >= 20'000 || (n >= 3 && spent_s >= request_.seconds_per_rung)) return true;
    return n >= 30 && n % 8 == 0 && spent_s >= std::min(0.2, request_.seconds_per_rung) &&
           is_settled(summarize(c.samples_s), 0.01);
  }

  /// Rungs follow each other whole: the memory of one is given back before the next takes its own.
  void measure(HostCandidate& c) {
    if (!session_) throw Failure("Not timed: " + why_, false);
    const auto now_s = [&] { return session_->machine().now_s(); };
    const auto seed = static_cast<std::uint32_t>(request_.seed ^ (request_.seed >> 32));
    c.runs = operation_.host(*session_, c.rung->id, operation_.edge_size);
    check(c, operation_.edge_size, seed + 17);
    if (request_.check_only) return;
    c.runs.reset();
    c.runs = operation_.host(*session_, c.rung->id, size_);
    check(c, size_, seed);
    double start_s = now_s();
    for (int i = 0; i < 1000 && (i < 3 || now_s() - start_s < 25e-3); ++i) c.runs->run();
    start_s = now_s();
    while (!done(c, now_s() - start_s)) c.samples_s.push_back(c.runs->run());
    const Summary times = summarize(c.samples_s);
    check(c, size_, seed + 1);
    c.result.time_s = times.median;
    c.result.spread_s = times.iqr;
    c.result.samples = times.samples;
  }

  const Session* session_;
  const std::string& why_;
  const Request& request_;
  const Operation& operation_;
  const Listener& listener_;
  std::int64_t size_ = 0;
  std::vector<HostCandidate> candidates_;
  std::string lost_;
  bool stopped_ = false;
  double steps_ = 0;
};

}  // namespace

void run_host_rungs(const Session* session, const std::string& why, const Request& request, const Operation& operation,
                    const Listener& listener) {
  HostRun(session, why, request, operation, listener).run();
}

}  // namespace kernels::cuda
