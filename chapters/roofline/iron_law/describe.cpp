#include <algorithm>
#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/shared_choices.h"
#include "chapters/roofline/iron_law/draw_matrix.h"
#include "models/machine/roofline.h"
#include "widgets/charts/stacked_bar.h"
#include "widgets/charts/waterfall.h"
#include "widgets/prose/formula.h"

/// T = bytes / bandwidth + operations / (rate x efficiency) + latency, and what each technique does to it.
namespace chapters::roofline::iron_law {
namespace {

using models::Combine;
using models::IronLaw;
using models::IronPart;
using models::IronTerm;
using models::Technique;

/// At first: one decode step of one eighth of a 70-billion-parameter model in 16 bits at batch 1: 70.6e9 x 2 B / 8 of
/// weights, 4,096 tokens of cache at 327,680 B / 8, and 2 operations a parameter; 80 layers of 10 kernels at the 3.3 us
/// a launch that CUDA.jl measured.
struct Inputs {
  std::string chip = "h100_sxm";
  models::Format format = models::Format::bf16;
  double bytes = 17.82e9, weight_share = 0.99, flops = 17.65e9;
  double efficiency = 0.6;
  double overhead_s = 2.64e-3;
  Combine combine = Combine::added;
  std::vector<std::string> techniques{"weights_8bit", "cuda_graphs"};
  double strength = 1;
  bool operator==(const Inputs&) const = default;
};

struct Row {
  std::string technique, moves;
  double time_s = 0, speedup = 1, speedup_now = 1;
  bool on = false;
};

struct Outputs {
  double before_s = 0, time_s = 0, speedup = 1;
  double memory_s = 0, compute_s = 0, latency_s = 0;
  IronPart dominant_before = IronPart::memory, dominant = IronPart::memory;
  std::string moved, caution;
  double bound_memory = 1, bound_compute = 1, bound_latency = 1;
  double bandwidth_use = 0, compute_use = 0;
  std::vector<Row> rows;
  std::string reason;

  IronLaw law_before, law;
  models::IronTime first, last;
  std::vector<models::TechniqueEffect> steps;
  std::vector<MatrixRow> matrix;
  std::array<double, models::iron_part_count> bounds{1, 1, 1};
};

struct View {
  widgets::FormulaView formula;
  widgets::StackedBarView bars;
  widgets::WaterfallView waterfall;
  std::vector<widgets::WaterfallStep> steps;
};

const Choices combine_choices{
    {"added", "added", "Loads, arithmetic and launches take turns."},
    {"overlapped", "overlapped", "Loads run under the arithmetic: the longer of the two counts."}};
const Choices part_choices{{"memory", "memory", ""}, {"compute", "compute", ""}, {"latency", "latency", ""}};
const Choices technique_choices = [] {
  Choices out;
  for (const Technique& one : models::techniques())
    out.push_back({std::string(one.id), std::string(one.label), std::string(one.why)});
  return out;
}();

void describe(Fields& f, Inputs& in) {
  shared::chip(f, "chip", in.chip, {.help = "Its memory bandwidth and its dense peak rate enter the law."});
  shared::format(
      f, "format", in.format,
      {.label = "Format of the arithmetic", .help = "Chooses the peak rate. The bytes are set for themselves, below."});
  f.real("bytes", in.bytes,
         {
             .label = "Bytes moved",
             .unit = "B",
             .help = "Everything read from and written to the chip's main memory.",
             .lo = 1e3,
             .hi = 1e15,
             .scale = Scale::log,
         });
  f.real("weight_share", in.weight_share,
         {
             .label = "Weights' share of the bytes",
             .unit = "",
             .help = "The rest is intermediates, operands read again and caches: quantized weights shrink the one, "
                     "fusion and tiling the other.",
             .lo = 0,
             .hi = 1,
         });
  f.real("flops", in.flops,
         {
             .label = "Operations",
             .unit = "FLOP",
             .help = "Multiplications and additions, a fused pair counting as two.",
             .lo = 1e3,
             .hi = 1e18,
             .scale = Scale::log,
         });
  f.real("efficiency", in.efficiency,
         {
             .label = "Efficiency \xCE\xB7",
             .unit = "",
             .help = "The part of the peak rate that the kernels reach while they compute.",
             .lo = 0.01,
             .hi = 1,
         });
  f.real("overhead_s", in.overhead_s,
         {
             .label = "Latency",
             .unit = "s",
             .help = "Launches, synchronisation and every wait that is neither loading nor arithmetic.",
             .lo = 1e-9,
             .hi = 10,
             .scale = Scale::log,
         });
  f.choice("combine", in.combine, combine_choices,
           {.label = "Memory and compute are",
            .help = "Added when they take turns, overlapped when loads run under the arithmetic."});
  f.choices("techniques", in.techniques, technique_choices,
            {.label = "Techniques, in order",
             .help = "Applied one after the other; the order changes each step's gain, not the total."});
  f.real("strength", in.strength,
         {
             .label = "Strength of the techniques",
             .unit = "",
             .help = "1 applies each factor in full; 0.5 its square root, for a technique that reaches part of the "
                     "work; 0 leaves the law alone.",
             .lo = 0,
             .hi = 1,
         });
}

void describe(Fields& f, Row& r) {
  f.text("technique", r.technique, {.label = "Technique"});
  f.text("moves", r.moves, {.label = "Moves"});
  f.real("time_s", r.time_s, {.label = "Time alone", .unit = "s"});
  f.real("speedup", r.speedup, {.label = "Speedup alone"});
  f.real("speedup_now", r.speedup_now, {.label = "Speedup on top of what is on"});
  f.toggle("on", r.on, {.label = "On"});
}

void describe(Fields& f, Outputs& o) {
  constexpr std::string_view amdahl = "Amdahl 1967";
  f.real("time_s", o.time_s,
         {
             .label = "Time",
             .unit = "s",
             .formula = "bytes / bandwidth + operations / (rate x efficiency) + latency",
             .source = "after Hennessy and Patterson; max() when overlapped: Williams, Waterman, Patterson 2009",
         });
  f.real("before_s", o.before_s,
         {.label = "Time without techniques", .unit = "s", .formula = "the same law, no technique"});
  f.real("speedup", o.speedup, {.label = "Speedup", .formula = "time without techniques / time"});
  f.real("memory_s", o.memory_s, {.label = "Memory term", .unit = "s", .formula = "bytes / bandwidth"});
  f.real("compute_s", o.compute_s,
         {.label = "Compute term", .unit = "s", .formula = "operations / (rate x efficiency)"});
  f.real("latency_s", o.latency_s, {.label = "Latency term", .unit = "s", .formula = "launches and waits"});
  f.choice("dominant_before", o.dominant_before, part_choices,
           {.label = "Longest term before", .formula = "the largest of the three"});
  f.choice("dominant", o.dominant, part_choices, {.label = "Longest term now", .formula = "the largest of the three"});
  f.text("moved", o.moved, {.label = "Moved", .help = "The quantities that the chosen techniques change."});
  f.real("bound_memory", o.bound_memory,
         {
             .label = "At most, memory free",
             .help = "The speedup left if nothing had to be loaded.",
             .formula = "time / time without the memory term",
             .source = amdahl,
         });
  f.real("bound_compute", o.bound_compute,
         {
             .label = "At most, compute free",
             .help = "The speedup left if arithmetic took no time.",
             .formula = "time / time without the compute term",
             .source = amdahl,
         });
  f.real("bound_latency", o.bound_latency,
         {
             .label = "At most, latency free",
             .help = "The speedup left if nothing was waited for.",
             .formula = "time / time without the latency term",
             .source = amdahl,
         });
  f.real("bandwidth_use", o.bandwidth_use,
         {.label = "Bandwidth used", .unit = "%", .formula = "bytes / (bandwidth x time)"});
  f.real("compute_use", o.compute_use,
         {.label = "Peak rate used", .unit = "%", .formula = "operations / (rate x time)"});
  f.text("caution", o.caution, {.label = "Counted twice", .help = "Techniques that claim the same saving."});
  f.table("rows", o.rows, {.label = "Techniques, one by one", .help = "Each technique alone on the original work."});
}

std::string listed(const IronLaw& before, const IronLaw& after) {
  std::string out;
  for (std::size_t i = 0; i < models::iron_term_count; ++i) {
    const auto term = static_cast<IronTerm>(i);
    if (models::iron_value(before, term) != models::iron_value(after, term))
      out.append(out.empty() ? "" : ", ").append(models::iron_term_label(term));
  }
  if (before.combine != after.combine) out.append(out.empty() ? "" : ", ").append("overlap");
  return out.empty() ? "nothing" : out;
}

/// What the technique adds to the others that are on, whether it is on itself or not.
double gain_now(const Inputs& in, const IronLaw& law, const Technique& one) {
  std::vector<const Technique*> others;
  for (const std::string& id : in.techniques)
    if (id != one.id) others.push_back(models::find_technique(id));
  const auto effect = models::effect_of(models::apply_all(law, others, in.strength), one, in.strength);
  return effect ? effect->speedup : 1.0;
}

Outputs compute(const Inputs& in) {
  Outputs out;
  const models::Chip* chip = catalog().chip(in.chip);
  if (!chip) {
    out.reason = "There is no chip '" + in.chip + "': choose one of the list.";
    return out;
  }
  const auto machine = models::machine_of(*chip, in.format);
  if (!machine) {
    out.reason = machine.error + ".";
    return out;
  }
  out.law_before = {in.bytes,      machine->bandwidth_bytes_per_s,
                    in.flops,      machine->peak_flops_per_s,
                    in.efficiency, in.overhead_s,
                    in.combine,    in.weight_share};
  std::vector<const Technique*> chosen;
  for (const std::string& id : in.techniques) chosen.push_back(models::find_technique(id));
  out.law = models::apply_all(out.law_before, chosen, in.strength);
  const auto first = models::iron_time(out.law_before), last = models::iron_time(out.law);
  const auto steps = models::effects_in_order(out.law_before, chosen, in.strength);
  const auto bounds = models::speedup_bounds(out.law);
  if (!first || !last || !steps || !bounds) {
    out.reason = !first ? first.error : !last ? last.error : !steps ? steps.error : bounds.error;
    return out;
  }
  out.first = *first;
  out.last = *last;
  out.steps = *steps;
  out.bounds = *bounds;
  out.before_s = first->time_s;
  out.time_s = last->time_s;
  out.speedup = first->time_s / last->time_s;
  out.memory_s = last->memory_s;
  out.compute_s = last->compute_s;
  out.latency_s = last->latency_s;
  out.dominant_before = first->dominant;
  out.dominant = last->dominant;
  out.bound_memory = out.bounds[0];
  out.bound_compute = out.bounds[1];
  out.bound_latency = out.bounds[2];
  out.bandwidth_use = 100 * last->memory_s / last->time_s;
  out.compute_use = 100 * last->compute_s * out.law.efficiency / last->time_s;
  out.moved = listed(out.law_before, out.law);
  out.caution = models::counted_twice(chosen, in.format);
  for (const Technique& one : models::techniques()) {
    const auto alone = models::effect_of(out.law_before, one, in.strength);
    if (!alone) continue;
    const bool on = std::find(in.techniques.begin(), in.techniques.end(), one.id) != in.techniques.end();
    const double now = gain_now(in, out.law_before, one);
    out.rows.push_back(
        {std::string(one.label), listed(out.law_before, alone->law), alone->after.time_s, alone->speedup, now, on});
    out.matrix.push_back({one.label, one.why, on, one.overlaps, alone->factor, alone->speedup, now});
  }
  return out;
}

constexpr std::string_view added_law =
    "T = \\frac{\\text{bytes}}{\\text{bandwidth}} + \\frac{\\text{operations}}{\\text{rate} \\cdot \\eta} + "
    "\\text{latency}"
    " = \\frac{\\val{bytes}}{\\val{bandwidth}} + \\frac{\\val{operations}}{\\val{rate} \\cdot \\val{efficiency}} + "
    "\\val{latency}"
    " = \\val{memory_s} + \\val{compute_s} + \\val{latency} = \\val{time_s}";
constexpr std::string_view overlapped_law =
    "T = \\max(\\frac{\\text{bytes}}{\\text{bandwidth}} \\text{ , } \\frac{\\text{operations}}{\\text{rate} \\cdot "
    "\\eta}) + \\text{latency}"
    " = \\max(\\frac{\\val{bytes}}{\\val{bandwidth}} \\text{ , } \\frac{\\val{operations}}{\\val{rate} \\cdot "
    "\\val{efficiency}}) + \\val{latency}"
    " = \\max(\\val{memory_s}, \\val{compute_s}) + \\val{latency} = \\val{time_s}";

std::string_view law_value(const void* context, std::string_view key, widgets::NumberText& scratch) {
  const auto& o = *static_cast<const Outputs*>(context);
  struct Entry {
    std::string_view key, unit;
    double value;
  };
  const Entry entries[] = {{"bytes", "B", o.law.bytes},
                           {"bandwidth", "B/s", o.law.bandwidth_bytes_per_s},
                           {"operations", "FLOP", o.law.operations},
                           {"rate", "FLOP/s", o.law.rate_flops_per_s},
                           {"efficiency", "", o.law.efficiency},
                           {"latency", "s", o.law.latency_s},
                           {"memory_s", "s", o.memory_s},
                           {"compute_s", "s", o.compute_s},
                           {"time_s", "s", o.time_s}};
  for (const Entry& e : entries)
    if (e.key == key) return scratch = widgets::format(e.value, e.unit);
  return {};
}

widgets::Tint tint_of(IronPart part) {
  using widgets::Meaning;
  return part == IronPart::memory    ? Meaning::memory_bound
         : part == IronPart::compute ? Meaning::compute_bound
                                     : Meaning::launch_bound;
}

/// Three terms of the law as one bar; a term hidden by overlap is hatched in a bar of its own.
struct Terms {
  std::array<widgets::BarSegment, 3> seen;
  widgets::BarSegment hidden;
  Terms(const IronLaw& law, const models::IronTime& time) {
    constexpr std::string_view names[] = {"memory", "compute", "latency"};
    constexpr std::string_view formulas[] = {"bytes / bandwidth", "operations / (rate x efficiency)",
                                             "launches and waits"};
    for (std::size_t i = 0; i < 3; ++i) {
      const auto part = static_cast<IronPart>(i);
      seen[i] = {
          .label = names[i],
          .value = models::exposed_s(law, time, part),
          .tint = tint_of(part),
          .info = formulas[i],
      };
      if (seen[i].value < models::part_s(time, part))
        hidden = {
            .label = names[i],
            .value = models::part_s(time, part),
            .tint = tint_of(part),
            .info = "hidden: it runs under the longer term",
            .hatched = true,
        };
    }
  }
};

void draw_bars(const Outputs& out, View& view, float width, float height) {
  const Terms before(out.law_before, out.first), after(out.law, out.last);
  std::array<widgets::StackedBar, 4> bars;
  std::size_t n = 0;
  bars[n++] = {.label = "before", .segments = before.seen};
  if (before.hidden.hatched) bars[n++] = {.label = "hidden under it", .segments = {&before.hidden, 1}};
  bars[n++] = {.label = "now", .segments = after.seen};
  if (after.hidden.hatched) bars[n++] = {.label = "hidden under it", .segments = {&after.hidden, 1}};
  widgets::draw_stacked_bars("time by term", {bars.data(), n}, view.bars, {.unit = "s", .size = {width, height}});
}

void draw_steps(const Outputs& out, View& view, float width, float height) {
  view.steps.clear();
  for (const auto& step : out.steps)
    view.steps.push_back({
        .label = step.technique->label,
        .value = step.after.time_s - step.before.time_s,
        .tint = tint_of(step.part),
        .info = step.technique->why,
    });
  widgets::draw_waterfall("techniques in order", out.before_s, view.steps, view.waterfall,
                          {
                              .start_label = "before",
                              .end_label = "now",
                              .unit = "s",
                              .size = {width, height},
                              .row_px = 30,
                          });
}

void flip(std::vector<std::string>& ids, std::string_view id) {
  const auto at = std::find(ids.begin(), ids.end(), id);
  if (at != ids.end())
    ids.erase(at);
  else
    ids.emplace_back(id);
}

void draw(Inputs& in, const Outputs& out, View& view) {
  const auto& t = widgets::theme();
  if (!out.reason.empty()) return;
  const float width = ImGui::GetContentRegionAvail().x;
  const widgets::ValueSource values{&out, law_value};
  widgets::draw_formula("iron law", out.law.combine == Combine::added ? added_law : overlapped_law, values,
                        view.formula, {.max_width = width});
  ImGui::Dummy({0, t.px(4)});
  const float row = t.type(widgets::Type::small) + t.px(9);
  const float steps = std::max(t.px(140), (static_cast<float>(out.steps.size()) + 2) * row + 2 * row);
  const bool beside = width >= t.px(860);
  const float half = beside ? std::floor((width - t.px(20)) / 2) : width;
  draw_bars(out, view, half, beside ? std::min(steps, t.px(170)) : t.px(140));
  if (beside) {
    ImGui::SameLine(0, t.px(20));
    draw_steps(out, view, half, steps);
  }
  if (!out.caution.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, t.warning);
    ImGui::TextWrapped("%s", out.caution.c_str());
    ImGui::PopStyleColor();
  }
  const int pressed = draw_technique_matrix(out.matrix, out.bounds);
  if (pressed >= 0) flip(in.techniques, models::techniques()[static_cast<std::size_t>(pressed)].id);
  if (!beside) draw_steps(out, view, half, steps);
}

}  // namespace

LabPtr make() {
  return make_lab<Inputs, Outputs, View>(
      {.id = "roofline/iron-law",
       .title = "Iron law",
       .question = "Which term of the time does this technique move, and which does it leave alone?"},
      compute, draw);
}

}  // namespace chapters::roofline::iron_law
