#include "kernels/cuda/run.h"

#include <algorithm>
#include <memory>
#include <new>

#include "kernels/cuda/compile.h"
#include "kernels/cuda/host_run.h"
#include "kernels/cuda/operands.h"
#include "kernels/cuda/stopwatch.h"
#include "kernels/cuda/sums.h"

namespace kernels::cuda {
namespace {

/// A rung on its way from text to time.
struct Candidate {
  const Rung* rung = nullptr;
  bool edited = false;
  Result result;
  std::string image;
  std::unique_ptr<LoadedModule> module;
  Prepared prepared;
  std::int64_t next_set = 0;
  std::unique_ptr<Stopwatch> watch;  // goes before the module

  std::string name() const { return std::string(rung->entry); }
  bool alive() const { return result.failure.empty(); }
};

bool has_instructions(const Rung& rung, int capability) {
  return rung.capability_lo <= capability && (rung.capability_hi == 0 || capability <= rung.capability_hi);
}

/// One sentence when a GPU of `capability` lacks the instructions of a rung, with the last rung that runs there;
/// otherwise empty.
std::string why_not(const Ladder& ladder, const Rung& rung, int capability) {
  const auto version = [](int of) { return std::to_string(of / 10) + "." + std::to_string(of % 10); };
  if (has_instructions(rung, capability)) return {};
  const bool only_one = rung.capability_lo == rung.capability_hi;
  std::string why = "This kernel's instructions exist on GPUs of compute capability " + version(rung.capability_lo) +
                    (only_one                 ? " only"
                     : rung.capability_hi > 0 ? " to " + version(rung.capability_hi)
                                              : " and newer") +
                    ", and this GPU has " + version(capability);
  const auto there = std::find_if(ladder.rungs.rbegin(), ladder.rungs.rend(),
                                  [&](const Rung& other) { return has_instructions(other, capability); });
  return why +
         (there == ladder.rungs.rend() ? "." : ": its last rung for it is \"" + std::string(there->title) + "\".");
}

/// One request on its way through. `lost`: why nothing more can run; `stopped`: the listener asked to.
class Run {
 public:
  Run(const Machine& machine, const Request& request, const Operation& operation, const Listener& listener)
      : machine_(machine), request_(request), operation_(operation), listener_(listener) {
    size_ = operation.rounded(request.check_only ? operation.edge_size
                              : request.size > 0 ? request.size
                                                 : operation.ladder->size_default);
  }

  void choose() {
    for (const Rung& rung : operation_.ladder->rungs) {
      const bool wanted = request_.rungs.empty() ||
                          std::find(request_.rungs.begin(), request_.rungs.end(), rung.id) != request_.rungs.end();
      if (!wanted) continue;
      Candidate c{.rung = &rung, .edited = rung.id == request_.edited_rung};
      const models::OpCost cost = cost_of(*operation_.ladder, rung, size_);
      c.result = {
          .ladder = std::string(operation_.ladder->id),
          .rung = std::string(rung.id),
          .size = size_,
          .flops = cost.flops,
          .bytes = cost.bytes(),
      };
      candidates_.push_back(std::move(c));
    }
  }

  /// An edited rung goes last, so that what it may do to the context costs the others nothing.
  void on_device(const Session& session) {
    std::vector<Candidate*> own, edited;
    for (Candidate& c : candidates_) {
      compile_one(c, session.facts().capability);
      if (c.alive()) {
        (c.edited ? edited : own).push_back(&c);
        step(1);
      } else {
        step(3);
        report(c);
      }
      if (stopped_) return;
    }
    for (auto* group : {&own, &edited})
      if (!group->empty()) run_group(session, *group);
  }

  void without_device(const std::string& why) {
    for (Candidate& c : candidates_) {
      if (stopped_) return;
      // A rung for newer hardware is compiled for the first that has its instructions.
      const int newest = c.rung->capability_hi > 0 ? c.rung->capability_hi : default_capability;
      compile_one(c, std::max(std::min(default_capability, newest), c.rung->capability_lo));
      step(3);
      if (c.result.failure.empty())
        c.result.failure = "Compiled for " + c.result.report.arch + " but not timed: " + why;
      report(c);
    }
  }

 private:
  void report(Candidate& c) {
    if (listener_.result && !listener_.result(c.result)) stopped_ = true;
  }

  /// Three steps a rung: compiled, checked, timed.
  void step(int steps) {
    steps_ += steps;
    if (listener_.progress &&
        !listener_.progress(std::min(1.0, steps_ / (3.0 * static_cast<double>(candidates_.size())))))
      stopped_ = true;
  }

  void compile_one(Candidate& c, int capability) {
    if (std::string why = why_not(*operation_.ladder, *c.rung, capability); !why.empty()) {
      c.result.compiled = false;
      c.result.failure = std::move(why);
      return;
    }
    const std::string_view source = c.edited ? std::string_view(request_.edited_source) : c.rung->source;
    Compilation compiled =
        compile(machine_.nvrtc, source, c.name() + ".cu", c.rung->entry, capability, c.rung->architecture_specific);
    c.result.compiled = compiled.failure.empty();
    c.result.failure = std::move(compiled.failure);
    c.result.diagnostics = std::move(compiled.diagnostics);
    c.result.report = std::move(compiled.report);
    c.image = std::move(compiled.image);
    const auto launches = operation_.launches(c.rung->id, size_, 1);
    c.result.report.block_threads = static_cast<int>(launches.front().block_x * launches.front().block_y);
    c.result.report.shared_bytes += launches.front().shared_bytes;
  }

  /// Does `work`; a Failure becomes the rung's, and the end of everything if it took the context with it.
  template <class F>
  void guarded(Candidate& c, F work) {
    if (!c.alive() || stopped_) return;
    if (!lost_.empty()) {
      c.result.failure = lost_;
      return;
    }
    try {
      work();
    } catch (const Failure& failure) {
      c.result.failure = failure.what();
      if (failure.context_lost)
        lost_ = "Not run: " + c.name() + " has taken the GPU's context with it, and only a new process gets another.";
    } catch (const std::bad_alloc&) {
      c.result.failure = "This machine has too little memory to check the result at size " + std::to_string(size_) +
                         ": choose a smaller one.";
    }
  }

  void run_group(const Session& session, std::span<Candidate* const> group) {
    const std::int64_t sets = request_.cold ? cold_sets(session, operation_, size_) : 1;
    std::unique_ptr<Operands> edge, operands;
    ExpectedSums expected_at_edge, expected;
    const auto allocate = [&] {  // by the first rung that lives: one that fails for memory tells each rung why
      if (!edge) edge = std::make_unique<Operands>(session, operation_, operation_.edge_size, 1);
      if (!operands && !request_.check_only) operands = std::make_unique<Operands>(session, operation_, size_, sets);
    };
    const auto seed = static_cast<std::uint32_t>(request_.seed ^ (request_.seed >> 32));
    for (Candidate* c : group) {
      guarded(*c, [&] {
        allocate();
        c->module = std::make_unique<LoadedModule>(session.driver(), c->image);
        const Deviation at_edge =
            check(session, operation_, *edge, prepared(*c, edge->size(), session), seed + 17, expected_at_edge);
        if (request_.check_only) return note(*c, at_edge);
        c->prepared = prepared(*c, size_, session);
        note(*c, check(session, operation_, *operands, c->prepared, seed, expected));
      });
      step(1);
    }
    if (!request_.check_only) {
      for (Candidate* c : group) guarded(*c, [&] { warm(session, *c, *operands); });
      sample_in_turns(group);
    }
    for (Candidate* c : group) {
      guarded(*c, [&] {
        if (request_.check_only) return;
        const Summary times = c->watch->summary();
        // New numbers after the clock has stopped: a kernel that kept old results is found out.
        note(*c, check(session, operation_, *operands, c->prepared, seed + 1, expected));
        c->result.time_s = times.median;
        c->result.spread_s = times.iqr;
        c->result.samples = times.samples;
      });
      c->watch.reset();
      c->module.reset();
      step(1);
      if (!c->alive() || c->result.samples > 0 || request_.check_only) report(*c);
    }
  }

  Prepared prepared(const Candidate& c, std::int64_t size, const Session& session) const {
    Prepared p{c.rung,
               operation_.launches_on ? operation_.launches_on(c.rung->id, size, session.facts())
                                      : operation_.launches(c.rung->id, size, session.facts().multiprocessors),
               {}};
    p.functions = functions_of(session, *c.module, c.rung->entry, p.launches);
    return p;
  }

  static void note(Candidate& c, const Deviation& d) {
    c.result.error = std::max(c.result.error, d.error);
    c.result.error_bound = d.bound;
  }

  void warm(const Session& session, Candidate& c, const Operands& operands) {
    const auto enqueue = [&c, &operands] {
      operands.enqueue(c.prepared.functions, c.prepared.launches, c.next_set, c.name());
      c.next_set = (c.next_set + 1) % operands.sets();
    };
    c.watch = std::make_unique<Stopwatch>(session, enqueue, operands.sets(), request_.seconds_per_rung);
    // Windows and X end a launch of 2 s on a display's GPU; half a second leaves room for a busy desktop.
    if (const double run_s = c.watch->warm_up(); session.facts().watchdog && run_s > 0.5)
      throw Failure("One run takes " + std::to_string(run_s).substr(0, 4) +
                        " s, and this GPU drives a display whose driver ends long launches: choose a smaller size.",
                    false);
  }

  /// A few samples of each rung in turn, so that drift of clocks and temperature falls on all alike.
  void sample_in_turns(std::span<Candidate* const> group) {
    for (bool more = true; more && !stopped_;) {
      more = false;
      for (Candidate* c : group)
        guarded(*c, [&] {
          if (c->watch->done()) return;
          c->watch->sample();
          more = true;
        });
      step(0);
    }
  }

  const Machine& machine_;
  const Request& request_;
  const Operation& operation_;
  const Listener& listener_;
  std::int64_t size_ = 0;
  std::vector<Candidate> candidates_;
  std::string lost_;
  bool stopped_ = false;
  double steps_ = 0;
};

}  // namespace

models::Status run_on(const Machine& machine, const Request& request, const Ladder& ladder, const Listener& listener) {
  const Operation* operation = find_operation(ladder.id);
  if (!operation) return models::Status::fail("There is no CUDA ladder \"" + std::string(ladder.id) + "\".");
  // The instruments are compiled, so even rungs without a kernel of their own need the compiler.
  if (!machine.no_nvrtc.empty())
    return models::Status::fail(machine.no_driver.empty() ? machine.no_nvrtc
                                                          : machine.no_driver + " " + machine.no_nvrtc);
  std::unique_ptr<Session> session;
  std::string why;
  try {
    session = std::make_unique<Session>(machine);
  } catch (const Failure& failure) {
    why = failure.what();
  }
  if (operation->host) {
    run_host_rungs(session.get(), why, request, *operation, listener);
    return models::Status::ok();
  }
  Run run(machine, request, *operation, listener);
  run.choose();
  if (session)
    run.on_device(*session);
  else
    run.without_device(why);
  return models::Status::ok();
}

}  // namespace kernels::cuda
