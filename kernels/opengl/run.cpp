#include "kernels/opengl/run.h"

#include <algorithm>
#include <memory>
#include <new>

#include "kernels/opengl/operands.h"
#include "kernels/opengl/stopwatch.h"

namespace kernels::opengl {
namespace {

/// Drivers of a display reset a GPU that works on one dispatch for 2 s; this leaves room for a busy desktop.
constexpr double longest_dispatch_s = 0.5;
/// A probe is followed by one of at most this many times its work.
constexpr double probe_growth = 8;
/// Small runs take microseconds, and a clock may count those.
constexpr std::int64_t probe_runs = 4;

/// A rung on its way from text to time.
struct Candidate {
  const Rung* rung = nullptr;
  bool edited = false;
  Result result;
  std::unique_ptr<Program> program;
  std::vector<Launch> launches;
  std::int64_t next_set = 0;
  std::unique_ptr<Stopwatch> watch;  // goes before the program

  std::string name() const { return std::string(rung->entry); }
  bool alive() const { return result.failure.empty(); }
};

std::string seconds_text(double s) {
  const std::string text = std::to_string(s);
  return text.substr(0, text.find('.') + 2) + " s";
}

/// "4096", or "64.0 MiB" where the ladder counts bytes.
std::string size_text(const Ladder& ladder, std::int64_t size) {
  return ladder.size_unit == "B" ? binary_bytes(size) : std::to_string(size);
}

/// One request on its way through. `lost`: why nothing more can run; `stopped`: the listener asked to.
class Run {
 public:
  Run(const Session& session, const Request& request, const Operation& operation, const Listener& listener)
      : session_(session), request_(request), operation_(operation), listener_(listener) {
    asked_ = operation.rounded(request.size > 0 ? request.size : operation.ladder->size_default);
    size_ = session.facts().software ? std::min(asked_, operation.check_size) : asked_;
    seed_ = static_cast<std::uint32_t>(request.seed ^ (request.seed >> 32));
  }

  /// An edited rung goes last, so that what it may do to the context costs the others nothing.
  void operator()() {
    choose();
    std::vector<Candidate*> own, edited;
    for (Candidate& c : candidates_) {
      guarded(c, [&] { compile(c); });
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
      if (!group->empty()) run_group(*group);
  }

 private:
  void choose() {
    for (const Rung& rung : operation_.ladder->rungs) {
      const auto& named = request_.rungs;
      if (!named.empty() && std::find(named.begin(), named.end(), rung.id) == named.end()) continue;
      Candidate c{.rung = &rung, .edited = rung.id == request_.edited_rung};
      const models::OpCost cost = operation_.ladder->cost(asked_);
      c.result = {
          .ladder = std::string(operation_.ladder->id),
          .rung = std::string(rung.id),
          .size = asked_,
          .flops = cost.flops,
          .bytes = cost.bytes(),
      };
      candidates_.push_back(std::move(c));
    }
  }

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

  void compile(Candidate& c) {
    const std::string_view source = c.edited ? std::string_view(request_.edited_source) : c.rung->source;
    c.launches = operation_.launches(c.rung->id, size_);
    const Launch& first = c.launches.front();
    c.program = std::make_unique<Program>(session_, source, first);
    c.result.compiled = c.program->failure().empty();
    c.result.failure = c.program->failure();
    c.result.diagnostics = c.program->diagnostics();
    c.result.report.block_threads = static_cast<int>(first.local_x * first.local_y);
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
        lost_ = "Not run: " + c.name() + " has taken the context with it, and only a new process gets another.";
    } catch (const std::bad_alloc&) {
      c.result.failure = "This machine has too little memory to check the result at size " +
                         size_text(*operation_.ladder, size_) + ": choose a smaller one.";
    }
  }

  void run_group(std::span<Candidate* const> group) {
    const bool timed = !session_.facts().software;
    const std::int64_t sets = request_.cold && timed ? cold_sets(operation_, size_) : 1;
    std::unique_ptr<Operands> edge, operands;
    const auto allocate = [&] {  // by the first rung that lives: one that fails for memory tells each rung why
      if (!edge) edge = std::make_unique<Operands>(session_, operation_, operation_.edge_size, 1);
      if (!operands) operands = std::make_unique<Operands>(session_, operation_, size_, sets);
    };
    for (Candidate* c : group) {
      guarded(*c, [&] {
        allocate();
        const auto small = operation_.launches(c->rung->id, edge->size());
        check(session_, operation_, *edge, *c->program, small, seed_ + 17, *c->rung);
        if (timed) probe(*c, *operands);
        note(*c, check(session_, operation_, *operands, *c->program, c->launches, seed_, *c->rung));
      });
      step(1);
    }
    if (timed) time_in_turns(group, *operands);
    for (Candidate* c : group) {
      guarded(*c, [&] {
        if (timed) conclude(*c, *operands);
        if (!timed) say_checked(*c);
      });
      c->watch.reset();
      c->program.reset();
      step(1);
      if (!c->alive() || c->result.samples > 0) report(*c);
    }
  }

  static void note(Candidate& c, const Deviation& d) {
    c.result.error = std::max(c.result.error, d.error);
    c.result.error_bound = d.bound;
  }

  /// Runs small sizes before large ones, and stops before a run that would be too long for a display's driver.
  void probe(Candidate& c, Operands& operands) {
    operands.fill(seed_);
    std::vector<Launch> launches;
    Stopwatch watch(
        session_, [&] { operands.enqueue(*c.program, launches, 0, c.name()); }, 1);
    const auto work = [&](std::int64_t size) {
      const models::OpCost cost = operation_.ladder->cost(size);
      return std::max(cost.flops, cost.bytes());
    };
    std::int64_t size = std::min(operation_.edge_size, size_);
    while (size < size_) {
      launches = operation_.launches(c.rung->id, size);
      const double run_s = watch.time_of(probe_runs) / static_cast<double>(probe_runs);
      std::int64_t next = size_;
      while (work(next) > probe_growth * work(size)) next = operation_.rounded(size + (next - size) / 2);
      const double next_s = run_s * work(next) / work(size);
      if (next_s > longest_dispatch_s) {
        const double whole_s = run_s * work(size_) / work(size);
        const Ladder& ladder = *operation_.ladder;
        throw Failure("One run at size " + size_text(ladder, size_) + " would take about " + seconds_text(whole_s) +
                      ", and the drivers of displays reset a GPU that works 2 s on one: choose a size up to " +
                      size_text(ladder, std::max(size, ladder.size_lo)) + ".");
      }
      if (next <= size) break;
      size = next;
      step(0);
    }
  }

  /// A sample of each rung in turn, so that drift of clocks and temperature falls on all alike.
  void time_in_turns(std::span<Candidate* const> group, Operands& operands) {
    for (Candidate* c : group)
      guarded(*c, [&] {
        const auto enqueue = [c, &operands] {
          operands.enqueue(*c->program, c->launches, c->next_set, c->name());
          c->next_set = (c->next_set + 1) % operands.sets();
        };
        c->watch = std::make_unique<Stopwatch>(session_, enqueue, request_.seconds_per_rung);
        c->watch->warm_up();
      });
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

  void conclude(Candidate& c, Operands& operands) {
    const Summary times = c.watch->summary();
    // New numbers after the clock has stopped: a kernel that kept old results is found out.
    note(c, check(session_, operation_, operands, *c.program, c.launches, seed_ + 1, *c.rung));
    c.result.time_s = times.median;
    c.result.spread_s = times.iqr;
    c.result.samples = times.samples;
  }

  void say_checked(Candidate& c) {
    c.result.checked = true;
    c.result.failure = "Right against float64 at size " + size_text(*operation_.ladder, size_) +
                       " and not timed: " + session_.facts().renderer.substr(0, 60) +
                       " draws on the CPU, and its times say nothing of a GPU.";
  }

  const Session& session_;
  const Request& request_;
  const Operation& operation_;
  const Listener& listener_;
  std::int64_t asked_ = 0, size_ = 0;
  std::uint32_t seed_ = 0;
  std::vector<Candidate> candidates_;
  std::string lost_;
  bool stopped_ = false;
  double steps_ = 0;
};

}  // namespace

models::Status run_on(const Machine& machine, const Request& request, const Ladder& ladder, const Listener& listener) {
  const Operation* operation = find_operation(ladder.id);
  if (!operation) return models::Status::fail("There is no OpenGL ladder \"" + std::string(ladder.id) + "\".");
  try {
    const Session session(machine);
    Run(session, request, *operation, listener)();
  } catch (const Failure& failure) {
    return models::Status::fail(failure.what());
  }
  return models::Status::ok();
}

}  // namespace kernels::opengl
