#include <algorithm>
#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "chapters/serving/batching/lab.h"
#include "widgets/number/number.h"

namespace chapters::serving::batching {
namespace {

using widgets::format_text;

std::string count_text(double count) { return format_text(count, ""); }

/// Keeps the last of several points at one time, up to `end_s`: somebody who is served on arrival was never in the
/// queue.
std::vector<models::ServingPoint> keep_last_at_each_time(const std::vector<models::ServingPoint>& points,
                                                         double end_s) {
  std::vector<models::ServingPoint> out;
  for (const models::ServingPoint& p : points) {
    if (p.time_s > end_s) break;
    if (!out.empty() && out.back().time_s == p.time_s) out.pop_back();
    out.push_back(p);
  }
  return out;
}

double peak_of(const std::vector<models::ServingPoint>& points) {
  double peak = 0;
  for (const models::ServingPoint& p : points) peak = std::max(peak, p.value);
  return peak;
}

/// The figures over a policy's lanes: a model's tokens, or a plain queue's waits; those that there are.
std::vector<Headline> headlines_of(const PolicyRun& run, bool tokens) {
  const models::ServingSummary& s = run.figures;
  std::vector<Headline> out;
  const auto add = [&](std::string_view label, double value, std::string_view unit, std::string_view behind = {}) {
    if (std::isfinite(value)) out.push_back({label, format_text(value, unit) + std::string(behind)});
  };
  if (run.overloaded)
    out.push_back(
        {"overloaded, served", count_text(s.throughput_per_s) + " of " + count_text(s.arrivals_per_s) + "/s"});
  add("p50", s.p50_latency_s, "s");
  add("p99", s.p99_latency_s, "s");
  if (tokens) {
    add("TTFT p99", s.ttft_p99_s, "s");
    add("gap p99", s.itl_p99_s, "s");
  } else {
    add("wait", s.mean_wait_s, "s");
    add("busy", run.utilization_percent, "%");
  }
  add("goodput", s.goodput_per_s, "", "/s");
  if (!run.overloaded) add("served", s.throughput_per_s, "", "/s");
  return out;
}

/// Requests in the queue, each in the first row that is free when it arrives. Somebody who is sent back waits again and
/// is not shown a second time. `served` holds times that are NaN for requests that were refused.
void arrange_queue(const std::vector<models::ServingRequest>& requests, PolicyPicture& out) {
  std::vector<double> free_s;
  for (std::size_t i = 0; i < requests.size() && requests[i].arrival_s < out.end_s; ++i) {
    const double from_s = requests[i].arrival_s, to_s = std::min(out.served[i].start_s, out.end_s);
    if (!(to_s > from_s)) continue;
    std::size_t row = 0;
    while (row < free_s.size() && free_s[row] > from_s) ++row;
    if (row == free_s.size()) free_s.push_back(0);
    free_s[row] = to_s;
    out.queue.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(i), from_s, to_s});
  }
  out.queue_rows = static_cast<std::int32_t>(free_s.size());
}

/// How many slots put a prompt through, decode or are held, over time.
std::vector<Occupation> occupation_of(const std::vector<models::SlotSpan>& spans, const PolicyPicture& policy) {
  struct Change {
    double time_s;
    std::size_t use;
    std::int32_t by;
  };
  std::vector<Change> changes;
  for (const models::SlotSpan& s : spans) {
    const bool late = s.use == models::SlotUse::decode && policy.missed_by(s.request);
    const std::size_t use = policy.later(s.request) ? 4 : late ? 3 : static_cast<std::size_t>(s.use);
    changes.push_back({s.start_s, use, 1});
    changes.push_back({s.end_s, use, -1});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.time_s < b.time_s; });
  std::vector<Occupation> out{{}};
  for (const Change& c : changes) {
    if (c.time_s > out.back().time_s) {
      out.push_back(out.back());
      out.back().time_s = c.time_s;
    }
    out.back().slots[c.use] += c.by;
  }
  return out;
}

/// Whether a request was later than a limit allows, as goodput counts it.
bool missed_slo(const models::ServingRequest& r, const models::ServedRequest& s, const Inputs& in) {
  if (!(s.finish_s >= 0)) return true;
  const double more = r.output_tokens > 1 ? static_cast<double>(r.output_tokens - 1) : 0;
  const double each_s = more > 0 && in.service == Service::llm ? (s.last_token_s - s.first_token_s) / more : 0;
  return !(s.first_token_s - r.arrival_s <= in.ttft_limit_s && each_s <= in.tpot_limit_s);
}

/// What is drawn of one policy: until the last of the `pictured` first requests has left.
PolicyPicture picture_of(const PolicyRun& run, const PolicyHistory& of,
                         const std::vector<models::ServingRequest>& requests, std::size_t pictured, const Inputs& in) {
  const bool tokens = in.service == Service::llm;
  const models::ServingRun& history = of.run;
  PolicyPicture out{
      .name = run.name,
      .curve = run.overloaded ? run.name + ", overloaded" : run.name,
      .latency_s = of.latency_s,
      .ttft_s = of.ttft_s,
      .served = history.served,
      .headlines = headlines_of(run, tokens),
  };
  for (std::size_t i = 0; i < pictured; ++i) {
    const models::ServedRequest& s = history.served[i];
    out.missed.push_back(missed_slo(requests[i], s, in));
    if (s.finish_s >= 0) out.end_s = std::max(out.end_s, s.finish_s);
  }
  for (models::SlotSpan s : history.spans) {
    if (!(s.start_s < out.end_s)) continue;
    s.end_s = std::min(s.end_s, out.end_s);
    out.spans.push_back(s);
    out.lanes = std::max(out.lanes, s.lane + 1);
  }
  arrange_queue(requests, out);
  out.occupation = occupation_of(out.spans, out);
  out.waiting = keep_last_at_each_time(history.waiting, out.end_s);
  out.blocks = keep_last_at_each_time(history.blocks, out.end_s);
  out.peak_waiting = peak_of(out.waiting);
  out.peak_blocks = peak_of(out.blocks);
  // Behind the last departure nothing is shown, whoever is still there.
  for (auto* points : {&out.waiting, &out.blocks})
    if (!points->empty()) points->push_back({out.end_s, 0});
  return out;
}

/// The dot's size says how much a request asks for: its output tokens, or its service time.
Dot dot_of(const models::ServingRequest& r, const Inputs& in) {
  const double size = in.service == Service::llm ? std::log1p(r.output_tokens) / std::log1p(1000.0)
                                                 : r.service_s / (3 * in.service_time_s);
  return {r.arrival_s, static_cast<float>(std::clamp(size, 0.0, 1.0)), r.prompt_tokens, r.output_tokens};
}

std::string caption_of(const Inputs& in, const Outputs& out, std::int64_t pictured) {
  std::string what = "Figures of " + count_text(static_cast<double>(out.chosen.requests)) + " requests";
  if (!in.trace.text.empty()) what += " of " + in.trace.path.substr(in.trace.path.find_last_of("/\\") + 1);
  if (out.failed > 0) what += ", " + count_text(static_cast<double>(out.failed)) + " failed ones left out";
  if (out.warm_up > 0) what += " after a warm-up of " + count_text(static_cast<double>(out.warm_up));
  if (pictured < out.chosen.requests + out.warm_up)
    what += "; drawn: the first " + count_text(static_cast<double>(pictured));
  if (in.service != Service::llm)
    return what + " through a plain queue of " +
           (in.servers == 1 ? std::string("one server") : count_text(static_cast<double>(in.servers)) + " servers") +
           "; formula: " + out.theory;
  what += ", " + catalog().model(in.model)->name + " on " + std::to_string(in.chips) + " x " +
          catalog().chip(in.chip)->short_name;
  if (in.servers > 1) what += ", the first of " + std::to_string(in.servers) + " replicas shown";
  return what;
}

/// For what a request waits under a policy.
std::string_view waits_for(models::ServingPolicy policy, bool tokens) {
  switch (policy) {
    case models::ServingPolicy::fixed:
      return "for a full batch and the one before it";
    case models::ServingPolicy::dynamic:
      return "for its batch to start and the one before it";
    case models::ServingPolicy::single:
      break;
    case models::ServingPolicy::continuous:
    case models::ServingPolicy::chunked:
      if (tokens) return "for the running step and room in the batch";
  }
  return "for the requests ahead";
}

/// "`516 ms` ± `40 ms`", the second where there is an interval.
std::string with_half(double value_s, double half_s) {
  std::string out = "`" + format_text(value_s, "s") + "`";
  if (std::isfinite(half_s) && half_s > 0) out += " ± `" + format_text(half_s, "s") + "`";
  return out;
}

std::string wait_text(const PolicyRun& run, bool tokens) {
  if (!(run.figures.mean_wait_s > 0)) return run.name + ": nobody waits";
  return run.name + ": " + with_half(run.figures.mean_wait_s, run.figures.half.mean_wait_s) + " " +
         std::string(waits_for(run.policy, tokens));
}

std::string leave_text(const PolicyRun& run) {
  return "`" + format_text(run.figures.throughput_per_s, "") + "` of `" + format_text(run.figures.arrivals_per_s, "") +
         "` requests a second leave";
}

/// Who is overloaded, and how long requests wait under the other one.
std::string overload_text(const PolicyRun& chosen, const PolicyRun* rival, bool tokens) {
  if (!rival || (chosen.overloaded && rival->overloaded)) {
    std::string out = chosen.name + " is overloaded: " + leave_text(chosen) + ", and its queue grows";
    if (rival) out += "; so is " + rival->name + ", where " + leave_text(*rival);
    return out + ".";
  }
  const PolicyRun &over = chosen.overloaded ? chosen : *rival, &other = chosen.overloaded ? *rival : chosen;
  return over.name + " is overloaded: " + leave_text(over) + ". Mean wait under " + wait_text(other, tokens) + ".";
}

/// What is said where a run is too short for an interval.
std::string few_text(const PolicyRun& run) {
  if (std::isfinite(run.figures.half.mean_wait_s)) return {};
  return ", of `" + std::to_string(run.figures.requests) + "` requests: too few to give an interval";
}

/// Who waits, for whom, and how long: of the chosen policy, and of the rival whose requests wait most.
std::string answer_of(const Inputs& in, const Outputs& out) {
  const bool tokens = in.service == Service::llm;
  const PolicyRun* rival = nullptr;
  for (const PolicyRun& run : out.racers)
    if (&run != &out.racers.front() &&
        (!rival || (run.overloaded && !rival->overloaded) ||
         (run.overloaded == rival->overloaded && run.figures.mean_wait_s > rival->figures.mean_wait_s)))
      rival = &run;
  const PolicyRun& chosen = out.racers.front();
  if (chosen.overloaded || (rival && rival->overloaded)) return overload_text(chosen, rival, tokens);
  if (!rival && !(chosen.figures.mean_wait_s > 0)) return "Under " + chosen.name + " nobody waits.";
  if (!rival) {
    const std::string tail = std::isfinite(chosen.figures.p99_latency_s)
                                 ? "p99 latency `" + format_text(chosen.figures.p99_latency_s, "s") + "`"
                                 : "longest latency `" + format_text(chosen.figures.longest_latency_s, "s") + "`";
    return "Mean wait under " + wait_text(chosen, tokens) + "; " + tail + ".";
  }
  const bool rival_first = rival->figures.mean_wait_s > chosen.figures.mean_wait_s;
  const PolicyRun &longer = rival_first ? *rival : chosen, &shorter = rival_first ? chosen : *rival;
  if (!(longer.figures.mean_wait_s > 0)) return "Nobody waits under any of them: every request is taken on arrival.";
  const std::string_view reason = waits_for(longer.policy, tokens);
  if (shorter.figures.mean_wait_s > 0 && reason == waits_for(shorter.policy, tokens))
    return "Mean wait under " + longer.name + ": " +
           with_half(longer.figures.mean_wait_s, longer.figures.half.mean_wait_s) + ", under " + shorter.name + ": " +
           with_half(shorter.figures.mean_wait_s, shorter.figures.half.mean_wait_s) + ", both " + std::string(reason) +
           ".";
  return "Mean wait under " + wait_text(longer, tokens) + "; " + wait_text(shorter, tokens) + few_text(chosen) + ".";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture picture;
  picture.raced = policies_to_run(in).size();
  picture.tokens = in.service == Service::llm;
  if (!out.reason.empty() || run.histories.empty()) {
    picture.measured = measured_runs(in, out, published_runs(in));
    return picture;
  }
  picture.shown_s = 1e-9;
  const auto pictured = static_cast<std::size_t>(run.pictured);
  for (std::size_t i = 0; i < out.racers.size(); ++i) {
    picture.policies.push_back(picture_of(out.racers[i], run.histories[i], run.first_requests, pictured, in));
    const PolicyPicture& policy = picture.policies.back();
    picture.shown_s = std::max(picture.shown_s, policy.end_s);
    picture.peak_waiting = std::max(picture.peak_waiting, policy.peak_waiting);
  }
  for (std::size_t i = 0; i < run.first_requests.size(); ++i) {
    const models::ServingRequest& r = run.first_requests[i];
    if (i < pictured)
      picture.dots.push_back(dot_of(r, in));
    else if (r.arrival_s < picture.shown_s)
      picture.later.push_back(r.arrival_s);
  }
  for (const PolicyPicture& policy : picture.policies) {
    DrawnMarks& drawn = picture.drawn;
    drawn.waits |= !policy.queue.empty();
    for (const models::SlotSpan& span : policy.spans) {
      if (policy.later(span.request)) continue;
      const bool missed = policy.missed_by(span.request);
      drawn.prefill |= span.use == models::SlotUse::prefill;
      drawn.decode |= span.use == models::SlotUse::decode && !missed;
      drawn.missed |= span.use == models::SlotUse::decode && missed;
      drawn.held |= span.use == models::SlotUse::held;
      drawn.sent_back |= span.preempted;
    }
  }
  picture.kv_blocks = out.kv_blocks;
  picture.caption = caption_of(in, out, run.pictured);
  picture.answer = answer_of(in, out);
  const std::string whose = " of " + count_text(static_cast<double>(out.chosen.requests)) + " requests";
  picture.latency_axis = "latency" + whose;
  picture.ttft_axis = "time to first token" + whose;
  const bool overloaded =
      std::any_of(out.racers.begin(), out.racers.end(), [](const PolicyRun& one) { return one.overloaded; });
  picture.no_shares =
      overloaded ? "Overloaded: waits grow as long as requests come." : "Nothing to show: too few requests have left.";
  picture.ttft_limit_s = in.ttft_limit_s;
  picture.measured = measured_runs(in, out, run.published);
  return picture;
}

}  // namespace chapters::serving::batching
