#include "chapters/serving/batching/lab.h"
#include "widgets/number/number.h"

namespace chapters::serving::batching {
namespace {

constexpr std::string_view orca = "Orca, Yu et al., OSDI 2022", little = "Little 1961",
                           batch_means = "batch means, Schmeiser 1982; Student's t",
                           no_figure = "No steady figure: the queue is overloaded, or requests are too few.",
                           no_wait = "Not of an overloaded queue: it grows with the run.",
                           no_interval = "Takes 1,000 requests of a steady stream.",
                           no_benchmark = "No benchmark is given.",
                           no_tokens = "Not of a plain queue, nor of too few requests.";

/// Half of the interval around a figure.
void half_width(Fields& f, std::string_view key, double& slot, std::string_view label, std::string_view unit = "s") {
  f.real(key, slot, {label, unit},
         "Half of the interval that holds the long-run value with 95 % confidence, from 20 batches.",
         {.absent = no_interval, .source = batch_means});
}

}  // namespace

void describe(Fields& f, PolicyRun& r) {
  const auto seconds = [&](std::string_view key, double& slot, std::string_view label) {
    f.real(key, slot, {label, "s"}, {.absent = no_figure});
  };
  f.text("name", r.name, "Policy");
  f.integer("requests", r.requests, "Requests");
  f.toggle("overloaded", r.overloaded, "Overloaded");
  seconds("p50_latency_s", r.figures.p50_latency_s, "Latency p50");
  seconds("p99_latency_s", r.figures.p99_latency_s, "Latency p99");
  seconds("mean_latency_s", r.figures.mean_latency_s, "Latency, mean");
  seconds("mean_wait_s", r.figures.mean_wait_s, "Wait, mean");
  seconds("ttft_p99_s", r.figures.ttft_p99_s, "TTFT p99");
  seconds("tpot_p99_s", r.figures.tpot_p99_s, "TPOT p99");
  seconds("gap_p99_s", r.figures.itl_p99_s, "Gap p99");
  f.real("throughput_per_s", r.figures.throughput_per_s, "Served per second");
  f.real("arrivals_per_s", r.figures.arrivals_per_s, "Arrived per second");
  f.real("goodput_per_s", r.figures.goodput_per_s, "Goodput per second");
  f.real("utilization", r.utilization_percent, {"Busy", "%"});
  f.real("wasted_slots", r.wasted_slots_percent, {"Slots wasted", "%"});
  f.real("kv_peak", r.kv_peak_percent, {"Cache at most", "%"});
  f.integer("preemptions", r.counts.preemptions, "Preemptions");
}

void describe(Fields& f, ComparedTime& t) {
  f.integer("run", t.run, "Run");
  f.text("name", t.name, "Time");
  f.real("measured_s", t.measured_s, {"Measured", "s"});
  f.real("simulated_s", t.simulated_s, {"Simulated", "s"});
  f.real("ratio", t.ratio, {"Simulated over measured", widgets::times_unit});
}

void describe(Fields& f, ComparedRun& r) {
  f.text("what", r.what, "Run");
  f.integer("requests", r.requests, "Requests");
  f.real("measured_per_s", r.measured_per_s, "Measured tokens per second");
  f.real("simulated_per_s", r.simulated_per_s, "Simulated tokens per second");
  f.real("bound_per_s", r.bound_per_s, "The chips allow", {.absent = no_figure});
  f.real("reached_percent", r.reached_percent, {"Share of what the chips allow", "%"}, {.absent = no_figure});
  f.real("sequences", r.sequences, "Under way at a time");
}

namespace {

void describe_latency(Fields& f, Outputs& o) {
  f.group("Latency");
  f.real("p50_latency_s", o.chosen.figures.p50_latency_s, {"Latency p50", "s"},
         {.headline = true, .absent = no_figure, .formula = "nearest rank of the requests measured"});
  f.real("p99_latency_s", o.chosen.figures.p99_latency_s, {"Latency p99", "s"},
         {.headline = true, .absent = no_figure, .formula = "nearest rank of the requests measured"});
  f.real("p90_latency_s", o.chosen.figures.p90_latency_s, {"Latency p90", "s"},
         {.absent = no_figure, .formula = "nearest rank of the requests measured"});
  f.real("longest_latency_s", o.chosen.figures.longest_latency_s, {"Latency, longest", "s"},
         {.absent = no_figure, .formula = "max of (departure - arrival)"});
  f.real("mean_latency_s", o.chosen.figures.mean_latency_s, {"Latency, mean", "s"},
         "From arrival to departure; of a static batch all leave together.",
         {.absent = no_figure, .formula = "sum of (departure - arrival) / requests measured"});
  half_width(f, "p50_latency_half", o.chosen.figures.half.p50_latency_s, "Latency p50, give or take");
  half_width(f, "p99_latency_half", o.chosen.figures.half.p99_latency_s, "Latency p99, give or take");
  half_width(f, "mean_latency_half", o.chosen.figures.half.mean_latency_s, "Mean latency, give or take");
  f.group("Waiting");
  f.real("mean_wait_s", o.chosen.figures.mean_wait_s, {"Wait, mean", "s"},
         "From arrival until first taken from the queue.",
         {.absent = no_wait, .formula = "sum of (start - arrival) / requests measured"});
  WaitFigures& w = o.waits;
  constexpr std::string_view ranked = "nearest rank of (start - arrival), in whole microseconds";
  f.real("p50_wait_s", w.p50_s, {"Wait p50", "s"}, {.absent = no_wait, .formula = ranked});
  f.real("p90_wait_s", w.p90_s, {"Wait p90", "s"}, {.absent = no_wait, .formula = ranked});
  f.real("p99_wait_s", w.p99_s, {"Wait p99", "s"}, {.absent = no_wait, .formula = ranked});
  f.real("max_wait_s", w.longest_s, {"Longest wait", "s"}, {.absent = no_wait, .formula = "max of (start - arrival)"});
  f.real("waited", w.waited, "Had to wait", "Requests measured that did not start at once.", {.absent = no_wait});
  f.real("sum_wait_us", w.sum_us, "All waits, microseconds", "Each counted in whole ones.", {.absent = no_wait});
  f.real("last_departure_us", w.last_departure_us, "Last departure, microseconds", "From the first arrival on.",
         {.absent = no_wait});
  half_width(f, "mean_wait_half", o.chosen.figures.half.mean_wait_s, "... give or take");
  f.real("theory_wait_s", o.theory_wait_s, {"Wait by formula", "s"},
         "What a formula says of a plain queue served one by one: M/M/c, M/D/1, M/G/1 or GI/M/1.",
         {
             .absent = "No formula speaks of it: the next line says why.",
             .when = {"service", "exponential|deterministic|per_token"},
             .formula = "Erlang C / (c / s - rate), or rate s^2 / (2 (1 - rate s))",
             .source = "Erlang 1917; Pollaczek 1930, Khinchin 1932",
         });
  f.text("theory", o.theory, "... which is", "The formula for this queue, or why there is none.",
         {.when = {"service", "exponential|deterministic|per_token"}});
  f.real("mean_waiting", o.chosen.figures.mean_waiting, "In the queue, mean", {.absent = no_wait, .formula = "Lq"});
  f.real("mean_in_system", o.chosen.figures.mean_in_system, "In the system, mean",
         "Requests there at a time, integrated as they come and go.", {.absent = no_wait, .formula = "L"});
  f.real("little_error", o.chosen.figures.little_error, "Little's law is off by",
         "The integral against the sum of latencies: rounding alone.",
         {.formula = "|L - rate x W| / L", .source = little});
}

void describe_tokens_and_rates(Fields& f, Outputs& o) {
  f.group("Tokens");
  f.real("ttft_p99_s", o.chosen.figures.ttft_p99_s, {"TTFT p99", "s"},
         "Time to first token: queue and prompt. In a plain queue the answer is one token.",
         {.headline = true, .absent = no_figure, .formula = "nearest rank of (first token - arrival)"});
  f.real("ttft_p50_s", o.chosen.figures.ttft_p50_s, {"TTFT p50", "s"}, "Time to first token: queue and prompt.",
         {.absent = no_figure, .formula = "nearest rank of (first token - arrival)"});
  f.real("tpot_p99_s", o.chosen.figures.tpot_p99_s, {"TPOT p99", "s"}, "Time per output token after the first.",
         {.absent = no_tokens, .formula = "(last token - first token) / (output - 1)"});
  f.real("tpot_p50_s", o.chosen.figures.tpot_p50_s, {"TPOT p50", "s"}, "Time per output token after the first.",
         {.absent = no_tokens, .formula = "(last token - first token) / (output - 1)"});
  f.real("gap_p99_s", o.chosen.figures.itl_p99_s, {"Gap between tokens p99", "s"},
         "Counts all tokens of all answers: a stall during somebody's prompt shows here and vanishes in a mean per "
         "request.",
         {.absent = no_tokens,
          .formula = "nearest rank of (token - token before), within 0.5 %",
          .source = "time between tokens, Sarathi-Serve, Agrawal et al., OSDI 2024"});
  f.real("gap_longest_s", o.chosen.figures.itl_longest_s, {"Longest gap", "s"}, "The worst stall inside any answer.",
         {.formula = "max of (token - token before)"});
  half_width(f, "ttft_p99_half", o.chosen.figures.half.ttft_p99_s, "TTFT p99, give or take");
  half_width(f, "ttft_p50_half", o.chosen.figures.half.ttft_p50_s, "TTFT p50, give or take");
  half_width(f, "tpot_p99_half", o.chosen.figures.half.tpot_p99_s, "TPOT p99, give or take");
  f.group("Rate");
  f.real("goodput_per_s", o.chosen.figures.goodput_per_s, "Goodput per second",
         "Requests whose first token and pace are within the limits. In an overloaded queue it falls towards 0 the "
         "longer they come.",
         {.headline = true,
          .formula = "requests within both limits that leave / time measured",
          .source = "DistServe, Zhong et al., OSDI 2024"});
  f.real("throughput_per_s", o.chosen.figures.throughput_per_s, "Served per second",
         {.formula = "requests that leave / time measured"});
  f.real("arrivals_per_s", o.chosen.figures.arrivals_per_s, "Arrived per second",
         {.formula = "requests that arrive / time measured"});
  f.real("tokens_per_s", o.chosen.figures.tokens_per_s, "Tokens per second", "Output tokens; 0 in a plain queue.",
         {.formula = "output tokens of those that leave / time measured"});
  f.real("speedup_p50", o.speedup_p50, "Rival's p50 over this",
         "The first rival's, when both were measured on the same requests; 1 without one.",
         {.absent = no_figure, .formula = "rival's latency p50 / latency p50"});
  constexpr std::string_view no_rival = "There is no rival, or nothing of it leaves.";
  f.real("served_gain", o.served_gain, {"Served, over the rival", "\xC3\x97"},
         "Over the first rival's. Where both keep up with the arrivals it is 1: let more arrive than they can serve.",
         {.absent = no_rival, .formula = "served per second / rival's"});
  f.real("tokens_gain", o.tokens_gain, {"Tokens, over the rival", "\xC3\x97"},
         {.absent = no_rival, .formula = "tokens per second / rival's"});
  f.real("goodput_gain", o.goodput_gain, {"Goodput, over the rival", "\xC3\x97"},
         {.absent = no_rival, .formula = "goodput / rival's"});
  f.real("makespan_s", o.chosen.counts.end_s, {"Last departure", "s"}, {.formula = "from time 0"});
  half_width(f, "goodput_half", o.chosen.figures.half.goodput_per_s, "Goodput, give or take", "");
  half_width(f, "throughput_half", o.chosen.figures.half.throughput_per_s, "Served, give or take", "");
}

void describe_use_and_bounds(Fields& f, Outputs& o) {
  f.group("Use");
  f.real("utilization", o.chosen.utilization_percent, {"Busy", "%"},
         {.formula = "time with work / time, over the servers"});
  constexpr std::string_view plain_alone = "Only a plain queue has one.";
  f.real("offered_load", o.offered_load, "Offered load, in servers", "How many servers of a plain queue it keeps busy.",
         {.absent = plain_alone,
          .when = {"service", "exponential|deterministic|per_token"},
          .formula = "rate x service time"});
  f.real("load_percent", o.load_percent, {"Offered load", "%"},
         "How much is asked of a plain queue served one by one; from 100 % on the line grows without end.",
         {.absent = plain_alone,
          .when = {"service", "exponential|deterministic|per_token"},
          .formula = "rate x service time / servers"});
  f.real("wasted_slots", o.chosen.wasted_slots_percent, {"Slots wasted", "%"},
         "Slot-time held by requests that were done and waited for their batch.",
         {.formula = "(held - used) / held", .source = orca});
  f.group("What the chips allow");
  f.real("bound_tpot_s", o.bound.tpot_s, {"TPOT, all slots taken", "s"},
         "A decode step with all slots taken, or as many as memory holds, at the chips' full bandwidth and peak: with "
         "all of them taken no engine can be faster; with fewer, a step is shorter.",
         {.when = {"service", "llm"},
          .formula = "(weights + slots x cache of prompt + output / 2) / bandwidth",
          .source = "roofline; weights without the input embedding"});
  f.real("bound_ttft_s", o.bound.ttft_s, {"First token at best", "s"},
         "A prompt alone: its arithmetic, or the reading of the weights if longer.",
         {.when = {"service", "llm"}, .formula = "max(weights / bandwidth, 2 x parameters x prompt / peak)"});
  f.real("bound_tokens_per_s", o.bound.tokens_per_s, "Tokens per second at best",
         "Output tokens with all slots taken, and the arithmetic of the prompts done as well; of static batches the "
         "prompts first, then the steps.",
         {.when = {"service", "llm"},
          .formula = "min(slots / TPOT at best, peak / (2 x parameters x (prompt + output) / output))"});
  f.group("KV cache");
  f.real("kv_peak", o.chosen.kv_peak_percent, {"Cache at most", "%"},
         {.formula = "largest number of blocks taken / blocks"});
  f.integer("kv_blocks", o.kv_blocks, "Blocks",
            {.formula = "pool / (block x bytes per token)", .source = "PagedAttention, Kwon et al., SOSP 2023"});
  f.real("kv_pool_bytes", o.kv_pool_bytes, {"Cache pool", "B"},
         {.formula = "share x (0.9 x memory - weights - scales)"});
  f.integer("preemptions", o.chosen.counts.preemptions, "Preemptions", "Requests sent back because blocks ran out.");
  f.group("Your benchmark");
  f.real("benchmark_tokens_per_s", o.benchmark_tokens_per_s, "Measured tokens per second",
         "Output tokens of all requests, over all chips; of the benchmark's fastest run.",
         {.absent = no_benchmark, .formula = "output tokens / duration"});
  f.real("benchmark_simulated_per_s", o.benchmark_simulated_per_s, "Simulated tokens per second",
         "The same load through the chosen policy, its slots and its cache, from the first request to the last token.",
         {.absent = no_benchmark, .formula = "output tokens / last departure"});
  f.real("benchmark_reached", o.benchmark_reached, {"Share of what the chips allow", "%"},
         "With as many requests under way, at full roofs. Above 100 % the benchmark ran on other chips, in another "
         "format or with another model than is chosen here.",
         {.absent = no_benchmark, .formula = "measured / tokens per second at best"});
  f.text("benchmark_left_out", o.benchmark.left_out, "Left out of the benchmark",
         "What of the file was not compared, and why.");
  f.table("benchmark_runs", o.benchmark.runs, "Runs of the benchmark", "Each run's load, measured and simulated.");
  f.table("benchmark_times", o.benchmark.times, "Measured and simulated", "Times that the benchmark's log gives.");
}

void describe_run(Fields& f, Outputs& o) {
  f.group("The run");
  f.text("state", o.state, "The queue", "Whether as many leave as come, which steady figures need.");
  f.integer("measured", o.chosen.requests, "Figures from",
            "Requests between the warm-up and the drain; of a file all. A P99 takes 1,000, a P90 100.");
  f.integer("warm_up", o.warm_up, "Warm-up", "Requests before those that are measured: the server fills with them.");
  f.integer("failed", o.failed, "Failed in the file", "Requests of a file that got no token back: they are left out.");
  f.integer("completed", o.chosen.counts.completed, "Served",
            "Requests that left with their whole answer, warm-up and drain included.");
  f.integer("refused", o.chosen.counts.refused, "Refused", "Requests longer than the whole cache.");
  f.integer("events", o.chosen.counts.events, "Scheduler events",
            "Arrivals, admissions, steps that change the batch, preemptions and departures simulated.");
  f.table("racers", o.racers, "The race", "The same arrivals under each policy.");
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_latency(f, o);
  describe_tokens_and_rates(f, o);
  describe_use_and_bounds(f, o);
  describe_run(f, o);
}

void describe(Fields& f, View& v) {
  f.real("time", v.playback.time_s, {"Time", "s"}, "Where the cursor stands; beyond the end is the end.",
         {.range = {0, 1e9}});
  f.real("speed", v.playback.speed, "Speed", "Seconds of the race per second of the clock.",
         {.range = {0.01, 100, Scale::log}});
  f.toggle("playing", v.playback.playing, "Playing", "The cursor moves on by itself.");
  f.integer("request", v.request, "Request followed", "Its spans stand out in every lane; 0 for none.",
            {.range = {0, 120}});
}

LabPtr make() {
  const auto streams = std::make_shared<Streams>();
  return make_lab<Inputs, Outputs, Picture, View>(
      {"serving/batching",
       "Batching",
       "The same arrivals through several schedulers: who waits, for whom, and how long?",
       {.job = true}},
      [streams](const Inputs& in, Progress& progress) { return compute(in, progress, *streams); }, arrange, draw);
}

}  // namespace chapters::serving::batching
