#include "chapters/debugging/stragglers/lab.h"

#include "chapters/mechanism/choices_in_order.h"

namespace chapters::debugging::stragglers {
namespace {

const Choices sources = choices_in_order<Source::fleet>(
    {{"dlrm", "DLRM, 8 ranks", "A recommendation model on eight V100s, recorded: 8 collectives."},
     {"lengths", "Pipeline of 64 workers", "A ByteDance job, recorded: 2 stages, 32 replicas, 8 micro-batches."},
     {"stages", "Pipeline of 8 workers", "A ByteDance job, recorded: 4 stages, 2 replicas, 4 micro-batches."},
     {"fleet", "Made-up fleet", "Up to 4,096 GPUs that meet after every step, with one fault planted."}});
using models::fleet::Fault, models::fleet::Rule;
const Choices faults = choices_in_order<Fault::bad_node>(
    {{"none", "None", "Every GPU is healthy."},
     {"slow_rank", "One slow GPU", "It is slower in every step from the onset on."},
     {"throttle", "Throttling", "One GPU is slower while it is hot: 20 steps of every 50."},
     {"bad_link", "Bad link", "One GPU is slower in one of five steps, when transfers are sent again."},
     {"uneven_data", "Uneven data", "In each step another half percent of the GPUs has longer samples."},
     {"bad_node", "Bad node", "The eight GPUs of one node are slower from the onset on."}});
const Choices rules = choices_in_order<Rule::cumulative>(
    {{"deviation", "One step", "One step lies more than the threshold above the median."},
     {"ratio", "Ratio", "One step lies more than a percentage above the median."},
     {"several", "Three of ten", "Three of the last ten steps lie more than the threshold above the median."},
     {"cumulative", "Cumulative sum", "What lies more than half a spread above the median adds up (CUSUM)."}});

constexpr std::string_view files = "json, json.gz, gz, sqlite";
constexpr When of_ranks{"source", "dlrm"}, of_fleet{"source", "fleet"};

void describe_detector(Fields& f, Inputs& in) {
  f.group("The detector");
  f.choice("rule", in.rule, rules, "Rule", "What raises the alarm for a GPU.", {.when = of_fleet});
  f.real("threshold", in.threshold, {"Threshold"},
         "In spreads above the median of all GPUs, by the median deviation; of the ratio in percent above the median.",
         {.range = {0.5, 40}, .typical = {1, 8}, .headline = true, .when = of_fleet});
}

}  // namespace

void describe(Fields& f, RecordingRow& r) {
  f.file("file", r.file, "File", "A rank of the job, or the timeline of a pipeline.",
         {.reads = {FileKind::recording, FileKind::memory_recording}, .accepts = files, .by_bytes = true});
}

void describe(Fields& f, Inputs& in) {
  f.group("The case");
  f.choice("source", in.source, sources, "Case", "What is looked at while no recordings are given.",
           {.headline = true});
  f.table(
      "recordings", in.recordings, "Your recordings",
      "A file for each rank of one job, or one timeline of a pipeline's operations; they take the place of the case.",
      {.max_items = 1024});
  f.integer("advance_rank", in.advance_rank, "Rank to move", "One that is not there means the last.",
            {.range = {0, 1023, Scale::step}, .typical = {0, 7}, .when = of_ranks});
  f.real("advance_s", in.advance_s, {"Moved earlier", "s"},
         "It comes so much earlier to each collective, but not before the one before has ended.",
         {.range = {0, 1}, .typical = {0, 5e-3}, .headline = true, .when = of_ranks});
  f.group("The fleet");
  f.choice("fault", in.fault, faults, "Fault", "What is planted, from a quarter of the run on.", {.when = of_fleet});
  f.integer("ranks", in.ranks, "GPUs", "All of them meet after every step.",
            {.range = {8, 4096, Scale::log}, .typical = {8, 1024}, .when = of_fleet});
  f.real("slower", in.slower, {"Slower by", "%"}, "How much longer than a healthy GPU the faulty one computes.",
         {.range = {0, 100}, .typical = {0, 30}, .when = of_fleet});
  f.integer("seed", in.seed, "Seed", "Another draw of the same fleet.",
            {.range = {0, 1'000'000, Scale::step}, .typical = {0, 20}, .when = of_fleet});
  f.group("Noise of healthy GPUs");
  f.real("spread", in.spread, {"Spread", "%"}, "Standard deviation of a step's computing, normally distributed.",
         {.range = {0.1, 10}, .typical = {0.2, 5}, .when = of_fleet});
  f.real("pause_share", in.pause_share, {"Steps with a pause", "%"}, "Share of a GPU's steps that a pause hits.",
         {.range = {0, 5}, .typical = {0, 0.2}, .when = of_fleet});
  f.real("pause_size", in.pause_size, {"Length of a pause", "%"}, "Mean over a step; exponentially distributed.",
         {.range = {1, 200}, .typical = {5, 50}, .when = of_fleet});
  describe_detector(f, in);
  f.group("What it costs");
  f.real("step_s", in.step_s, {"Healthy step", "s"}, "Computing of a healthy GPU without noise.",
         {.range = {0.1, 600, Scale::log}, .typical = {1, 60}, .when = of_fleet});
  f.real("price_per_hour", in.price_per_hour, {"A GPU-hour", "$"}, "What an hour of one GPU costs you.",
         {.range = {0.1, 20}, .typical = {1, 6}, .when = of_fleet});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"debugging/stragglers",
       "Stragglers",
       "All ranks wait for each other. For whom do they wait, and what is won if it comes on time?",
       {.job = true}},
      compute, arrange, draw);
}

}  // namespace chapters::debugging::stragglers
