#include "chapters/described/realtime.h"
#include "chapters/driving/jitter/lab.h"
#include "chapters/mechanism/choices_in_order.h"

namespace chapters::driving::jitter {

namespace {

const Choices policies = {
    {"wait", "Wait", "Frames wait until a late one is done."},
    {"skip", "Skip frames", "A frame that arrives while the stack is busy is dropped."},
    {"reuse", "Reuse the last result",
     "At the watchdog's limit the frame is given up and the last plan is published again."},
    {"small", "Smaller model", "After a frame beyond the watchdog's limit a smaller network runs for a while."}};
const Choices shapes = choices_in_order<models::FrameShape::lidar>(
    {{"bell", "bell-shaped", "Frames are alike: a dense network does the same work for each."},
     {"lidar", "as in lidar scenes",
      "As measured on Orin with a sparse lidar backbone, 6,019 frames: time follows the occupied voxels of the "
      "scene."}});
constexpr std::string_view never_ends = "The queue never ends, and times would only say how long the run is.";
constexpr std::string_view lindley = "Lindley, The theory of queues with a single server, 1952";

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("The frame");
  f.real("base_s", in.base_s, {"Undisturbed frame", "s"},
         "From camera to plan when nothing interferes: the schedule's latency. In lidar scenes it is the median.",
         {.range = {1e-3, 0.2, Scale::log}, .typical = {5e-3, 60e-3}, .headline = true});
  f.choice("frame_shape", in.frame_shape, shapes, "Frames differ", "How undisturbed frames are spread.");
  f.real("spread", in.spread, {"Its spread", "%"},
         "Standard deviation over the mean of an undisturbed frame; bell-shaped and bounded.",
         {.range = {0, 20}, .when = {"frame_shape", "bell"}});
  f.real("rate_hz", in.rate_hz, {"Camera rate", "Hz"},
         "A frame arrives this often, and is due when the next one arrives.", {.range = {5, 120}});
  f.real("speed_m_per_s", in.speed_m_per_s, {"Speed", "m/s"}, "The car's speed; 31.3 m/s is 70 mph or 113 km/h.",
         {.range = {1, 70}});
  f.group("When it is late");
  f.choice("policy", in.policy, policies, "When late", "What the stack does about a frame that takes too long.",
           {.headline = true});
  f.real("watchdog", in.watchdog, {"Watchdog", "%"},
         "Share of the deadline after which a frame counts as lost (reuse) or as a warning (smaller model).",
         {.range = {50, 100}, .when = {"policy", "reuse|small"}});
  f.real("small_share", in.small_share, {"Smaller model takes", "%"},
         "Its part of the full one's time; what is not the network's own stays.",
         {.range = {5, 100}, .when = {"policy", "small"}});
  f.integer("recover_frames", in.recover_frames, "Smaller model for",
            "Frames after a warning before the full model comes back.",
            {.range = {1, 1000, Scale::log}, .when = {"policy", "small"}});
  f.group("The run");
  f.integer("frames", in.frames, "Frames", "Length of the run; a percentile wants a hundred frames beyond it.",
            {.range = {100, 1000000, Scale::log}});
  f.integer("seed", in.seed, "Seed", "Another seed, another run of luck; the same seed is the same run.",
            {.range = {1, 1000, Scale::step}});
  f.group("What disturbs it");
  f.table("sources", in.sources, "Jitter", "What disturbs a frame.", {.max_items = 12});
}

void describe(Fields& f, EffectRow& r) {
  f.text("name", r.name, "Source");
  f.integer("hits", r.hits.hits, "Frames hit", "How many frames of the whole run it hits.");
  f.integer("misses", r.hits.misses, "Misses",
            "Missed frames that it had the largest part in since the stack was last idle.");
  f.real("share", r.share, {"Share", "%"}, {.formula = "frames hit / frames"});
  f.real("mean_s", r.mean_s, {"Mean hit", "s"}, {.formula = "time added / frames hit"});
  f.real("largest_s", r.hits.largest_s, {"Largest hit", "s"}, "The most that it adds to a frame of the whole run.");
  f.real("p99_without_s", r.hits.p99_without_s, {"P99 without it", "s"},
         "P99 of the same frames with it off, with the same luck otherwise.", {.absent = never_ends});
  f.real("p99_saved_s", r.p99_saved_s, {"P99 saved", "s"}, {.absent = never_ends, .formula = "P99 - P99 without it"});
}

void describe(Fields& f, Outputs& o) {
  f.group("The road");
  f.real("blind_worst_m", o.blind_worst_m, {"Farthest blind", "m"},
         {.headline = true, .absent = never_ends, .formula = "speed x longest run of misses / rate"});
  f.real("blind_worst_s", o.blind_worst_s, {"Longest blind", "s"},
         {.absent = never_ends, .formula = "longest run of misses / rate"});
  f.real("blind_from_s", o.blind_from_s, {"... which begins", "s"}, "The earliest of that length, since the run began.",
         {.formula = "its first frame / rate"});
  f.real("blind_per_hour_m", o.blind_per_hour_m, {"Blind per hour", "m"},
         {.formula = "speed x misses per hour / rate"});
  f.real("frame_m", o.frame_m, {"Travelled per frame", "m"}, {.formula = "speed / rate"});
  f.real("extra_p99_m", o.extra_p99_m, {"Farther at P99", "m"},
         "What the car travels more before a slow frame's plan than before an ordinary one's.",
         {.absent = never_ends, .formula = "speed x (P99 - P50)"});
  f.group("Response");
  f.real("needs_s", o.needs_s, {"Work of a frame, mean", "s"},
         "What it gets is the deadline; above that a queue never ends. Of the model that each frame ran on.",
         {.formula = "undisturbed frame + time added / frames"});
  f.real("mean_s", o.summary.mean_s, {"Average frame", "s"}, "From a frame's arrival to its answer, waiting included.",
         {.headline = true,
          .against = {"due in", "deadline_s"},
          .absent = never_ends,
          .formula = "mean of the answered frames"});
  f.real("p99_s", o.summary.p99_s, {"P99", "s"},
         {.headline = true, .absent = never_ends, .formula = "nearest rank of the answered frames"});
  f.real("p50_s", o.summary.p50_s, {"P50", "s"}, "Half of the answers take no longer.",
         {.absent = never_ends, .formula = "nearest rank of the answered frames"});
  f.real("p999_s", o.summary.p999_s, {"P99.9", "s"},
         {.absent = never_ends, .formula = "nearest rank of the answered frames"});
  f.real("worst_s", o.summary.worst_s, {"Worst", "s"},
         "The slowest frame of this run: no bound, a longer run finds worse.", {.absent = never_ends});
  f.real("tail_ratio", o.tail_ratio, {"P99 / P50", "\xC3\x97"},
         "Interactive services live with 2; 1.2 is a common target for a car.",
         {.absent = never_ends, .formula = "P99 / P50"});
  f.toggle("tail_held", o.tail_held, "At most 1.2");
  f.real("deadline_s", o.deadline_s, {"Deadline", "s"}, {.formula = "1 / rate"});
  f.real("slack_p99_s", o.slack_p99_s, {"Slack at P99", "s"}, {.absent = never_ends, .formula = "deadline - P99"});
  f.toggle("overloaded", o.overloaded, "Overloaded",
           "Frames that wait need more than they get: the queue grows for as long as the run lasts.");
  f.group("Misses");
  f.real("misses_per_hour", o.misses_per_hour, "Misses per hour",
         {.headline = true, .formula = "miss rate x rate x 3600"});
  f.real("miss_rate", o.miss_rate, {"Miss rate", "%"}, {.formula = "misses / frames"});
  f.integer("misses", o.misses, "Misses", "Frames without a fresh result in time.",
            {.formula = "late + reused + skipped"});
  f.integer("late", o.totals.late, "... answered late",
            "A result that came after the deadline; waiting frames hand their delay on.", {.source = lindley});
  f.integer("reused", o.totals.reused, "... answered with the last result", "In time, but not of this frame.");
  f.integer("skipped", o.totals.skipped, "... skipped", "Never looked at.");
  f.integer("own_misses", o.totals.own_misses, "... by no source",
            "Misses in which the undisturbed frames' own time had the largest part.");
  f.real("small_rate", o.small_rate, {"On the smaller model", "%"}, {.formula = "frames on it / frames"});
  f.integer("longest_run", o.totals.longest_missed_run, "Longest run of misses",
            "Frames in a row without a fresh result in time.");
  f.group("Sources");
  f.text("biggest", o.biggest, "Largest gain", "The source whose end lowers the P99 most.");
  f.table("effects", o.effects, "Sources");
}

void describe(Fields& f, View& v) {
  f.real(
      "time", v.time_s, {"Time cursor", "s"},
      "Since the run began; frame by frame is shown from there on. Below 0: shortly before the longest blind stretch.",
      {.range = {-1, 2e5}});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"driving/jitter", "Jitter", "The average frame is in time: how far does the car drive blind?", {.job = true}},
      compute, arrange, draw);
}

}  // namespace chapters::driving::jitter
