#include "chapters/described/realtime.h"

namespace chapters {
namespace {

const Choices jitter_patterns = {
    {"random", "at random", "Hits each frame with the probability given."},
    {"periodic", "every n frames", "Hits every n-th frame."},
    {"state", "a state", "Begins with the probability given, slows every frame, and lasts n frames on average."}};
const Choices jitter_shapes = {{"constant", "constant", "Every hit the same."},
                               {"uniform", "uniform", "From 0 to twice the mean."},
                               {"exponential", "exponential", "Many small, few large."},
                               {"heavy", "heavy tail", "Pareto with exponent 3: one in a thousand is 6.7 means."}};
const Choices stack_resources = {{"cpu", "CPU", "General-purpose cores."},
                                 {"gpu", "GPU", "One queue: a network has it for itself."},
                                 {"dla", "DLA", "An accelerator for networks beside the GPU."},
                                 {"isp", "ISP", "The camera's image signal processor."}};
const Choices stack_roles = {{"classic", "code", "No network: filters, matching, optimization."},
                             {"encoder", "encoder", "A backbone whose features heads use."},
                             {"head", "head", "A task on bird's-eye features."},
                             {"network", "network", "Any other network."}};

}  // namespace

void describe(Fields& f, models::JitterSource& s) {
  f.text("name", s.name, {.label = "Source"});
  f.toggle("on", s.on, {.label = "On"});
  f.real("size_s", s.size_s,
         {
             .label = "Adds",
             .unit = "s",
             .help = "Mean of what a hit adds to a frame.",
             .lo = 1e-5,
             .hi = 1,
             .scale = Scale::log,
         });
  f.choice("pattern", s.pattern, jitter_patterns, {.label = "When"});
  f.real("probability", s.probability,
         {
             .label = "Prob.",
             .help = "A frame; of a state, that it begins.",
             .lo = 1e-6,
             .hi = 1,
             .scale = Scale::log,
         });
  f.integer("every_frames", s.every_frames,
            {
                .label = "n",
                .help = "Frames from hit to hit; of a state, how many it lasts on average.",
                .lo = 1,
                .hi = 100000,
                .scale = Scale::log,
            });
  f.choice("shape", s.shape, jitter_shapes, {.label = "Sizes"});
}

void describe(Fields& f, models::StackTask& t) {
  f.text("name", t.name, {.label = "Task"});
  f.choice("resource", t.resource, stack_resources, {.label = "On"});
  f.real("duration_s", t.duration_s,
         {
             .label = "Time",
             .unit = "s",
             .help = "As found.",
             .lo = 0,
             .hi = 1,
         });
  f.real("tuned_s", t.tuned_s,
         {
             .label = "Tuned",
             .unit = "s",
             .help = "As a compiled engine, or rewritten if it is code.",
             .lo = 0,
             .hi = 1,
         });
  f.text("depends_on", t.depends_on, {.label = "After", .help = "Names of tasks, separated by commas."});
  f.choice("role", t.role, stack_roles, {.label = "Role"});
  f.integer("priority", t.priority,
            {
                .label = "Prio",
                .help = "Higher goes first.",
                .lo = 0,
                .hi = 9,
            });
  f.toggle("carries_state", t.carries_state,
           {.label = "State", .help = "Waits for its own result of the frame before."});
  f.text("short_name", t.short_name,
         {.label = "Short", .help = "Its name where there is little room.", .max_bytes = 16});
}

}  // namespace chapters
