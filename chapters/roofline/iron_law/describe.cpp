#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/roofline/iron_law/lab.h"

namespace chapters::roofline::iron_law {
namespace {

const Choices combine_choices{
    {"added", "added", "Loads, arithmetic and launches take turns."},
    {"overlapped", "overlapped", "Loads run under the arithmetic: the longer of the two counts."}};
const Choices part_choices{{"memory", "memory", ""}, {"compute", "compute", ""}, {"latency", "latency", ""}};
const Choices technique_choices = [] {
  Choices out;
  for (const models::Technique& one : models::techniques())
    out.push_back({std::string(one.id), std::string(one.label), std::string(one.why)});
  return out;
}();
static_assert(static_cast<int>(models::Combine::overlapped) == 1 && static_cast<int>(models::IronPart::latency) == 2 &&
                  models::iron_part_count == 3,
              "the choices above stand in the order of the enumerators");

}  // namespace

void describe(Fields& f, Inputs& in) {
  f.group("Techniques");
  f.choices("techniques", in.techniques, technique_choices, "Techniques, in order",
            "Applied one after the other; the order changes each step's gain, not the total.");
  f.real("strength", in.strength, "Strength",
         "1 applies each factor in full; 0.5 its square root, for a technique that reaches part of the work; 0 leaves "
         "the law alone.",
         {.range = {0, 1}, .headline = true});
  f.group("The work");
  f.real("bytes", in.bytes, {"Bytes moved", "B"}, "Everything read from and written to the chip's main memory.",
         {.range = {1e3, 1e15, Scale::log}, .typical = {1e6, 1e12}, .headline = true});
  f.real("weight_share", in.weight_share, "Weights' share of bytes",
         "The rest is intermediates, operands read again and caches: quantized weights shrink the one, "
         "fusion and tiling the other.",
         {.range = {0, 1}});
  f.real("flops", in.flops, {"Operations", "FLOP"}, "Multiplications and additions, a fused pair counting as two.",
         {.range = {1e3, 1e18, Scale::log}, .typical = {1e6, 1e16}});
  f.real("overhead_s", in.overhead_s, {"Latency", "s"},
         "Launches, synchronisation and every wait that is neither loading nor arithmetic.",
         {.range = {1e-9, 10, Scale::log}, .typical = {1e-6, 0.1}, .headline = true});
  f.group("The chip");
  shared::chip(f, "chip", in.chip, {.help = "Its memory bandwidth and its dense peak rate enter the law."});
  shared::format(
      f, "format", in.format,
      {.label = "Format of the arithmetic", .help = "Chooses the peak rate. The bytes are set for themselves, below."});
  f.real("efficiency", in.efficiency, "Efficiency \xCE\xB7",
         "The part of the peak rate that the kernels reach while they compute.", {.range = {0.01, 1}});
  f.choice("combine", in.combine, combine_choices, "Memory and compute are",
           "Added when they take turns, overlapped when loads run under the arithmetic.");
}

void describe(Fields& f, TechniqueRow& r) {
  f.text("technique", r.technique, "Technique");
  f.text("moves", r.moves, "Moves");
  f.real("time_s", r.alone.after.time_s, {"Time alone", "s"});
  f.real("speedup", r.alone.speedup, {"Speedup alone", "\xC3\x97"});
  f.real("speedup_now", r.speedup_now, {"Speedup on top of what is on", "\xC3\x97"});
  f.toggle("on", r.on, "On");
}

void describe(Fields& f, StepRow& r) {
  f.text("technique", r.technique, "Technique");
  f.real("memory_s", r.effect.after.memory_s, {"Memory term", "s"}, "After it and those before it.");
  f.real("compute_s", r.effect.after.compute_s, {"Compute term", "s"}, "After it and those before it.");
  f.real("latency_s", r.effect.after.latency_s, {"Latency term", "s"}, "After it and those before it.");
  f.real("time_s", r.effect.after.time_s, {"Time", "s"}, "After it and those before it.");
  f.real("saved_s", r.saved_s, {"Saved", "s"}, "Against the row before; below 0 the time got longer.");
  f.real("speedup", r.effect.speedup, {"Speedup", "\xC3\x97"}, "Against the row before.");
}

void describe(Fields& f, Outputs& o) {
  constexpr std::string_view amdahl = "Amdahl 1967";
  f.group("The time");
  f.real("time_s", o.now.time_s, {"Time", "s"},
         {.headline = true,
          .formula = "bytes / bandwidth + operations / (rate x efficiency) + latency",
          .source = "after Hennessy and Patterson; max() when overlapped: Williams, Waterman, Patterson 2009"});
  f.real("before_s", o.before.time_s, {"Time before", "s"},
         {.headline = true, .formula = "the same law, no technique"});
  f.real("speedup", o.speedup, {"Speedup", "\xC3\x97"},
         {.headline = true, .formula = "time without techniques / time"});
  f.text("moved", o.moved, "Moved", "The quantities that the chosen techniques change.");
  f.text("caution", o.caution, "Counted twice", "Techniques that claim the same saving.");
  f.group("Terms");
  f.choice("dominant", o.now.dominant, part_choices, "Longest term now", {.formula = "the largest of the three"});
  f.choice("dominant_before", o.before.dominant, part_choices, "Longest term before",
           {.formula = "the largest of the three"});
  f.real("memory_s", o.now.memory_s, {"Memory term", "s"}, {.formula = "bytes / bandwidth"});
  f.real("compute_s", o.now.compute_s, {"Compute term", "s"}, {.formula = "operations / (rate x efficiency)"});
  f.real("latency_s", o.now.latency_s, {"Latency term", "s"}, {.formula = "launches and waits"});
  f.group("At most");
  f.real("bound_memory", o.bounds[0], {"At most, memory free", "\xC3\x97"},
         "The speedup left if nothing had to be loaded.",
         {.formula = "time / time without the memory term", .source = amdahl});
  f.real("bound_compute", o.bounds[1], {"At most, compute free", "\xC3\x97"},
         "The speedup left if arithmetic took no time.",
         {.formula = "time / time without the compute term", .source = amdahl});
  f.real("bound_latency", o.bounds[2], {"At most, latency free", "\xC3\x97"},
         "The speedup left if nothing was waited for.",
         {.formula = "time / time without the latency term", .source = amdahl});
  f.group("Use of the chip");
  f.real("bandwidth_use", o.bandwidth_use, {"Bandwidth used", "%"},
         {.headline = true, .formula = "bytes / (bandwidth x time)"});
  f.real("compute_use", o.compute_use, {"Peak rate used", "%"}, {.formula = "operations / (rate x time)"});
  f.group("The law now");
  f.real("bytes_now", o.law.bytes, {"Bytes moved now", "B"}, "Bytes that are left when the techniques are applied.",
         {.formula = "bytes x the techniques' factors"});
  f.real("bandwidth_now", o.law.bandwidth_bytes_per_s, {"Memory bandwidth", "B/s"}, "The chip's, as specified.");
  f.real("operations_now", o.law.operations, {"Operations now", "FLOP"},
         {.formula = "operations x the techniques' factors"});
  f.real("rate_now", o.law.rate_flops_per_s, {"Peak rate now", "FLOP/s"},
         "The chip's dense peak in the format, times the techniques' factors.");
  f.real("efficiency_now", o.law.efficiency, "Efficiency now", "It is cut at 1.",
         {.formula = "efficiency x the techniques' factors"});
  f.group("One by one");
  f.table("rows", o.rows, "Techniques, one by one", "Each technique alone on the original work.");
  f.table("steps", o.steps, "Techniques, in order", "Each chosen technique on what the ones before it left.");
}

LabPtr make() {
  return make_lab<Inputs, Outputs, Picture, View>(
      {"roofline/iron-law", "Iron law",
       "Which term of the time does this technique move, and which does it leave alone?"},
      compute, arrange, draw);
}

}  // namespace chapters::roofline::iron_law
