#include "chapters/debugging/stragglers/lab.h"

namespace chapters::debugging::stragglers {
namespace {

constexpr std::string_view ranks_alone = "Only of ranks that were recorded with their collectives.",
                           pipelines_alone = "Only of a pipeline's timeline.",
                           fleets_alone = "Only of a made-up fleet.",
                           nobody = "Nobody waits, no GPU is at fault, or the timeline has no arrivals.",
                           no_fault = "No GPU is at fault, or none was found.";
constexpr std::string_view what_if =
    "Understanding Stragglers in Large Model Training Using What-if Analysis, OSDI 2025";

void describe_ranks(Fields& f, RankFigures& r) {
  f.group("Who waits for whom");
  f.real("blamed_share", r.blamed_share, {"Share of all waiting", "%"},
         {.absent = ranks_alone, .formula = "blamed / waiting"});
  f.real("won_share", r.won_share, {"Saved, of the blame", "%"}, {.absent = ranks_alone, .formula = "saved / blamed"});
  f.real("sooner_s", r.sooner_s, {"The job would end sooner", "s"},
         "The recording run again with the rank on time in every collective, and all that follows.",
         {.absent = ranks_alone});
  f.real("times_last", r.times_last, "It comes last", "Collectives in which it does.", {.absent = ranks_alone});
  f.real("collectives", r.collectives, "Collectives", "Found on all ranks that take part.", {.absent = ranks_alone});
  f.real("culprit_waited_s", r.culprit_waited_s, {"It waits itself", "s"}, "What the rank to blame waits for others.",
         {.absent = ranks_alone});
  f.real("waits_longest_rank", r.waits_longest_rank, "Waits longest", "The rank with most waiting in all collectives.",
         {.absent = ranks_alone});
  f.real("waits_longest_s", r.waits_longest_s, {"... for", "s"}, "What that rank waits in all.",
         {.absent = ranks_alone});
  f.real("computes_longest_rank", r.computes_longest_rank, "Computes longest",
         "The rank with most time in computing kernels.", {.absent = ranks_alone});
  f.real("computes_longest_s", r.computes_longest_s, {"... for", "s"}, "What that rank computes in all.",
         {.absent = ranks_alone});
}

void describe_pipeline(Fields& f, PipelineFigures& p) {
  f.group("The pipeline");
  f.real("ideal_s", p.ideal_s, {"Ideal step", "s"},
         "Every operation takes its usual time: the mean of what computes, the median of what communicates.",
         {.absent = pipelines_alone, .source = what_if});
  f.real("even_lengths_s", p.even_lengths_s, {"Won with even micro-batches", "s"},
         "Forward and backward of every micro-batch take their stage's mean.", {.absent = pipelines_alone});
  f.real("even_stages_s", p.even_stages_s, {"Won with even stages", "s"},
         "Each stage's computing is scaled to the mean of all stages.", {.absent = pipelines_alone});
  f.real("worst_workers_share", p.worst_workers_share, {"Due to the worst workers", "%"},
         "Part of the slowdown that goes when the worst 3 % of the workers take the usual times.",
         {.absent = pipelines_alone, .source = what_if});
  f.real("last_stage_share", p.last_stage_share, {"Due to the last stage", "%"},
         "Part of the slowdown that goes when the last stage takes the usual times; over 100 where it becomes fast.",
         {.absent = pipelines_alone, .source = what_if});
  f.real("length_correlation", p.length_correlation, "Forward with backward",
         "Correlation of a micro-batch's two times: long samples make both long.", {.absent = pipelines_alone});
  f.real("workers", p.workers, "Workers", "Stages times replicas.", {.absent = pipelines_alone});
  f.real("pipeline_steps", p.steps, "Steps", "Those that are whole.", {.absent = pipelines_alone});
}

void describe_fleet(Fields& f, FleetFigures& v) {
  f.group("The detector");
  f.real("false_alarms_per_day", v.false_alarms_per_day, "False alarms per day",
         "Expected over the whole fleet when every GPU is healthy.",
         {.absent = fleets_alone, .formula = "P(rule alarms on noise) \xC3\x97 GPUs \xC3\x97 steps per day"});
  f.real("found_share", v.found_share, {"Slow GPUs found", "%"},
         "How many of 64 like it are found before the run ends.", {.absent = no_fault});
  f.real("mean_delay_steps", v.mean_delay_steps, "Steps until found, mean",
         "From the onset to the alarm, both steps counted, of those found.", {.absent = no_fault});
  f.real("delay_steps", v.delay_steps, "Steps until found, here",
         "From the onset to the alarm in the run that is shown, both steps counted.", {.absent = no_fault});
  f.real("guilty", v.guilty, "GPUs at fault", "As many as were planted.", {.absent = fleets_alone});
  f.real("guilty_rank", v.guilty_rank, "The first of them", "As it was planted.", {.absent = no_fault});
  f.real("caught", v.caught, "... found", "With an alarm after the onset.", {.absent = fleets_alone});
  f.real("missed", v.missed, "... missed", "Without an alarm after the onset.", {.absent = fleets_alone});
  f.real("wrong", v.wrong, "Wrongly accused", "GPUs with an alarm that are healthy, or were until then.",
         {.absent = fleets_alone});
  f.group("What it costs");
  f.real("healthy_step_s", v.healthy_step_s, {"Step without the fault", "s"},
         "The same draw without what the fault adds.", {.absent = fleets_alone});
  f.real("added_share", v.added_share, {"The fault adds", "%"}, {.absent = fleets_alone, .formula = "slowdown - 1"});
  f.real("barrier_share", v.barrier_share, {"Waiting for noise alone", "%"},
         "What the slowest of all healthy GPUs adds to a step, pauses left out.",
         {.absent = fleets_alone,
          .formula = "spread \xC3\x97 E[max of n standard normals]",
          .source = "David, Nagaraja, Order Statistics, 2003"});
  f.real("lost_hours", v.lost_hours, "GPU-hours lost per month",
         {.absent = fleets_alone, .formula = "GPUs \xC3\x97 730 \xC3\x97 (1 - 1 / slowdown)"});
  f.real("lost_dollars", v.lost_dollars, {"Lost per month", "$"}, "GPU-hours lost at the price that is set.",
         {.absent = fleets_alone});
}

}  // namespace

void describe(Fields& f, RankRow& r) {
  f.integer("rank", r.rank, "Rank", "Its number in the job.");
  f.real("computing_s", r.computing_s, {"Computes", "s"}, "Time in computing kernels.");
  f.real("waited_s", r.waited_s, {"Waits", "s"}, "From its own arrivals to those of the last.");
  f.real("blamed_s", r.blamed_s, {"Others wait for it", "s"}, "Where it is the last, summed over the others.");
  f.real("won_s", r.won_s, {"Saved if on time", "s"}, "Waiting of all that goes, call by call.");
  f.real("sooner_s", r.sooner_s, {"Job ends sooner", "s"}, "The recording run again with it on time.");
  f.integer("times_last", r.times_last, "Comes last", "Collectives in which it does.");
}

void describe(Fields& f, Outputs& o) {
  f.group("The verdict");
  f.real("culprit_rank", o.culprit_rank, "Rank to blame",
         "The last to come makes all others wait: the rank that causes most of that. Of a pipeline the worst worker, "
         "stage by stage.",
         {.headline = true, .absent = nobody});
  f.real(
      "blamed_s", o.blamed_s, {"Blamed for", "s"}, "What the others wait for it, summed over them.",
      {.headline = true, .absent = nobody, .formula = "sum of (its arrival - arrival of each other) where it is last"});
  f.real(
      "won_s", o.won_s, {"Saved if it is mended", "s"},
      "Waiting of all that goes when it comes with the last of the others; of a pipeline, of a step when the cause is "
      "gone.",
      {.headline = true,
       .absent = nobody,
       .formula = "sum of (its arrival - arrival of the second to last) \xC3\x97 others"});
  f.real("slowdown", o.slowdown, {"Slowdown", "\xC3\x97"}, "As it runs, over how it would run without the straggler.",
         {.headline = true, .formula = "time / time without the straggler"});
  f.real("waits_s", o.waits_s, {"Waiting of all", "s"}, "Summed over all ranks, until the last has come.",
         {.absent = nobody});
  f.real("length_s", o.length_s, {"Recording, or mean step", "s"},
         "From the beginning to the last end of recorded ranks; the mean step of a pipeline or a fleet.");
  f.text("cause", o.cause, "Cause of a pipeline's slowdown");
  describe_ranks(f, o.ranks);
  describe_pipeline(f, o.pipeline);
  describe_fleet(f, o.fleet);
  f.group("The recordings");
  f.table("rank_rows", o.rank_rows, "Ranks", {.max_items = 1024});
  f.text("losses", o.losses, "Not read");
}

}  // namespace chapters::debugging::stragglers
