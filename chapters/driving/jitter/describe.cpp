#include "chapters/described/realtime.h"
#include "chapters/driving/jitter/lab.h"

namespace chapters::driving::jitter {

namespace {

const Choices policies = {
    {"wait", "Wait", "Frames queue behind a late one."},
    {"skip", "Skip frames", "A frame that arrives while the stack is busy is dropped."},
    {"reuse", "Reuse the last result",
     "At the watchdog's limit the frame is given up and the last plan is published again."},
    {"small", "Smaller model", "After a frame beyond the watchdog's limit a smaller network runs for a while."}};
constexpr std::string_view never_ends = "The queue never ends, and times would only say how long the run is.";
constexpr std::string_view lindley = "Lindley, The theory of queues with a single server, 1952";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The frame");
  f.real("base_s", in.base_s,
         {
             .label = "Undisturbed frame",
             .unit = "s",
             .help = "From camera to plan when nothing interferes: the schedule's latency.",
             .lo = 1e-3,
             .hi = 0.2,
             .scale = Scale::log,
             .typical_lo = 5e-3,
             .typical_hi = 60e-3,
             .headline = true,
         });
  f.real("spread", in.spread,
         {
             .label = "Its spread",
             .unit = "%",
             .help = "Standard deviation over the mean of an undisturbed frame; bell-shaped and bounded.",
             .lo = 0,
             .hi = 20,
         });
  f.real("rate_hz", in.rate_hz,
         {
             .label = "Camera rate",
             .unit = "Hz",
             .help = "A frame arrives this often, and is due when the next one arrives.",
             .lo = 5,
             .hi = 120,
         });
  f.real("speed_m_per_s", in.speed_m_per_s,
         {
             .label = "Speed",
             .unit = "m/s",
             .help = "Of the car; 31.3 m/s is 70 mph or 113 km/h.",
             .lo = 1,
             .hi = 70,
         });
  f.group("When it is late");
  f.choice("policy", in.policy, policies,
           {.label = "When late", .help = "What the stack does about a frame that takes too long.", .headline = true});
  f.real(
      "watchdog", in.watchdog,
      {
          .label = "Watchdog",
          .unit = "%",
          .help = "Share of the deadline after which a frame counts as lost (reuse) or as a warning (smaller model).",
          .lo = 50,
          .hi = 100,
          .when = {"policy", "reuse|small"},
      });
  f.real("small_share", in.small_share,
         {
             .label = "Smaller model takes",
             .unit = "%",
             .help = "Of the full one's time; what is not the network's own stays.",
             .lo = 5,
             .hi = 100,
             .when = {"policy", "small"},
         });
  f.integer("recover_frames", in.recover_frames,
            {
                .label = "Smaller model for",
                .help = "Frames after a warning before the full model comes back.",
                .lo = 1,
                .hi = 1000,
                .scale = Scale::log,
                .when = {"policy", "small"},
            });
  f.group("The run");
  f.integer("frames", in.frames,
            {
                .label = "Frames",
                .help = "Length of the run; a percentile wants a hundred frames beyond it.",
                .lo = 100,
                .hi = 1000000,
                .scale = Scale::log,
            });
  f.integer("seed", in.seed,
            {
                .label = "Seed",
                .help = "Another seed, another run of luck; the same seed is the same run.",
                .lo = 1,
                .hi = 1000,
                .scale = Scale::step,
            });
  f.group("What disturbs it");
  f.table("sources", in.sources, {.label = "Jitter", .help = "What disturbs a frame.", .max_items = 12});
}

void describe(Fields& f, EffectRow& r) {
  f.text("name", r.name, {.label = "Source"});
  f.integer("hits", r.hits.hits, {.label = "Frames hit", .help = "Of the whole run."});
  f.integer(
      "misses", r.hits.misses,
      {.label = "Misses", .help = "Missed frames that it had the largest part in since the stack was last idle."});
  f.real("share", r.share, {.label = "Share", .unit = "%", .formula = "frames hit / frames"});
  f.real("mean_s", r.mean_s, {.label = "Mean hit", .unit = "s", .formula = "time added / frames hit"});
  f.real("largest_s", r.hits.largest_s, {.label = "Largest hit", .unit = "s", .help = "Of the whole run."});
  f.real("p99_without_s", r.hits.p99_without_s,
         {.label = "P99 without it",
          .unit = "s",
          .help = "Of the same frames with it off, with the same luck otherwise.",
          .may_be_missing = true,
          .absent = never_ends});
  f.real("p99_saved_s", r.p99_saved_s,
         {.label = "P99 saved",
          .unit = "s",
          .may_be_missing = true,
          .absent = never_ends,
          .formula = "P99 - P99 without it"});
}

void describe(Fields& f, Outputs& o) {
  f.group("The road");
  f.real("blind_worst_m", o.blind_worst_m,
         {.label = "Farthest blind",
          .unit = "m",
          .headline = true,
          .may_be_missing = true,
          .absent = never_ends,
          .formula = "speed x longest run of misses / rate"});
  f.real("blind_worst_s", o.blind_worst_s,
         {.label = "Longest blind",
          .unit = "s",
          .may_be_missing = true,
          .absent = never_ends,
          .formula = "longest run of misses / rate"});
  f.real("blind_from_s", o.blind_from_s,
         {
             .label = "... which begins",
             .unit = "s",
             .help = "The earliest of that length, since the run began.",
             .formula = "its first frame / rate",
         });
  f.real("blind_per_hour_m", o.blind_per_hour_m,
         {.label = "Blind an hour", .unit = "m", .formula = "speed x misses an hour / rate"});
  f.real("frame_m", o.frame_m, {.label = "Travelled in a frame", .unit = "m", .formula = "speed / rate"});
  f.real("extra_p99_m", o.extra_p99_m,
         {.label = "Farther at P99",
          .unit = "m",
          .help = "What the car travels more before a slow frame's plan than before an ordinary one's.",
          .may_be_missing = true,
          .absent = never_ends,
          .formula = "speed x (P99 - P50)"});
  f.group("Response");
  f.real("needs_s", o.needs_s,
         {.label = "Work of a frame, mean",
          .unit = "s",
          .help = "What it gets is the deadline; above that a queue never ends. Of the model that each frame ran on.",
          .headline = true,
          .formula = "undisturbed frame + time added / frames"});
  f.real("p99_s", o.summary.p99_s,
         {.label = "P99",
          .unit = "s",
          .headline = true,
          .may_be_missing = true,
          .absent = never_ends,
          .formula = "nearest rank of the answered frames"});
  f.real("p50_s", o.summary.p50_s,
         {.label = "P50",
          .unit = "s",
          .help = "Half of the answers take no longer.",
          .may_be_missing = true,
          .absent = never_ends,
          .formula = "nearest rank of the answered frames"});
  f.real("p999_s", o.summary.p999_s,
         {.label = "P99.9",
          .unit = "s",
          .may_be_missing = true,
          .absent = never_ends,
          .formula = "nearest rank of the answered frames"});
  f.real("worst_s", o.summary.worst_s,
         {.label = "Worst",
          .unit = "s",
          .help = "Of this run: no bound, a longer run finds worse.",
          .may_be_missing = true,
          .absent = never_ends});
  f.real(
      "mean_s", o.summary.mean_s,
      {.label = "Mean", .unit = "s", .help = "Of the answered frames.", .may_be_missing = true, .absent = never_ends});
  f.real("tail_ratio", o.tail_ratio,
         {.label = "P99 / P50",
          .help = "Interactive services live with 2; 1.2 is a common target for a car.",
          .may_be_missing = true,
          .absent = never_ends,
          .formula = "P99 / P50"});
  f.toggle("tail_held", o.tail_held, {.label = "At most 1.2"});
  f.real("deadline_s", o.deadline_s, {.label = "Deadline", .unit = "s", .formula = "1 / rate"});
  f.real("slack_p99_s", o.slack_p99_s,
         {.label = "Slack at P99",
          .unit = "s",
          .may_be_missing = true,
          .absent = never_ends,
          .formula = "deadline - P99"});
  f.toggle("overloaded", o.overloaded,
           {.label = "Overloaded",
            .help = "Frames that wait need more than they get: the queue grows for as long as the run lasts."});
  f.group("Misses");
  f.real("misses_per_hour", o.misses_per_hour,
         {.label = "Misses an hour", .headline = true, .formula = "miss rate x rate x 3600"});
  f.real("miss_rate", o.miss_rate, {.label = "Miss rate", .unit = "%", .formula = "misses / frames"});
  f.integer(
      "misses", o.misses,
      {.label = "Misses", .help = "Frames without a fresh result in time.", .formula = "late + reused + skipped"});
  f.integer("late", o.totals.late,
            {.label = "... answered late",
             .help = "A result that came after the deadline; waiting frames hand their delay on.",
             .source = lindley});
  f.integer("reused", o.totals.reused,
            {.label = "... answered with the last result", .help = "In time, but not of this frame."});
  f.integer("skipped", o.totals.skipped, {.label = "... skipped", .help = "Never looked at."});
  f.integer(
      "own_misses", o.totals.own_misses,
      {.label = "... by no source", .help = "Misses in which the undisturbed frames' own time had the largest part."});
  f.real("small_rate", o.small_rate,
         {.label = "On the smaller model", .unit = "%", .formula = "frames on it / frames"});
  f.integer("longest_run", o.totals.longest_missed_run,
            {.label = "Longest run of misses", .help = "Frames in a row without a fresh result in time."});
  f.group("Sources");
  f.text("biggest", o.biggest, {.label = "Largest gain", .help = "The source whose end lowers the P99 most."});
  f.table("effects", o.effects, {.label = "Sources"});
}

void describe(Fields& f, View& v) {
  f.real(
      "time", v.time_s,
      {
          .label = "Time cursor",
          .unit = "s",
          .help =
              "Since the run began; frame by frame is shown from there on. Below 0: shortly before the longest blind "
              "stretch.",
          .lo = -1,
          .hi = 2e5,
      });
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {
          .id = "driving/jitter",
          .title = "Jitter",
          .question = "The average frame is in time: how far does the car drive blind?",
          .job = true,
      },
      compute, arrange, draw);
}

}  // namespace chapters::driving::jitter
