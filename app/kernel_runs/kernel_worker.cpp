#include "app/kernel_runs/kernel_worker.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "app/kernel_runs/kernel_json.h"
#include "app/platform/temporary_file.h"

namespace app {
namespace {

using How = ChildEnd::How;
using Event = KernelEvent;
using models::Status;

/// A conversation with one child.
struct Talk {
  ChildEnd end;
  bool done = false;    ///< it said so itself
  std::string failure;  ///< and what it said then
  std::string why() const { return !end.why.empty() ? end.why : "The worker ended before it was done."; }
  bool stopped() const { return end.how == How::cancelled; }
};

/// Hands each event to `use`, which fails with a clause when the event has no place here, and may set `enough`.
template <class Use>
Talk talk(const KernelWorker& worker, const std::vector<std::string>& words, const std::function<bool()>& stop,
          bool& enough, const Use& use) {
  std::vector<std::string> argv = worker.program;
  argv.insert(argv.end(), words.begin(), words.end());
  Talk out;
  const auto take = [&](std::string_view line) -> Status {
    auto event = parse_kernel_event(line);
    if (!event) {
      std::string why = event.error;
      while (!why.empty() && why.back() == '.') why.pop_back();
      return Status::fail("what it said makes no sense (" + why + ")");
    }
    if (out.done) return Status::fail("it went on talking after it was done");
    if (event->kind == Event::Kind::done) {
      out.done = true;
      out.failure = event->failure;
      return Status::ok();
    }
    return use(*event);
  };
  out.end = run_child(argv, worker.limits, take, [&] { return enough || (stop && stop()); });
  return out;
}

std::string number_word(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::vector<std::string> run_words(const kernels::Request& r, const std::vector<std::string>& rungs,
                                   const std::string& source_path) {
  std::vector<std::string> words{"kernels",   "run",
                                 r.ladder,    "--json",
                                 "--seed",    std::to_string(r.seed),
                                 "--seconds", number_word(r.seconds_per_rung)};
  if (r.size > 0) words.insert(words.end(), {"--size", std::to_string(r.size)});
  if (!r.cold) words.emplace_back("--warm");
  if (!source_path.empty()) words.insert(words.end(), {"--source", source_path});
  for (const auto& rung : rungs) words.insert(words.end(), {"--rung", rung});
  return words;
}

kernels::Result failed(const kernels::Request& request, const std::string& rung, std::string why) {
  kernels::Result r;
  r.ladder = request.ladder;
  r.rung = rung;
  r.size = request.size;
  r.failure = std::move(why);
  return r;
}

/// A request's rungs, which children work off: each result strikes its rung off those that are left.
class RungRun {
 public:
  RungRun(const KernelWorker& worker, const kernels::Request& request, const kernels::Listener& listener,
          const std::function<bool()>& stop, const std::function<void(std::string)>& say)
      : worker_(worker), request_(request), listener_(listener), stop_(stop), say_(say), left_(request.rungs) {
    if (left_.empty())
      if (const auto* ladder = kernels::find_ladder(request.ladder))
        for (const auto& rung : ladder->rungs) left_.emplace_back(rung.id);
    if (!request.edited_rung.empty()) left_ = {request.edited_rung};
    all_ = static_cast<double>(std::max<std::size_t>(left_.size(), 1));
  }

  Status run() {
    if (!request_.edited_rung.empty()) {
      source_ = std::make_unique<TemporaryFile>(request_.edited_source);
      if (source_->path().empty())
        return Status::fail("The edited source could not be written to a temporary file: is the disk full?");
    }
    const Talk first = attempt(left_);
    if (first.stopped() || enough_) return Status::ok();
    if (first.end.how == How::not_started) return Status::fail(first.end.why);
    if (!first.done) {
      run_one_by_one(first);
      return Status::ok();
    }
    if (!first.failure.empty()) return Status::fail(first.failure);
    for (const auto& rung : left_) report(failed(request_, rung, "The worker gave no result for this rung."));
    return Status::ok();
  }

 private:
  void report(const kernels::Result& result) {
    if (listener_.result && !listener_.result(result)) enough_ = true;
  }

  /// One child for these rungs.
  Talk attempt(const std::vector<std::string>& rungs) {
    const double before = (all_ - static_cast<double>(left_.size())) / all_,
                 share = static_cast<double>(rungs.size()) / all_;
    return talk(worker_, run_words(request_, rungs, source_ ? source_->path() : std::string()), stop_, enough_,
                [&](const Event& event) { return take_event(event, before, share); });
  }

  Status take_event(const Event& event, double before, double share) {
    if (event.kind == Event::Kind::progress) {
      if (listener_.progress && !listener_.progress(before + share * std::clamp(event.fraction, 0.0, 1.0)))
        enough_ = true;
      return Status::ok();
    }
    if (event.kind == Event::Kind::note) {
      if (say_) say_(event.note);
      return Status::ok();
    }
    if (event.kind != Event::Kind::result) return Status::fail("it answered what it was not asked");
    const auto at = std::find(left_.begin(), left_.end(), event.result.rung);
    if (event.result.ladder != request_.ladder || at == left_.end())
      return Status::fail("it answered for a kernel that it was not asked for");
    left_.erase(at);
    report(event.result);
    return Status::ok();
  }

  /// After a child that did not come to its end: whose fault it was is known only where a rung runs alone.
  void run_one_by_one(const Talk& first) {
    const std::vector<std::string> again = left_;
    for (const auto& rung : again) {
      const Talk alone = again.size() == 1 ? first : attempt({rung});
      if (alone.stopped() || enough_) return;
      if (std::find(left_.begin(), left_.end(), rung) == left_.end()) continue;
      std::erase(left_, rung);
      const std::string silent = alone.failure.empty() ? "The worker gave no result for this rung." : alone.failure;
      report(failed(request_, rung, alone.done ? silent : alone.why()));
      if (enough_) return;
    }
  }

  const KernelWorker& worker_;
  const kernels::Request& request_;
  const kernels::Listener& listener_;
  const std::function<bool()>& stop_;
  const std::function<void(std::string)>& say_;
  std::vector<std::string> left_;
  std::unique_ptr<TemporaryFile> source_;
  double all_ = 1;
  bool enough_ = false;  ///< the listener wants no more
};

}  // namespace

models::Status run_kernels(const KernelWorker& worker, const kernels::Request& request,
                           const kernels::Listener& listener, const std::function<bool()>& stop,
                           const std::function<void(std::string)>& say) {
  return RungRun(worker, request, listener, stop, say).run();
}

models::Status run_turns(const KernelWorker& worker, const kernels::TurnsRequest& request,
                         const kernels::TakeTurn& take, const std::function<bool()>& stop,
                         const std::function<void(std::string)>& say) {
  bool enough = false;
  std::int64_t next = 0;
  std::vector<std::string> words{
      "kernels", "turns",   request.ladder, "--json",  "--seed",  std::to_string(request.seed),
      "--rung",  request.a, "--rung",       request.b, "--turns", request.turns};
  if (request.size > 0) words.insert(words.end(), {"--size", std::to_string(request.size)});
  if (!request.cold) words.emplace_back("--warm");
  const Talk said = talk(worker, words, stop, enough, [&](const Event& event) {
    if (event.kind == Event::Kind::note) {
      if (say) say(event.note);
      return Status::ok();
    }
    if (event.kind != Event::Kind::turn) return Status::fail("it answered what it was not asked");
    const auto& turn = event.turn;
    const auto place = static_cast<std::size_t>(next);
    if (turn.place != next || place >= request.turns.size() || turn.is_b != (request.turns[place] == 'B') ||
        !(turn.time_s > 0 && std::isfinite(turn.time_s)))
      return Status::fail("it told of a run that was not asked for");
    ++next;
    if (!take(turn)) enough = true;
    return Status::ok();
  });
  if (said.stopped() || enough) return Status::ok();
  if (!said.done) return Status::fail(said.why());
  if (!said.failure.empty()) return Status::fail(said.failure);
  if (static_cast<std::size_t>(next) < request.turns.size())
    return Status::fail("The worker ended before all runs were made.");
  return Status::ok();
}

kernels::Roofs measure_roofs(const KernelWorker& worker, kernels::Device device, double seconds,
                             const kernels::Listener& listener, const std::function<bool()>& stop) {
  kernels::Roofs out;
  out.device = device;
  bool enough = false;
  const Talk said = talk(worker,
                         {"kernels", "roofline", "--device", std::string(kernels::id_of(device)), "--seconds",
                          number_word(seconds), "--json"},
                         stop, enough, [&](const Event& event) {
                           if (event.kind == Event::Kind::progress) {
                             if (listener.progress && !listener.progress(std::clamp(event.fraction, 0.0, 1.0)))
                               enough = true;
                           } else if (event.kind == Event::Kind::device && event.device == device) {
                             out.device_name = event.name;
                           } else if (event.kind == Event::Kind::roof) {
                             out.roofs.push_back(event.roof);
                           } else if (event.kind == Event::Kind::note) {
                             out.note = event.note;
                           } else {
                             return Status::fail("it answered what it was not asked");
                           }
                           return Status::ok();
                         });
  if (said.stopped()) return out;
  out.failure = said.done ? said.failure : said.why();
  return out;
}

}  // namespace app
