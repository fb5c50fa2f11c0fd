#include <algorithm>
#include <cmath>

#include "chapters/distributed/rare_gradients/lab.h"
#include "widgets/number/number.h"

namespace chapters::distributed::rare_gradients {
namespace {

using namespace models::rare;
using widgets::Curve, widgets::Tint;

/// What a method saves on has a hue of its own; yours has the accent.
Tint tint_of(RareMethod m, bool yours) {
  if (yours) return Tint::yours();
  if (m == RareMethod::all_reduce) return Tint::strong();
  if (m == RareMethod::stale) return late_tint;
  return rare_method_is_local(m) ? seldom_tint : less_tint;
}

/// The runs twice. Between syncs the model that workers share stays as it is, so that local methods fall in steps.
void arrange_curves(const Inputs& in, const Run& run, Picture& p) {
  for (std::size_t m = 0; m < run.runners.size(); ++m) {
    const RunnerRun& r = run.runners[m];
    const auto method = static_cast<RareMethod>(m);
    const bool yours = method == in.method;
    Curve bytes{.kind = rare_method_is_local(method) ? Curve::Kind::steps : Curve::Kind::line,
                .label = std::string(runner_name(m)),
                .info = "trained here; bytes of the model that is priced",
                .tint = tint_of(method, yours),
                .alpha = yours ? 1.0f : 0.75f,
                .width = yours ? 3.0f : 1.6f,
                .named = false,
                .legend = false};
    Curve time = bytes;
    time.info = "trained here; times of the model that is priced";
    for (const RareLook& look : r.run->looks) {
      const double loss = std::min(look.loss, 20.0);
      const double at = r.clock.known_s[look.step];
      if (look.syncs > 0) bytes.add(r.clock.sent_bytes * static_cast<double>(r.clock.syncs_by(at)), loss);
      time.add(at, loss);
    }
    p.by_bytes.push_back(std::move(bytes));
    p.by_time.push_back(std::move(time));
    if (!yours) p.draw_order.push_back(m);
  }
  p.draw_order.push_back(static_cast<std::size_t>(in.method));
}

void arrange_ranges(const Run& run, const Outputs& out, const Inputs& in, Picture& p) {
  p.bytes_lo = HUGE_VAL;
  p.bytes_hi = 0;
  double last = 0;
  for (const RunnerRun& r : run.runners) {
    p.bytes_lo = std::min(p.bytes_lo, r.clock.sent_bytes * static_cast<double>(r.run->looks[1].syncs));
    p.bytes_hi =
        std::max(p.bytes_hi, r.goal.reached ? r.goal.bytes : r.clock.sent_bytes * static_cast<double>(r.run->syncs));
    if (r.goal.reached) last = std::max(last, r.goal.time_s);
  }
  p.bytes_lo *= 0.9;
  p.bytes_hi *= 2.2;
  const double yours = std::isfinite(out.time_s) ? out.time_s : out.end_s;
  // One that takes far longer than the first runs out of the picture; yours never does.
  p.time_hi = 1.18 * (last > 0 ? std::max(std::min(last, 3.2 * out.first_s), yours) : yours);
  p.loss_lo = std::min(0.45, in.target - 0.1);
}

void arrange_lanes(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  for (std::size_t i = 0; i < run.order.size(); ++i) {
    const std::size_t m = run.order[i];
    const RunnerRun& r = run.runners[m];
    const RunnerRow& row = out.runners[i];
    Lane lane{.method = m, .name = std::string(runner_name(m)), .reached = r.goal.reached};
    lane.yours = static_cast<RareMethod>(m) == in.method;
    lane.time_s = lane.reached ? r.goal.time_s : r.clock.total_s();
    lane.bytes = lane.reached ? r.goal.bytes : r.clock.sent_bytes * static_cast<double>(r.run->syncs);
    const std::string loss = "ends at " + widgets::format_text(r.run->looks.back().loss, "");
    lane.bytes_words = lane.reached ? widgets::format_text(lane.bytes, "B") : loss;
    lane.time_words = lane.reached ? widgets::format_text(lane.time_s, "s") : loss;
    if (lane.reached && row.place == 1) lane.time_words += ", first";
    if (row.bytes == out.least_bytes) lane.bytes_words += ", least";
    for (const RareTalk& talk : r.clock.talks) {
      if (talk.from_s >= std::min(lane.time_s, p.time_hi)) break;
      lane.talks.push_back(static_cast<float>(talk.from_s));
      lane.talks.push_back(static_cast<float>(std::min(talk.until_s, lane.time_s)));
    }
    p.lanes.push_back(std::move(lane));
  }
}

/// What a hand changes on the lane of yours.
void arrange_handle(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  const RareClock& c = run.runners[static_cast<std::size_t>(in.method)].clock;
  p.first_talk_s = c.talks.front().from_s;
  if (rare_method_is_local(in.method)) {
    p.period_s = p.first_talk_s / static_cast<double>(in.period);
    p.handle_words = in.period == 1 ? "a sync every step" : "a sync every " + std::to_string(in.period) + " steps";
    p.silence_words = widgets::format_text(out.silence_s, "s", 2) + " of silence";
  } else if (in.method == RareMethod::top_k) {
    p.handle_words = "keeps " + widgets::format_text(in.kept, "%");
  } else if (in.method == RareMethod::power_sgd) {
    p.handle_words = "rank " + std::to_string(in.rank);
  }
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  // Before the first result there is no training to draw.
  if (!out.reason.empty() || !run.runners.front().run) return p;
  p.answer = answer_of(in, out);
  arrange_curves(in, run, p);
  arrange_ranges(run, out, in, p);
  arrange_lanes(in, out, run, p);
  arrange_handle(in, out, run, p);
  p.doors = doors_of(in, out);
  return p;
}

}  // namespace chapters::distributed::rare_gradients
