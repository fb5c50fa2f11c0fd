#include "chapters/serving/slo/lab.h"

namespace chapters::serving::slo {
namespace {

constexpr std::string_view slo_grows = "No steady figure: the queue grows, or requests are too few.",
                           slo_few = "Takes 1,000 requests of a steady stream.",
                           slo_paces = "Not of a plain queue, nor of too few requests.",
                           distserve = "DistServe, Zhong et al., OSDI 2024",
                           slo_batch_means = "batch means, Schmeiser 1982; Student's t";

void describe_verdicts(Fields& f, Outputs& o) {
  f.group("Verdicts at the load");
  f.real("in_time_percent", o.in_time_percent, {"In time", "%"},
         "Keep both limits; the four shares are of all that end in the time measured.",
         {.formula = "requests that keep both limits / requests that end"});
  f.real("late_percent", o.late_percent, {"Too late a first token", "%"},
         {.formula = "requests whose first token misses its limit / requests that end"});
  f.real("slow_percent", o.slow_percent, {"Too slow a token", "%"}, "The first token is in time, the others are not.",
         {.formula = "requests whose mean time per further token misses its limit / requests that end"});
  f.real("sent_away_percent", o.sent_away_percent, {"Sent away", "%"}, "Refused, or given up.",
         {.formula = "requests without an answer / requests that end"});
  f.real("lost_per_s", o.lost_per_s, "Served for nothing per second", {.formula = "throughput - goodput"});
}

void describe_latencies(Fields& f, Outputs& o) {
  f.group("Latency at the load");
  f.real("ttft_p99_s", o.figures.ttft_p99_s, {"First token p99", "s"},
         {.headline = true, .absent = slo_grows, .formula = "nearest rank of (first token - arrival)"});
  f.real("ttft_p50_s", o.figures.ttft_p50_s, {"First token p50", "s"},
         {.absent = slo_grows, .formula = "nearest rank of (first token - arrival)"});
  f.real("tpot_p99_s", o.figures.tpot_p99_s, {"Further token p99", "s"}, "Mean of an answer, and of answers the P99.",
         {.absent = slo_paces, .formula = "(last token - first token) / (output - 1)"});
  f.real("tpot_p50_s", o.figures.tpot_p50_s, {"Further token p50", "s"},
         {.absent = slo_paces, .formula = "(last token - first token) / (output - 1)"});
  f.real("gap_p99_s", o.figures.itl_p99_s, {"Gap between tokens p99", "s"}, "Over all tokens of all answers.",
         {.absent = slo_paces, .formula = "nearest rank of (token - token before), within 0.5 %"});
  f.real("p50_latency_s", o.figures.p50_latency_s, {"Latency p50", "s"},
         {.absent = slo_grows, .formula = "nearest rank of (departure - arrival)"});
  f.real("p99_latency_s", o.figures.p99_latency_s, {"Latency p99", "s"},
         {.absent = slo_grows, .formula = "nearest rank of (departure - arrival)"});
  f.real("mean_latency_s", o.figures.mean_latency_s, {"Latency, mean", "s"},
         {.absent = slo_grows, .formula = "sum of (departure - arrival) / requests"});
  f.real("mean_wait_s", o.figures.mean_wait_s, {"Wait, mean", "s"},
         {.absent = slo_grows, .formula = "sum of (start - arrival) / requests"});
}

void describe_fleet(Fields& f, Outputs& o) {
  f.group("The fleet");
  f.real("capacity_per_s", o.capacity_per_s, "Saturated rate per second",
         "What all replicas get done when all requests are there from the start, and nobody has limits. With turns the "
         "knee may lie above it: a flood leaves no room for caches of those who come back.",
         {.formula = "three fifths of all requests / time in which they leave, all there from the start"});
  f.real("replicas_needed", o.replicas_needed, "Replicas for the load",
         "As many as keep the promise if each gets its share of the load.",
         {.absent = "None where no load keeps the promise, or where scaling decides.",
          .formula = "arrivals / (knee / replicas), rounded up"});
  f.real("paid_replicas", o.paid_replicas, "Replicas paid for, mean",
         {.formula = "time from each order to its departure / time of the run"});
  f.integer("most_replicas_seen", o.most_replicas, "Replicas at most", "Paid for at one time.");
  f.real("busy_percent", o.busy_percent, {"Busy", "%"}, "Time with a step, over the replicas that are paid for.",
         {.formula = "time with work / time paid for"});
  f.real("offered_load", o.offered_load, {"Offered load", "%"},
         {.absent = "Only a plain queue has one.", .formula = "arrivals x service time / servers"});
  f.real("kept_tokens_percent", o.kept_tokens_percent, {"Prompt found in a cache", "%"},
         "Tokens of earlier turns that the replica still had.",
         {.formula = "tokens not read again / tokens of prompts"});
  f.real("prompt_mean_tokens", o.prompt_mean_tokens, {"Prompt, mean", "tokens"}, "Earlier turns included.",
         {.formula = "tokens of prompts / requests"});
  f.integer("preemptions", o.preemptions, "Preemptions", "Requests sent back because blocks ran out.");
  f.integer("queue_refused", o.queue_refused, "Refused at the door", "Because the queue was as long as is allowed.");
  f.integer("dropped", o.dropped, "Gave up", "Waited longer than is allowed.");
  f.integer("too_long", o.too_long, "Too long", "Longer than the whole cache.");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  f.group("Rate");
  f.real("goodput_per_s", o.goodput_per_s, "Goodput per second",
         "Requests that keep both limits. Where the queue grows it falls the longer they come.",
         {.headline = true, .formula = "requests within both limits that leave / time measured", .source = distserve});
  f.real("throughput_per_s", o.throughput_per_s, "Served per second",
         {.headline = true, .formula = "requests that leave / time measured"});
  f.real("knee_rate_per_s", o.knee_rate_per_s, "Knee per second",
         "The highest load at which the share keeps both limits, no queue grows and the batch has settled.",
         {.headline = true,
          .absent = "At no load do so many of the requests keep both limits.",
          .formula = "bisection over runs of the same draws, to a 200th of the capacity or finer"});
  f.real("arrivals_per_s", o.arrivals_per_s, "Arrived per second", {.formula = "requests that arrive / time measured"});
  f.real("goodput_half_per_s", o.goodput_half_per_s, "Goodput, give or take",
         "Half of the interval that holds the long-run value with 95 % confidence, from 20 batches.",
         {.absent = slo_few, .source = slo_batch_means});
  describe_verdicts(f, o);
  describe_latencies(f, o);
  describe_fleet(f, o);
  f.group("The runs");
  f.text("state", o.state, "The queue", "Whether as many leave as come, which steady figures need.");
  f.integer("measured", o.measured, "Figures from",
            "Requests that end, served or sent away, between the warm-up and the drain.");
  f.real("run_s", o.run_s, {"Length of the run", "s"}, "Arrivals at the load; where a queue grows, waits grow with it.",
         {.formula = "last arrival, from time 0"});
  f.integer("runs", o.runs, "Loads tried", "Runs of the fleet at the load and in the search for the knee.");
  f.real("file_rate_per_s", o.file_rate_per_s, "Rate of the file", "Its own, before it is stretched.",
         {.absent = "No file of arrivals is open.", .formula = "(requests - 1) / time of the last"});
  f.integer("failed", o.failed, "Failed in the file", "Requests of a file that got no token back: they are left out.");
}

LabPtr make() {
  const auto scenarios = std::make_shared<Scenarios>();
  return make_lab<Inputs, Outputs, Picture, View>(
      {"serving/slo",
       "SLO",
       "How much load does a fleet take before its users wait too long?",
       {.job = true, .published_keys = "model chip format ttft_limit_s tpot_limit_s"}},
      [scenarios](const Inputs& in, Progress& progress) { return compute(in, progress, *scenarios); }, arrange, draw);
}

}  // namespace chapters::serving::slo
