#include <algorithm>
#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "chapters/serving/batching/lab.h"
#include "widgets/number/number.h"

namespace chapters::serving::batching {
namespace {

using widgets::format_text;

std::string count_text(double count) { return format_text(count, ""); }

/// Of several points at one time the last, up to `end_s`: somebody who is served on arrival was never in the queue.
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

/// The figures over a policy's lanes: a model's tokens, or a plain queue's waits.
std::array<Headline, 6> headlines_of(const PolicyRun& run, bool tokens) {
  const models::ServingSummary& s = run.figures;
  return {{{"p50", format_text(s.p50_latency_s, "s")},
           {"p99", format_text(s.p99_latency_s, "s")},
           {tokens ? "TTFT p99" : "wait", format_text(tokens ? s.ttft_p99_s : s.mean_wait_s, "s")},
           {tokens ? "gap p99" : "busy",
            tokens ? format_text(s.itl_p99_s, "s") : format_text(run.utilization_percent, "%")},
           {"goodput", count_text(s.goodput_per_s) + "/s"},
           {"served", count_text(s.throughput_per_s) + "/s"}}};
}

/// Requests in the queue, each in the first row that is free when it arrives. Somebody who is sent back waits again and
/// is not shown a second time. `served` holds times that are NaN for requests that were refused.
void arrange_queue(const std::vector<models::ServingRequest>& requests, PolicyPicture& out) {
  std::vector<double> free_s;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const double from_s = requests[i].arrival_s, to_s = out.served[i].start_s;
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
    const std::size_t use = late ? 3 : static_cast<std::size_t>(s.use);
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

PolicyPicture picture_of(const PolicyRun& run, const models::ServingRun& history,
                         const std::vector<models::ServingRequest>& requests, const Inputs& in) {
  const bool tokens = in.service == Service::llm;
  PolicyPicture out{
      .name = run.name,
      .spans = history.spans,
      .kv_peak_percent = run.kv_peak_percent,
      .served = history.served,
      .headlines = headlines_of(run, tokens),
  };
  double end_s = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const models::ServedRequest& s = history.served[i];
    out.missed.push_back(missed_slo(requests[i], s, in));
    if (!(s.finish_s >= 0)) continue;
    out.latency_s.push_back(s.finish_s - requests[i].arrival_s);
    out.ttft_s.push_back(s.first_token_s - requests[i].arrival_s);
    end_s = std::max(end_s, s.finish_s);
  }
  arrange_queue(requests, out);
  out.occupation = occupation_of(history.spans, out);
  out.end_s = end_s;
  for (const models::SlotSpan& s : history.spans) out.lanes = std::max(out.lanes, s.lane + 1);
  out.waiting = keep_last_at_each_time(history.waiting, end_s);
  out.blocks = keep_last_at_each_time(history.blocks, end_s);
  out.peak_waiting = peak_of(out.waiting);
  return out;
}

/// The dot's size says how much a request asks for: its output tokens, or its service time.
Dot dot_of(const models::ServingRequest& r, const Inputs& in) {
  const double size = in.service == Service::llm ? std::log1p(r.output_tokens) / std::log1p(1000.0)
                                                 : r.service_s / (3 * in.service_time_s);
  return {r.arrival_s, static_cast<float>(std::clamp(size, 0.0, 1.0)), r.prompt_tokens, r.output_tokens};
}

std::string caption_of(const Inputs& in, const Outputs& out) {
  const std::int64_t requests = out.chosen.requests;
  std::string what = count_text(static_cast<double>(requests)) + " requests";
  if (!in.trace.text.empty()) what += " of " + in.trace.path.substr(in.trace.path.find_last_of("/\\") + 1);
  if (out.first_requests.size() < static_cast<std::size_t>(requests))
    what += ", the first " + count_text(static_cast<double>(out.first_requests.size())) + " shown";
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

std::string wait_text(const PolicyRun& run, bool tokens) {
  if (!(run.figures.mean_wait_s > 0)) return run.name + ": nobody waits";
  return run.name + ": `" + format_text(run.figures.mean_wait_s, "s") + "` " +
         std::string(waits_for(run.policy, tokens));
}

/// Who waits, for whom, and how long: of the chosen policy, and of the rival whose requests wait most.
std::string answer_of(const Inputs& in, const Outputs& out) {
  const bool tokens = in.service == Service::llm;
  const PolicyRun* rival = nullptr;
  for (const PolicyRun& run : out.racers)
    if (&run != &out.racers.front() && (!rival || run.figures.mean_wait_s > rival->figures.mean_wait_s)) rival = &run;
  const PolicyRun& chosen = out.racers.front();
  if (!rival && !(chosen.figures.mean_wait_s > 0)) return "Under " + chosen.name + " nobody waits.";
  if (!rival)
    return "Mean wait under " + wait_text(chosen, tokens) + "; p99 latency `" +
           format_text(chosen.figures.p99_latency_s, "s") + "`.";
  const bool rival_first = rival->figures.mean_wait_s > chosen.figures.mean_wait_s;
  const PolicyRun &longer = rival_first ? *rival : chosen, &shorter = rival_first ? chosen : *rival;
  if (!(longer.figures.mean_wait_s > 0)) return "Nobody waits under any of them: every request is taken on arrival.";
  const std::string_view reason = waits_for(longer.policy, tokens);
  if (shorter.figures.mean_wait_s > 0 && reason == waits_for(shorter.policy, tokens))
    return "Mean wait under " + longer.name + ": `" + format_text(longer.figures.mean_wait_s, "s") + "`, under " +
           shorter.name + ": `" + format_text(shorter.figures.mean_wait_s, "s") + "`, both " + std::string(reason) +
           ".";
  return "Mean wait under " + wait_text(longer, tokens) + "; " + wait_text(shorter, tokens) + ".";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture picture;
  if (!out.reason.empty() || out.racers.empty()) return picture;
  picture.shown_s = 1e-9;
  for (std::size_t i = 0; i < out.racers.size(); ++i) {
    picture.policies.push_back(picture_of(out.racers[i], out.histories[i], out.first_requests, in));
    const PolicyPicture& policy = picture.policies.back();
    picture.shown_s = std::max(picture.shown_s, policy.end_s);
    picture.peak_waiting = std::max(picture.peak_waiting, policy.peak_waiting);
  }
  for (const models::ServingRequest& r : out.first_requests) picture.dots.push_back(dot_of(r, in));
  picture.kv_blocks = out.kv_blocks;
  picture.caption = caption_of(in, out);
  picture.answer = answer_of(in, out);
  const bool all = out.first_requests.size() >= static_cast<std::size_t>(out.chosen.requests);
  const std::string whose =
      all ? std::string() : " of the first " + count_text(static_cast<double>(out.first_requests.size()));
  picture.latency_axis = "latency" + whose;
  picture.ttft_axis = "time to first token" + whose;
  picture.ttft_limit_s = in.ttft_limit_s;
  return picture;
}

}  // namespace chapters::serving::batching
