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
void arrange_queue(const Run& run, const std::vector<models::ServedRequest>& served, PolicyPicture& out) {
  std::vector<double> free_s;
  for (std::size_t i = 0; i < std::min(run.requests.size(), served.size()) && run.requests[i].arrival_s < out.end_s;
       ++i) {
    const double from_s = std::max(0.0, run.requests[i].arrival_s), to_s = std::min(served[i].start_s, out.end_s);
    if (!(to_s > from_s)) continue;
    std::size_t row = 0;
    while (row < free_s.size() && free_s[row] > from_s) ++row;
    if (row == free_s.size()) free_s.push_back(0);
    free_s[row] = to_s;
    const auto number = static_cast<std::int32_t>(i) - static_cast<std::int32_t>(run.lead);
    out.queue.push_back({static_cast<std::int32_t>(row), number, from_s, to_s});
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
  const double each_s = more > 0 && in.service == ServiceKind::llm ? (s.last_token_s - s.first_token_s) / more : 0;
  return !(s.first_token_s - r.arrival_s <= in.ttft_limit_s && each_s <= in.tpot_limit_s);
}

/// What is drawn of one policy: until the last of the requests pictured has left.
PolicyPicture picture_of(const PolicyRun& figures, const PolicyHistory& of, const Run& run, const Inputs& in) {
  const bool tokens = in.service == ServiceKind::llm;
  const models::ServingRun& history = of.run;
  const auto lead = static_cast<std::ptrdiff_t>(run.lead);
  PolicyPicture out{
      .name = figures.name,
      .curve = figures.overloaded ? figures.name + ", overloaded" : figures.name,
      .latency_s = of.latency_s,
      .ttft_s = of.ttft_s,
      .served = {history.served.begin() + std::min(lead, static_cast<std::ptrdiff_t>(history.served.size())),
                 history.served.end()},
      .headlines = headlines_of(figures, tokens),
  };
  for (std::size_t i = 0; i < std::min(static_cast<std::size_t>(run.pictured), out.served.size()); ++i) {
    const models::ServedRequest& s = out.served[i];
    out.missed.push_back(missed_slo(run.requests[run.lead + i], s, in));
    if (s.finish_s >= 0) out.end_s = std::max(out.end_s, s.finish_s);
  }
  for (models::SlotSpan s : history.spans) {
    if (!(s.start_s < out.end_s)) continue;
    s.end_s = std::min(s.end_s, out.end_s);
    out.spans.push_back(s);
    out.lanes = std::max(out.lanes, s.lane + 1);
  }
  arrange_queue(run, history.served, out);
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
  const double size = in.service == ServiceKind::llm ? std::log1p(r.output_tokens) / std::log1p(1000.0)
                                                     : r.service_s / (3 * mean_service_s(in));
  return {r.arrival_s, static_cast<float>(std::clamp(size, 0.0, 1.0)), r.prompt_tokens, r.output_tokens};
}

std::string caption_of(const Inputs& in, const Outputs& out, const Run& run) {
  std::string what = "Figures of " + count_text(static_cast<double>(out.chosen.requests)) + " requests";
  if (!in.trace.text.empty()) what += " of " + in.trace.path.substr(in.trace.path.find_last_of("/\\") + 1);
  if (out.failed > 0) what += ", " + count_text(static_cast<double>(out.failed)) + " failed ones left out";
  if (out.warm_up > 0) what += " after a warm-up of " + count_text(static_cast<double>(out.warm_up));
  if (run.first > 0)
    what += "; drawn: " + count_text(static_cast<double>(run.pictured)) + " from number " +
            count_text(static_cast<double>(run.first + 1)) + " on";
  else if (run.pictured < out.chosen.requests + out.warm_up)
    what += "; drawn: the first " + count_text(static_cast<double>(run.pictured)) + ", from an empty server on";
  if (in.service != ServiceKind::llm)
    return what + " through a plain queue of " +
           (in.servers == 1 ? std::string("one server") : count_text(static_cast<double>(in.servers)) + " servers") +
           "; formula: " + out.theory;
  what += ", " + catalog().model(in.model)->name + " on " + std::to_string(in.chips) + "\xC3\x97 " +
          catalog().chip(in.chip)->short_name;
  if (in.servers > 1) what += ", the first of " + std::to_string(in.servers) + " replicas shown";
  return what;
}

/// For what a request waits under a policy.
std::string_view waits_for(models::ServingPolicy policy, bool tokens) {
  switch (policy) {
    case models::ServingPolicy::fixed:
      return "for its batch to fill and the last to end";
    case models::ServingPolicy::dynamic:
      return "for its batch to start and the last to end";
    case models::ServingPolicy::single:
      break;
    case models::ServingPolicy::continuous:
    case models::ServingPolicy::chunked:
      if (tokens) return "for room in the batch";
  }
  return "for those ahead";
}

std::string seconds_figure(double value_s) { return "`" + format_text(value_s, "s") + "`"; }
std::string rate_figure(double per_s) { return "`" + format_text(per_s, "") + "`"; }

/// "Static serves `2.53` of `5.09` requests per second"
std::string serves_text(const PolicyRun& run) {
  return run.name + " serves " + rate_figure(run.figures.throughput_per_s) + " of " +
         rate_figure(run.figures.arrivals_per_s) + " requests per second";
}

/// How many requests a second meet the limits under each.
std::string goodput_text(const PolicyRun& run, const PolicyRun* other) {
  if (!std::isfinite(run.figures.goodput_per_s)) return {};
  std::string out = "Within the time limits " + run.name + " serves " + rate_figure(run.figures.goodput_per_s);
  if (other) out += ", " + other->name + " " + rate_figure(other->figures.goodput_per_s);
  return out + " requests per second.";
}

std::string waits_text(const PolicyRun& run, bool tokens) {
  if (!(run.figures.mean_wait_s > 0)) return "no request waits";
  return "a request waits " + seconds_figure(run.figures.mean_wait_s) + " on average " +
         std::string(waits_for(run.policy, tokens));
}

/// Who is overloaded, and how long requests wait under the other one.
std::string overload_text(const PolicyRun& chosen, const PolicyRun* rival, bool tokens) {
  if (!rival || (chosen.overloaded && rival->overloaded)) {
    std::string out = serves_text(chosen);
    if (rival) out += ", " + rival->name + " " + rate_figure(rival->figures.throughput_per_s);
    out += rival ? ": both queues grow without end.\n" : ": its queue grows without end.\n";
    if (chosen.figures.goodput_per_s > 0)
      return out + "Of those, " + rate_figure(chosen.figures.goodput_per_s) +
             " per second meet the time limits: fewer, the longer requests come.";
    return out + "No request that was measured meets the time limits: each waits longer than the one before.";
  }
  const PolicyRun &over = chosen.overloaded ? chosen : *rival, &other = chosen.overloaded ? *rival : chosen;
  return serves_text(over) + ": its queue grows without end. " + other.name + " keeps up.\nUnder " + other.name + " " +
         waits_text(other, tokens) + "; " + rate_figure(other.figures.goodput_per_s) + " per second meet the limits.";
}

/// What a formula says of the wait, or how many are served in time.
std::string alone_why(const Outputs& out, const PolicyRun& run) {
  const double half_s = run.figures.half.mean_wait_s;
  if (std::isfinite(out.theory_wait_s) && std::isfinite(half_s))
    return "\nTheory says " + seconds_figure(out.theory_wait_s) + "; the run's mean is sure to within " +
           seconds_figure(half_s) + ".";
  if (!std::isfinite(half_s))
    return "\nOnly `" + std::to_string(run.requests) +
           "` of the requests were measured: too few to say how sure that is.";
  const std::string good = goodput_text(run, nullptr);
  return good.empty() ? good : "\n" + good;
}

/// The rival whose requests wait most, and before all others one that is overloaded.
const PolicyRun* worst_rival(const Outputs& out) {
  const PolicyRun* rival = nullptr;
  for (const PolicyRun& run : out.racers)
    if (&run != &out.racers.front() &&
        (!rival || (run.overloaded && !rival->overloaded) ||
         (run.overloaded == rival->overloaded && run.figures.mean_wait_s > rival->figures.mean_wait_s)))
      rival = &run;
  return rival;
}

/// Who waits, for whom, and how long: of the chosen policy, and of the rival whose requests wait most.
std::string answer_of(const Inputs& in, const Outputs& out) {
  const bool tokens = in.service == ServiceKind::llm;
  const PolicyRun* rival = worst_rival(out);
  const PolicyRun& chosen = out.racers.front();
  if (chosen.overloaded || (rival && rival->overloaded)) return overload_text(chosen, rival, tokens);
  if (!rival) {
    if (!(chosen.figures.mean_wait_s > 0))
      return "Under " + chosen.name + " no request waits: each is taken on arrival." + alone_why(out, chosen);
    const bool sure = std::isfinite(chosen.figures.p99_latency_s);
    return "Under " + chosen.name + " " + waits_text(chosen, tokens) +
           (sure ? "; 99 of 100 leave in " : "; all leave in ") +
           seconds_figure(sure ? chosen.figures.p99_latency_s : chosen.figures.longest_latency_s) + "." +
           alone_why(out, chosen);
  }
  const bool rival_first = rival->figures.mean_wait_s > chosen.figures.mean_wait_s;
  const PolicyRun &longer = rival_first ? *rival : chosen, &shorter = rival_first ? chosen : *rival;
  if (!(longer.figures.mean_wait_s > 0)) return "Under none of the policies a request waits: each is taken on arrival.";
  const std::string other =
      shorter.figures.mean_wait_s > 0 ? seconds_figure(shorter.figures.mean_wait_s) : std::string("no time");
  const std::string good = goodput_text(chosen, rival);
  return "Under " + longer.name + " " + waits_text(longer, tokens) + ", under " + shorter.name + " " + other + "." +
         (std::isfinite(chosen.figures.half.mean_wait_s) && !good.empty() ? "\n" + good : alone_why(out, chosen));
}

/// What one's own benchmark wrote, and what the simulation makes of its load.
std::string benchmark_why(const Outputs& out) {
  return std::string("\nYour benchmark") + (out.benchmark.runs.size() > 1 ? "'s fastest run wrote " : " wrote ") +
         rate_figure(out.benchmark_tokens_per_s) + " output tokens per second, the simulation " +
         rate_figure(out.benchmark_simulated_per_s) + ".";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture picture;
  picture.raced = policies_to_run(in).size();
  picture.tokens = in.service == ServiceKind::llm;
  if (!out.reason.empty() || run.histories.empty()) {
    picture.measured = measured_runs(in, out, published_runs(in));
    return picture;
  }
  picture.shown_s = 1e-9;
  const auto pictured = static_cast<std::size_t>(run.pictured);
  picture.first = run.first;
  for (std::size_t i = 0; i < out.racers.size(); ++i) {
    picture.policies.push_back(picture_of(out.racers[i], run.histories[i], run, in));
    const PolicyPicture& policy = picture.policies.back();
    picture.shown_s = std::max(picture.shown_s, policy.end_s);
    picture.peak_waiting = std::max(picture.peak_waiting, policy.peak_waiting);
  }
  for (std::size_t i = 0; i + run.lead < run.requests.size(); ++i) {
    const models::ServingRequest& r = run.requests[run.lead + i];
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
  picture.caption = caption_of(in, out, run);
  picture.answer = answer_of(in, out);
  if (out.benchmark.any()) picture.answer = picture.answer.substr(0, picture.answer.find('\n')) + benchmark_why(out);
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
