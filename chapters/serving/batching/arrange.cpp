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

PolicyPicture picture_of(const PolicyRun& run, const models::ServingRun& history,
                         const std::vector<models::ServingRequest>& requests, bool tokens) {
  PolicyPicture out{
      .name = run.name,
      .spans = history.spans,
      .kv_peak_percent = run.kv_peak_percent,
      .served = history.served,
      .headlines = headlines_of(run, tokens),
  };
  std::vector<std::pair<double, double>> done;
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (const double finish_s = history.served[i].finish_s; finish_s >= 0)
      done.emplace_back(finish_s, finish_s - requests[i].arrival_s);
  std::sort(done.begin(), done.end());
  for (const auto& [at_s, took_s] : done) {
    out.done_s.push_back(at_s);
    out.latency_s.push_back(took_s);
  }
  const double end_s = done.empty() ? 0 : done.back().first;
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

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture picture;
  if (!out.reason.empty() || out.racers.empty()) return picture;
  picture.shown_s = picture.slowest_shown_s = 1e-9;
  for (std::size_t i = 0; i < out.racers.size(); ++i) {
    picture.policies.push_back(
        picture_of(out.racers[i], out.histories[i], out.first_requests, in.service == Service::llm));
    const PolicyPicture& policy = picture.policies.back();
    if (!policy.done_s.empty()) picture.shown_s = std::max(picture.shown_s, policy.done_s.back());
    for (const double took_s : policy.latency_s) picture.slowest_shown_s = std::max(picture.slowest_shown_s, took_s);
    picture.peak_waiting = std::max(picture.peak_waiting, policy.peak_waiting);
    picture.peak_blocks = std::max(picture.peak_blocks, peak_of(policy.blocks));
  }
  for (const models::ServingRequest& r : out.first_requests) picture.dots.push_back(dot_of(r, in));
  picture.kv_blocks = out.kv_blocks;
  picture.caption = caption_of(in, out);
  return picture;
}

}  // namespace chapters::serving::batching
