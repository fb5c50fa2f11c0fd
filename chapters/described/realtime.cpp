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
                                 {"dla", "DLA", "An accelerator for networks next to the GPU."},
                                 {"isp", "ISP", "The camera's image signal processor."}};
const Choices stack_roles = {{"classic", "code", "No network: filters, matching, optimization."},
                             {"encoder", "encoder", "A backbone whose features heads use."},
                             {"head", "head", "A task on bird's-eye features."},
                             {"network", "network", "Any other network."}};

}  // namespace

const Choices& stack_resource_choices() { return stack_resources; }

void describe(Fields& f, models::JitterSource& s) {
  f.text("name", s.name, "Source");
  f.toggle("on", s.on, "On");
  f.real("size_s", s.size_s, {"Adds", "s"}, "Mean of what a hit adds to a frame.", {.range = {1e-5, 1, Scale::log}});
  f.choice("pattern", s.pattern, jitter_patterns, "When");
  f.real("probability", s.probability, "Prob.", "A frame; of a state, that it begins.",
         {.range = {1e-6, 1, Scale::log}});
  f.integer("every_frames", s.every_frames, "n", "Frames from hit to hit; of a state, how many it lasts on average.",
            {.range = {1, 100000, Scale::log}});
  f.choice("shape", s.shape, jitter_shapes, "Sizes");
}

void describe(Fields& f, models::StackTask& t) {
  f.text("name", t.name, "Task");
  f.choice("resource", t.resource, stack_resources, "On");
  f.real("duration_s", t.duration_s, {"Time", "s"}, "As found.", {.range = {0, 1}});
  f.real("tuned_s", t.tuned_s, {"Tuned", "s"}, "As a compiled engine, or rewritten if it is code.", {.range = {0, 1}});
  f.text("depends_on", t.depends_on, "After", "Names of tasks, separated by commas.");
  f.choice("role", t.role, stack_roles, "Role");
  f.integer("priority", t.priority, "Prio", "Higher goes first.", {.range = {0, 9}});
  f.toggle("carries_state", t.carries_state, "State", "Waits for its own result of the frame before.");
  f.text("short_name", t.short_name, "Short", "Its name where there is little room.", {.max_bytes = 16});
}

}  // namespace chapters
