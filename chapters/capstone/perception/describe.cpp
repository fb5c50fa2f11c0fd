#include "chapters/capstone/perception/lab.h"
#include "chapters/described/realtime.h"

namespace chapters::capstone::perception {
namespace {

void describe_assumptions(Fields& f, Inputs& in) {
  f.group("What moves are worth");
  f.real("int8_speedup", in.int8_speedup, "INT8 is faster by",
         "Factor on each compiled network; 1.57 was measured on Orin for one, and memory-bound layers gain less.",
         {.range = {1, 4}});
  f.real("fusion_saving", in.fusion_saving, {"Fusion saves", "%"}, "Share of a head's time.", {.range = {0, 90}});
  f.real("fusion_redone", in.fusion_redone, {"Features made anew", "%"},
         "Frames in which nothing of the frame before is of use: a turn, a tunnel, a new scene. An assumption.",
         {.range = {0, 100}, .typical = {0, 10}});
  f.real("dla_slowdown", in.dla_slowdown, "A DLA takes longer by",
         "Factor over the GPU for the same network: 170 over 52.5 TOPS, as Orin's data sheet counts them.",
         {.range = {1, 10}});
  f.real("pinned_contention_s", in.pinned_contention_s, {"Contention, pinned", "s"},
         "Mean of what contention adds to a frame that it hits once memory is pinned. An assumption.",
         {.range = {1e-5, 1e-2, Scale::log}});
  f.real("spread", in.spread, {"Spread of a frame", "%"},
         "Standard deviation over the mean of a frame that nothing disturbs; locked clocks halve it.",
         {.range = {0, 20}});
}

void describe_machine(Fields& f, Inputs& in) {
  f.group("The machine");
  f.integer("cpu", in.cpu, "CPU cores", "Tasks that the CPU runs at once.", {.range = {1, 12, Scale::step}});
  f.integer("gpu", in.gpu, "GPU queues", "Networks that the GPU runs at once at full speed; one is honest.",
            {.range = {1, 4, Scale::step}});
  f.integer("dla", in.dla, "DLAs", "Deep-learning accelerators; Orin has two.", {.range = {0, 4, Scale::step}});
  f.integer("isp", in.isp, "ISPs", "Image signal processors.", {.range = {0, 4, Scale::step}});
}

}  // namespace

void describe(Fields& f, Inputs& in) {
  describe_rounds(f, in.rounds, in.said, "Where 99 in 100 would end, said before each round; 0: nothing.", 10);
  f.group("The car");
  f.real("rate_hz", in.rate_hz, {"Camera rate", "Hz"},
         "A frame arrives this often, and is due when the next one arrives.", {.range = {5, 60}, .headline = true});
  f.real("speed_m_per_s", in.speed_m_per_s, {"Speed", "m/s"}, "The car's speed; 30 m/s is 108 km/h.",
         {.range = {1, 70}});
  f.toggle("hot", in.hot, "A hot day",
           "The chip throttles now and then: the source \"Thermal throttle\" is on, whatever its row says.");
  f.group("As found");
  f.toggle("start_pipelining", in.start_pipelining, "Pipelined",
           "A frame starts before the one before has ended; without it a frame that comes early is dropped.");
  f.toggle("start_parallel", in.start_parallel, "Heads in parallel", "Heads do not wait for each other.");
  f.toggle("start_shared", in.start_shared, "One backbone", "One encoder feeds all heads; else each has its own.");
  f.table("tasks", in.tasks, "Tasks of a frame",
          "What runs where, for how long, and after what. Times are typed in, from a published example.",
          {.max_items = 20});
  f.table("sources", in.sources, "Jitter", "What disturbs a frame: sizes and shares are assumed.", {.max_items = 12});
  describe_assumptions(f, in);
  describe_machine(f, in);
  f.group("The run");
  f.integer("frames", in.frames, "Frames", "Really simulated for each round; a percentile wants a hundred beyond it.",
            {.range = {1000, 50000, Scale::log}});
  f.integer("seed", in.seed, "Seed", "Another seed, another run of luck; the same for every round.",
            {.range = {1, 1000, Scale::step}});
}

void describe(Fields& f, RoundRow& r) {
  f.text("move", r.move, "Move");
  f.real("latency_s", r.latency_s, {"Undisturbed", "s"}, "A frame that nothing disturbs.");
  f.real("p50_s", r.p50_s, {"Typical", "s"}, "Half of the frames have a plan by then.");
  f.real("p99_s", r.p99_s, {"99 in 100", "s"}, "99 frames of 100 have a plan by then.");
  f.real("late", r.late, {"Late", "%"}, "Frames without a fresh plan in time.");
  f.real("won_s", r.won_s, {"Won", "s"}, "At 99 in 100, over the round before; below 0 it lost.");
  describe_row_end(f, r.said_s, r.bounced);
}

namespace {

void describe_frame(Fields& f, Outputs& o) {
  f.group("This round");
  f.real("p99_s", o.p99_s, {"99 in 100 by", "s"}, "From the shutter to a plan, for 99 frames of 100.",
         {.headline = true, .against = {"due in", "deadline_s"}, .formula = "nearest rank of all frames"});
  f.real("p50_s", o.p50_s, {"Half by", "s"}, "The typical frame.",
         {.headline = true, .formula = "nearest rank of all frames"});
  f.real("late", o.late, {"Late frames", "%"}, "Frames without a fresh plan in time, those never looked at among them.",
         {.headline = true, .formula = "late frames / frames"});
  f.real("tail_ratio", o.tail_ratio, {"P99 / P50", "\xC3\x97"}, "1.2 is a common target for a car.",
         {.headline = true, .formula = "P99 / P50"});
  f.real("mean_s", o.mean_s, {"Average frame", "s"}, {.formula = "mean of all frames"});
  f.real("latency_s", o.latency_s, {"Undisturbed frame", "s"}, "With other frames on their way, where it is pipelined.",
         {.formula = "end of the last task - shutter"});
  f.real("beat_s", o.beat_s, {"From frame to frame", "s"},
         "Where there is always a next one waiting; the mean where every second frame is shorter.",
         {.formula = "1 / sustained rate"});
  f.real("p999_s", o.p999_s, {"999 in 1,000 by", "s"}, "A car watches it too; the game sets no target for it.",
         {.formula = "nearest rank of all frames"});
  f.real("worst_s", o.worst_s, {"Worst", "s"}, "The slowest of this run; a longer one finds worse.");
  f.real("unseen", o.unseen, {"Never looked at", "%"}, "Dropped since the stack was busy when they came.",
         {.formula = "dropped frames / frames"});
  f.real("deadline_s", o.deadline_s, {"Due in", "s"}, {.formula = "1 / rate"});
  f.real("slack_s", o.slack_s, {"Slack at 99 in 100", "s"}, {.formula = "due in - 99 in 100"});
  f.real("late_by_s", o.late_by_s, {"Too late by", "s"}, {.formula = "99 in 100 - due in, at least 0"});
  f.toggle("arrives", o.arrives, "99 of 100 arrive", "At most one frame of a hundred is late.");
}

void describe_game(Fields& f, Outputs& o) {
  describe_score(f, o.score,
                 {.won = "P99 before - P99 after", .won_in_all = "P99 as found - P99 now", .said_off = "|said - P99|"});
  f.real("mean_won_s", o.mean_won_s, {"It won of the average", "s"}, {.formula = "average before - average after"});
  f.real("start_p99_s", o.start_p99_s, {"99 in 100, as found", "s"}, {.formula = "nearest rank of all frames"});
  f.real("start_latency_s", o.start_latency_s, {"Undisturbed, as found", "s"},
         {.formula = "end of the last task - shutter"});
}

}  // namespace

void describe(Fields& f, Outputs& o) {
  describe_frame(f, o);
  describe_game(f, o);
  f.group("The road");
  f.real("travelled_m", o.travelled_m, {"Driven until the plan", "m"}, "One frame in a hundred, at least so far.",
         {.formula = "speed x P99"});
  f.real("start_travelled_m", o.start_travelled_m, {"... as found", "m"}, {.formula = "speed x P99 as found"});
  f.group("Work of a mean frame");
  f.real("gpu_asked", o.asked[1], {"GPU asked for", "%"}, {.formula = "work per frame x rate / queues"});
  f.real("dla_asked", o.asked[2], {"DLA asked for", "%"}, {.formula = "work per frame x rate / units"});
  f.real("cpu_asked", o.asked[0], {"CPU asked for", "%"}, {.formula = "work per frame x rate / cores"});
  f.real("isp_asked", o.asked[3], {"ISP asked for", "%"}, {.formula = "work per frame x rate / units"});
  f.group("The study's way");
  f.real("study_latency_s", o.study_latency_s, {"Undisturbed", "s"}, "Engines for all networks and tuned code.",
         {.formula = "end of the last task - shutter"});
  f.real("study_p99_s", o.study_p99_s, {"99 in 100", "s"}, {.formula = "nearest rank of all frames"});
  f.real("study_late", o.study_late, {"Late frames", "%"}, {.formula = "late frames / frames"});
  f.group("What cards are worth");
  f.real("dla_head_s", o.dla_head_s, {"The GPU's head on a DLA", "s"}, {.formula = "its time x a DLA takes longer by"});
  f.real("int8_networks_s", o.int8_networks_s, {"Networks of the GPU in INT8", "s"}, "Compiled, one after the other.",
         {.formula = "tuned times / INT8 is faster by"});
  f.real("fusion_saved_s", o.fusion_saved_s, {"Fusion saves", "s"}, {.formula = "the GPU's head x fusion saves"});
  f.real("anew_per_minute", o.anew_per_minute, "Frames made anew a minute", {.formula = "rate x 60 x share"});
  f.real("pinned_adds_s", o.pinned_adds_s, {"Contention adds, pinned", "s"}, "To a frame on average.",
         {.formula = "probability x mean"});
  f.group("Round by round");
  f.table("board", o.board, "Your rounds");
  f.table("study", o.study, "The study's rounds");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"capstone/perception",
       "Perception",
       "The car must decide before the next frame comes. Which moves make it?",
       {.job = true}},
      [searches = std::make_shared<Searches>()](const Inputs& in, Progress& progress) {
        return compute(in, progress, *searches);
      },
      arrange, draw);
}

}  // namespace chapters::capstone::perception
