#include "chapters/distributed/rare_gradients/lab.h"
#include "chapters/mechanism/shared_choices.h"

namespace chapters::distributed::rare_gradients {
namespace {

const Choices methods{{"all_reduce", "All-reduce", "FP32 gradients are averaged in every step."},
                      {"bits8", "8 bits", "Every value is rounded to 8 bits."},
                      {"bits4", "4 bits", "Every value is rounded to 4 bits."},
                      {"sign", "1 bit", "The sign of every value, and one mean size per tensor."},
                      {"top_k", "Top-k", "The largest values with their places."},
                      {"power_sgd", "PowerSGD", "Two thin matrices whose product is near the gradient."},
                      {"local_sgd", "Local SGD", "Workers step alone; weights are averaged every H steps."},
                      {"diloco", "DiLoCo", "As local SGD, with an outer step of Nesterov momentum."},
                      {"stale", "Stale", "Gradients are used some steps late: steps go on while they travel."}};
static_assert(rare_method_count == 9);
/// The nine, or none of them.
const Choices runners = [] {
  Choices out = methods;
  out.push_back({"none", "None of them", ""});
  return out;
}();
const Choices links{{"network", "A network", "One port per worker, at its line rate."},
                    {"line", "A line of its own", "Between sites: bytes per second as you set them."}};
static_assert(rare_link_count == 2);
const Choices layers{{"trained", "The small network", "64 × 16 and 16 × 10, as trained here."},
                     {"resnet18", "ResNet-18", "As it is made for CIFAR-10: 11.2 million parameters."},
                     {"llama8b", "A layer of Llama 3 8B", "Matrices of 1,024 to 14,336 rows and columns."}};
static_assert(models::rare::rare_layers_count == 3);

constexpr std::string_view trained = "trained here: 64 pixels, 16 hidden units, 10 digits",
                           missed = "The loss does not fall to the goal in 96 steps.",
                           none_there = "No method reaches the goal.", by_ring = "Patarasuk, Yuan 2009",
                           all_missed = "The all-reduce or the method misses the goal.";

}  // namespace

std::string_view runner_name(std::size_t method) { return methods[method].label; }

void describe(Fields& f, Inputs& in) {
  f.group("The race");
  f.choice("method", in.method, methods, "Yours", "The method whose figures stand first; all nine are trained.",
           {.headline = true});
  f.real("target", in.target, "Goal", "Nats of loss on held-out digits that a method must reach.",
         {.range = {0.5, 2.3}, .typical = {0.7, 2}, .headline = true});
  f.choice("link", in.link, links, "Link", "What lies between the workers.");
  shared::network(f, "network", in.network,
                  {.help = "One port for each worker, at its line rate.", .when = {"link", "network"}});
  f.real("line_bytes_per_s", in.line_bytes_per_s, {"Line", "B/s"}, "In one direction, for each worker.",
         {.range = {1e6, 1e12, Scale::log}, .typical = {1e7, 1e10}, .when = {"link", "line"}});
  f.integer("workers", in.workers, "Workers", "Each reads eight digits per step, with one port of its own.",
            {.range = {2, 8}});
  f.group("What is sent, and when");
  f.integer("period", in.period, "Steps between syncs", "H of local SGD and DiLoCo.",
            {.range = {1, 48, Scale::log}, .headline = true});
  f.real("kept", in.kept, {"Top-k keeps", "%"}, "The largest values of the gradient, as a share of all.",
         {.range = {0.1, 50, Scale::log}});
  f.integer("rank", in.rank, "Rank of PowerSGD", "Columns of its thin matrices.", {.range = {1, 8}});
  f.integer("stale_by", in.stale_by, "Steps late", "How late a gradient is used by the stale method.",
            {.range = {1, 8}});
  f.toggle("error_feedback", in.error_feedback, "Error feedback",
           "What a message leaves out is added to the next gradient.");
  f.real("outer_rate", in.outer_rate, "Outer rate", "Learning rate of DiLoCo's outer step.", {.range = {0.1, 1.5}});
  f.real("outer_momentum", in.outer_momentum, "Outer momentum", "Nesterov momentum of DiLoCo's outer step.",
         {.range = {0, 0.95}});
  f.group("The model that is priced");
  f.real("parameters", in.parameters, {"Parameters", "parameters"},
         "Losses are the small network's; bytes and times are those of so many parameters in the same steps.",
         {.range = {1e6, 1e12, Scale::log}, .typical = {1e8, 1e11}});
  f.real("step_s", in.step_s, {"A step computes", "s"}, "Forward and backward on one worker, on average.",
         {.range = {1e-3, 1e3, Scale::log}, .typical = {0.05, 10}});
  f.real("spread", in.spread, {"Uneven steps", "%"}, "How much the time of a step varies, drawn for each worker.",
         {.range = {0, 100}, .typical = {0, 50}});
  f.choice("layers", in.layers, layers, "Bytes counted on",
           "Whose layers say how much smaller a message is; thin matrices save more on wide ones.");
  f.real("message_s", in.message_s, {"A hop", "s"}, "Latency of one step of the ring.",
         {.range = {1e-7, 1, Scale::log}, .typical = {1e-6, 0.1}});
  shared::chip(f, "chip", in.chip, {.help = "Messages are made and read at the bandwidth of its memory."});
  f.real("code_slowdown", in.code_slowdown, {"Messages take", "\xC3\x97"},
         "How many times longer than one pass over the memory for each thing that is read or written; 1 is a fused "
         "kernel.",
         {.range = {1, 1000, Scale::log}});
  f.group("The training");
  f.real("rate", in.rate, "Learning rate", "The AdamW of each worker begins with it; it falls evenly to a tenth.",
         {.range = {0.002, 0.1, Scale::log}});
  f.real("skew", in.skew, {"Own digits", "%"}, "Share of a worker's data that is of its own classes; 0: all alike.",
         {.range = {0, 100}});
  f.integer("seed", in.seed, "Seed", "It draws digits, first weights, who reads what, and the times of steps.",
            {.range = {1, 3}});
}

void describe(Fields& f, RunnerRow& r) {
  f.text("method", r.method, "Method", "What the workers send.");
  f.integer("place", r.place, "Place", "By time to the goal, which two may share; those that miss it by their loss.");
  f.real("time_s", r.time_s, {"To the goal", "s"}, {.absent = missed, .source = "the clock of that run"});
  f.real("bytes", r.bytes, {"Sent until then", "B"}, "By one worker, in whole syncs.",
         {.absent = missed, .source = by_ring});
  f.real("steps", r.steps, "Steps", {.absent = missed, .source = trained});
  f.real("loss", r.loss, "Loss at the end", "Nats on held-out digits, after 96 steps.", {.source = trained});
  f.real("sync_bytes", r.sync_bytes, {"A sync sends", "B"}, {.source = by_ring});
  f.real("sync_s", r.sync_s, {"On the links", "s"}, {.source = by_ring});
  f.real("code_s", r.code_s, {"Made and read", "s"}, {.formula = "bytes in memory / bandwidth x slowdown"});
  f.real("step_compute_s", r.step_compute_s, {"A step computes", "s"}, "One worker, on average.",
         {.formula = "computing of the run / 96"});
  f.real("step_code_s", r.step_code_s, {"Messages per step", "s"}, "Made and read, or an outer step, on average.",
         {.formula = "made and read x syncs / 96"});
  f.real("step_wait_s", r.step_wait_s, {"A step waits", "s"}, "For the links and for the slowest, on average.",
         {.formula = "time of 96 steps / 96 - computing - messages"});
}

void describe(Fields& f, Outputs& o) {
  f.group("The race");
  f.choice("first", o.first, runners, "First",
           "Reaches the goal in the shortest time; of those that are level, the one with fewer bytes.");
  f.choice("least", o.least, runners, "Sends least",
           "Reaches the goal with the fewest bytes; of those that are level, the faster one.");
  f.toggle("least_is_first", o.least_is_first, "The same one", "Whoever sends least is first, too.");
  f.real("first_s", o.first_s, {"Time of the first", "s"}, {.absent = none_there, .source = "its clock"});
  f.real("first_bytes", o.first_bytes, {"Bytes of the first", "B"}, {.absent = none_there, .source = by_ring});
  f.real("least_bytes", o.least_bytes, {"Fewest bytes", "B"}, {.absent = none_there, .source = by_ring});
  f.real("least_s", o.least_s, {"Time of whoever sends least", "s"}, {.absent = none_there, .source = "its clock"});
  f.real("least_place", o.least_place, "Its place", "By time.", {.absent = none_there});
  f.choice("second", o.second, runners, "Second", "The next one by time.");
  f.real("all_reduce_s", o.all_reduce_s, {"Time of the all-reduce", "s"}, {.absent = missed, .source = "its clock"});
  f.real("all_reduce_bytes", o.all_reduce_bytes, {"Bytes of the all-reduce", "B"},
         {.absent = missed, .source = by_ring});
  f.integer("reached", o.reached, "Methods that arrive", "There are nine.");
  f.group("Yours");
  f.real("time_s", o.time_s, {"Time to the goal", "s"}, "Until every worker has a model with that loss.",
         {.headline = true, .absent = missed, .source = "the clock of the run"});
  f.real("bytes", o.bytes, {"Sent until then", "B"}, "By one worker, in whole syncs.",
         {.headline = true, .absent = missed, .formula = "syncs x bytes of a sync", .source = by_ring});
  f.real("place", o.place, "Its place", "By time to the goal; those that miss it by their loss.");
  f.real("faster", o.faster, {"Speed over all-reduce", "\xC3\x97"},
         {.headline = true, .absent = all_missed, .formula = "time of the all-reduce / time"});
  f.real("fewer_bytes", o.fewer_bytes, {"Fewer bytes than the all-reduce", "\xC3\x97"},
         {.absent = all_missed, .formula = "bytes of the all-reduce / bytes"});
  f.real("steps", o.steps, "Steps to the goal", {.absent = missed, .source = trained});
  f.real("end_loss", o.end_loss, "Loss at the end", "Nats on held-out digits, after 96 steps.",
         {.headline = true, .source = trained});
  f.real("end_bytes", o.end_bytes, {"Sent in all", "B"}, "By one worker in 96 steps.",
         {.formula = "syncs x bytes of a sync"});
  f.real("end_s", o.end_s, {"Time of 96 steps", "s"}, {.source = "the clock of the run"});
  f.group("One sync of yours");
  f.real("sync_bytes", o.sync_bytes, {"A worker sends", "B"}, "In one sync.",
         {.formula = "summed: 2 (n - 1) / n x message; gathered: (n - 1) x message", .source = by_ring});
  f.real("sync_s", o.sync_s, {"On the links", "s"},
         "A ring through all workers; codes take as many steps, straight to whoever sums them.",
         {.formula = "bytes / bandwidth + steps x hop", .source = by_ring});
  f.real("code_s", o.code_s, {"Made and read", "s"}, "A message by a worker's own chip, or DiLoCo's outer step.",
         {.formula = "24 to 40 B per parameter / memory bandwidth x slowdown; 0 where plain values are sent and used"});
  f.real("ratio", o.ratio, {"Smaller than FP32", "\xC3\x97"}, "One worker's message against its gradient.",
         {.formula = "4 B x parameters / message"});
  f.integer("syncs", o.syncs, "Syncs", "In 96 steps.");
  f.real("silence_s", o.silence_s, {"Silence", "s"},
         "From the end of a sync to the next; a last round of fewer steps does not count.",
         {.formula = "mean of (a sync's beginning - the end of the one before)"});
  f.real("talk_share", o.talk_share, {"Links busy", "%"}, {.formula = "time on the links / time of 96 steps"});
  f.real("wait_share", o.wait_share, {"A worker waits", "%"}, "For the links and for the slowest.",
         {.formula = "1 - (computing + messages) / time of 96 steps"});
  f.real("kept_share", o.kept_share, {"Message keeps", "%"},
         "What a message holds of gradient and carried error, of PowerSGD of their mean, by squares, on average.",
         {.formula = "1 - |left out|^2 / |gradient + error|^2", .source = trained});
  f.real("apart_share", o.apart_share, {"Workers apart", "%"},
         "Distance of workers' weights from their mean before the last sync, of the weights' length.",
         {.source = trained});
  f.table("runners", o.runners, "The nine", {.max_items = 9});
}

LabPtr make() {
  const auto trainings = std::make_shared<Trainings>();
  return make_lab<Inputs, Outputs, Picture, View>(
      {"distributed/rare-gradients",
       "Rare gradients",
       "Who is first to the goal: the one that sends least?",
       {.job = true, .published_keys = "method layers rank kept period"}},
      [trainings](const Inputs& in, Progress& progress) { return compute(in, progress, *trainings); }, arrange, draw);
}

}  // namespace chapters::distributed::rare_gradients
