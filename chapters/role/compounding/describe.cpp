#include "chapters/role/compounding/lab.h"

namespace chapters::role::compounding {
namespace {

const Choices touches{{"data", "data", "What the step waits for the loader."},
                      {"forward_backward", "forward and backward", "Both passes."},
                      {"forward", "forward", "The forward pass alone."},
                      {"backward", "backward", "The backward pass alone."},
                      {"optimizer", "optimizer", "The update of the weights."},
                      {"rest", "the rest", "Exposed communication, launches, logs."},
                      {"device", "all but data", "Everything that the device does."},
                      {"everything", "everything", "The whole step."}};
static_assert(touch_count == 8);
const Choices orders{{"listed", "As listed", "Data, precision, compilation, optimizer, overlap."},
                     {"reversed", "Reversed", "The list from its end."},
                     {"largest", "Largest first", "By the time that each takes off its own parts."},
                     {"smallest", "Smallest first", "The same the other way round."},
                     {"own", "Your own", "A row that is dragged goes here."}};
static_assert(order_count == 5);
constexpr std::string_view amdahl = "Amdahl, AFIPS 1967";

/// Keys and labels of one technique's switch, factor and parts.
struct TechniqueWords {
  std::string_view on, factor, touched, name, factor_label, touched_label, help;
  bool headline = false;
};

void technique(Fields& f, Technique& t, const TechniqueWords& w) {
  const When on{w.on, "true"};
  f.toggle(w.on, t.on, w.name, w.help);
  f.real(w.factor, t.factor, w.factor_label,
         "How many times as fast it makes what it touches; below 1 it makes that slower.",
         {
             .range = {0.1, 100, Scale::log},
             .typical = {1, 10},
             .headline = w.headline,
             .when = on,
         });
  f.choice(w.touched, t.touches, touches, w.touched_label, "The parts of the step that it acts on.", {.when = on});
}

constexpr std::array<TechniqueWords, technique_count> technique_words{{
    {"pipeline_on", "pipeline_factor", "pipeline_touches", "Data pipeline", "data factor", "data acts on",
     "More workers, larger shards, decoding elsewhere.", true},
    {"precision_on", "precision_factor", "precision_touches", "Lower precision", "precision factor",
     "precision acts on", "Matmuls on Tensor Cores in 16 or 8 bits, or weights of 4.", true},
    {"compile_on", "compile_factor", "compile_touches", "Compilation", "compiled factor", "compilation acts on",
     "Element-wise operations fused, fewer launches."},
    {"optimizer_on", "optimizer_factor", "optimizer_touches", "Fused optimizer", "optimizer factor",
     "optimizer acts on", "The update in one pass over memory."},
    {"overlap_on", "overlap_factor", "overlap_touches", "Overlap", "overlap factor", "overlap acts on",
     "Communication and logging during the work."},
}};

}  // namespace

std::string_view technique_name(std::size_t technique) { return technique_words[technique].name; }
std::string_view touched_words(Touch touch) { return touches[static_cast<std::size_t>(touch)].label; }

void describe(Fields& f, Inputs& in) {
  f.group("Techniques");
  for (std::size_t i = 0; i < technique_count; ++i) technique(f, in.techniques[i], technique_words[i]);
  f.choice("order", in.order, orders, "Order", "Which one is applied first.", {.headline = true});
  f.integer("own_order", in.own_order, "Number of the order", "There are 120; 1 is as listed, 120 reversed.",
            {.range = {1, 120}, .when = {"order", "own"}});
  f.group("The step before");
  struct Part {
    std::string_view key, label, help;
    double& slot;
  };
  for (const Part& p : {Part{"forward_s", "Forward", "Kernels of the forward pass.", in.forward_s},
                        Part{"backward_s", "Backward", "Kernels of the backward pass.", in.backward_s},
                        Part{"optimizer_s", "Optimizer", "Kernels of the update.", in.optimizer_s},
                        Part{"rest_s", "The rest", "Exposed communication, launches, logs.", in.rest_s},
                        Part{"data_s", "Data", "What the loader takes for a batch.", in.data_s}})
    f.real(p.key, p.slot, {p.label, "s"}, p.help, {.range = {0, 100}, .typical = {0, 0.5}});
  f.toggle("loader_beside", in.loader_beside, "Loader runs meanwhile",
           "It loads while the device computes, and the step waits for what is left of it.");
  f.group("The run");
  f.real("run_cost", in.run_cost, {"Cost before", "$"}, "What the run costs as it is.",
         {.range = {1, 1e9, Scale::log}});
  f.real("run_s", in.run_s, {"Time before", "s"}, "What the run takes as it is.", {.range = {1, 1e8, Scale::log}});
}

void describe(Fields& f, StageRow& r) {
  f.text("name", r.name, "Technique");
  f.real("own_factor", r.own_factor, {"Own factor", "\xC3\x97"},
         "How much faster the parts that it touches get, together.");
  f.real("step_s", r.step_s, {"Step", "s"}, "With it and those before it.");
  f.real("saved_s", r.saved_s, {"Saves", "s"}, "Against the row before; below 0 it costs.");
  f.real("gain", r.gain, {"Gain here", "\xC3\x97"}, {.formula = "step before / step", .source = amdahl});
  f.real("first_gain", r.first_gain, {"Gain as the first", "\xC3\x97"}, "Alone, on the step as it was.");
  f.real("last_gain", r.last_gain, {"Gain as the last", "\xC3\x97"}, "When all others are there already.");
}

void describe(Fields& f, Outputs& o) {
  f.group("The stack");
  f.real("speedup", o.speedup, {"Speed-up", "\xC3\x97"},
         {.headline = true, .formula = "step before / step after", .source = amdahl});
  f.real("own_product", o.own_product, {"Own factors, multiplied", "\xC3\x97"},
         "What the techniques' factors on their own parts would promise.",
         {.headline = true, .formula = "product of own factors"});
  f.real("step_s", o.step_s, {"Step after", "s"},
         {.headline = true, .against = {"before", "base_s"}, .formula = "sum of part / its factors"});
  f.real("run_cost_after", o.run_cost_after, {"The run costs", "$"},
         {.headline = true, .formula = "cost before / speed-up"});
  f.real("base_s", o.base_s, {"Step before", "s"}, {.formula = "sum of the parts"});
  f.real("saved_share", o.saved_share, {"Saved", "%"}, "Share of the step; below 0 it got longer.",
         {.formula = "1 - after / before"});
  f.real("own_product_step_s", o.own_product_step_s, {"Step that it promises", "s"},
         {.formula = "step before / product of own factors"});
  f.real("alone_product", o.alone_product, {"Gains alone, multiplied", "\xC3\x97"},
         "Each technique measured by itself on the step before, and the speed-ups multiplied.",
         {.formula = "product of (step before / step with it alone)"});
  f.real("alone_product_step_s", o.alone_product_step_s, {"Step that it promises", "s"},
         {.formula = "step before / product of gains alone"});
  f.real("ceiling", o.ceiling, {"Never more than", "\xC3\x97"}, "Were all that is touched to take no time.",
         {.absent = "Every part is touched, so that nothing bounds it.",
          .formula = "step before / parts that nothing touches",
          .source = amdahl});
  f.real("untouched_share", o.untouched_share, {"Untouched", "%"},
         "Share of the step before that no technique acts on.",
         {.formula = "parts that nothing touches / step before"});
  f.toggle("disjoint", o.disjoint, "Parts are disjoint", "No part is touched twice, and no loader hides.");
  f.real("widest", o.widest, {"Order matters by", "\xC3\x97"},
         "The most that a technique's gain differs between two places in any order.",
         {.formula = "max over techniques of largest gain / smallest gain"});
  f.real("run_after_s", o.run_after_s, {"The run takes", "s"}, {.formula = "time before / speed-up"});
  f.group("Each technique");
  f.table("stages", o.stages, "In this order", {.max_items = technique_count});
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>({"role/compounding",
                                                   "Compounding",
                                                   "What do several speed-ups give together?",
                                                   {.published_keys = "forward_s precision_factor"}},
                                                  compute, arrange, draw);
}

}  // namespace chapters::role::compounding
