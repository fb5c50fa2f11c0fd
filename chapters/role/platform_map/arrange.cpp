#include <algorithm>
#include <cmath>

#include "chapters/mechanism/registry.h"
#include "chapters/role/platform_map/lab.h"
#include "models/platform/techniques.h"
#include "widgets/number/number.h"

namespace chapters::role::platform_map {
namespace {

using models::platform::Part, widgets::format_text, widgets::Meaning, widgets::Tint;

constexpr std::array<Tint, parts> tints{
    Tint(Meaning::data_loading),
    Tint(Meaning::forward),
    Tint::series(1),
    Tint::series(2),
    Tint::series(3),
    Tint::series(4),
    Tint::series(5),
};
constexpr std::array<std::string_view, parts> briefs{"data",   "training", "profile", "compress",
                                                     "engine", "serving",  "monitor"};

std::string counted(double n, std::string_view one, std::string_view many) {
  return format_text(n, "") + " " + std::string(n == 1 ? one : many);
}

/// A time in the unit in which `whole_s` is said, where the time is no small part of it: nobody subtracts hours from
/// days.
std::string in_unit_of(double time_s, double whole_s) {
  const widgets::UnitScale scale = widgets::unit_scale(time_s < 0.1 * whole_s ? time_s : whole_s, "s");
  return format_text(time_s / scale.factor, scale.unit.view());
}

/// What a part's hours go to, in few words.
std::string cause_of(const Inputs& in, const Outputs& out, Part part) {
  const auto& run = out.release.run;
  const auto& service = out.release.service;
  const auto& s = in.setup;
  switch (part) {
    case Part::data:
      return out.release.parts[0].time_s < 0.001 * run.time_s ? "loaders keep up" : "GPUs wait for batches";
    case Part::training:
      return out.training_waits == "kernels"       ? "kernels compute"
             : out.training_waits == "the network" ? "waits for the network"
                                                   : "waits for launches";
    case Part::profiling:
      return counted(static_cast<double>(s.profile_runs), "short run", "short runs");
    case Part::compression:
      return counted(static_cast<double>(s.recipes_tried), "recipe tried", "recipes tried");
    case Part::engine:
      return counted(static_cast<double>(s.trials), "trial under load", "trials under load");
    case Part::serving:
      return counted(service.replicas, "replica", "replicas") + ", " +
             counted(static_cast<double>(s.waves), "wave", "waves");
    case Part::monitoring:
      return "canary answers " + format_text(std::ceil(out.release.canary_requests), "");
  }
  return {};
}

/// The techniques of a part, for its hover.
std::string techniques_of(Part part) {
  std::string out;
  for (const models::platform::Technique& t : models::platform::techniques())
    if (t.part == part) out += (out.empty() ? "acts on it: " : "; ") + std::string(t.name);
  return out;
}

Box box_of(const Inputs& in, const Outputs& out, const Run& run, Part part) {
  const auto i = static_cast<std::size_t>(part);
  Box box{.name = models::platform::part_name(part), .brief = briefs[i]};
  const bool hidden = part == Part::data && out.release.run.time_s > 0;  // loading runs while the GPUs train
  box.hours = out.release.parts[i].time_s < 1 ? (hidden ? "0 h, hidden" : "0 h")
                                              : format_text(out.release.parts[i].time_s, "s");
  box.money = format_text(out.release.parts[i].usd, "$");
  box.cause = cause_of(in, out, part);
  box.link = link_of(in, out, run, part);
  const LabPtr lab = box.link.empty() ? nullptr : make_lab_by_id(lab_of(out, part));
  box.hint = format_text(out.time_share[i], "%", 2) + " of the hours, " + format_text(out.usd_share[i], "%", 2) +
             " of the money; " + techniques_of(part) +
             (lab ? "; a click opens " + std::string(lab->info().title) + " as set here" : std::string());
  box.tint = tints[i];
  return box;
}

/// The bands of the river, and where its axis of hours ends: what few GPUs take is cut.
void fill_river(const Inputs& in, const Outputs& out, const Run& run, Picture& p) {
  double least = HUGE_VAL, most = 0;
  for (const GpuRow& row : run.looked) {
    if (!row.refused.empty()) continue;
    RiverRow river{.gpus = static_cast<double>(row.gpus), .usd = row.release.total.usd};
    for (std::size_t k = 0; k < parts; ++k) river.hours[k] = row.release.parts[river_order[k]].time_s / 3600;
    river.all = row.release.total.time_s / 3600;
    least = std::min(least, river.all);
    most = std::max(most, river.all);
    p.river.push_back(river);
    p.river_holders.push_back(holder_of(row.release));
  }
  p.top_hours = std::min(1.08 * most, std::max(1.9 * out.release.total.time_s / 3600, 3.2 * least));
  if (!p.river.empty() && p.river.front().all > p.top_hours)
    p.first_hours =
        format_text(p.river.front().all * 3600, "s") + " at " + counted(p.river.front().gpus, "GPU", "GPUs");
  const auto twice = std::find_if(p.river.begin(), p.river.end(), [&](const RiverRow& row) {
    return row.gpus == 2 * static_cast<double>(in.setup.gpus);
  });
  if (twice != p.river.end())
    p.double_hours = "twice the GPUs: " + in_unit_of(twice->all * 3600, out.release.total.time_s);
}

/// A stretch ends where the next begins.
void fill_stretches(const Outputs& out, Picture& p) {
  for (const StretchRow& row : out.stretches) {
    const auto from = static_cast<double>(row.from_gpus);
    if (!p.stretches.empty()) p.stretches.back().to = from;
    const bool both = row.holder == Holder::data_and_training;
    const std::size_t i = both ? 0 : static_cast<std::size_t>(row.holder);
    p.stretches.push_back({
        .from = from,
        .to = p.axis_hi,
        .name = row.bottleneck,
        .brief = row.refused ? "no fit"
                 : both      ? "both"
                             : std::string(briefs[i]),
        .tint = row.refused ? Tint(Meaning::idle) : tints[i],
        .refused = row.refused,
        .both = both,
    });
  }
}

void fill_curves(const Outputs& out, Picture& p) {
  const auto curve = [](std::string label, Tint tint, float width = 2) {
    return widgets::Curve{.label = std::move(label), .tint = tint, .width = width, .named = false};
  };
  p.hours = {curve("the other five", {}), curve("training's network", Meaning::communication),
             curve("training's kernels", Meaning::forward), curve("data", Meaning::data_loading),
             curve("all parts", Tint::strong(), 3)};
  for (const GpuRow& row : out.by_gpus) {
    if (!row.refused.empty()) continue;
    const models::platform::Release& r = row.release;
    const double all = r.total.time_s, data = r.parts[0].time_s, training = r.parts[1].time_s;
    const auto n = static_cast<double>(row.gpus);
    p.hours[0].add(n, (all - data - training) / 3600);
    p.hours[1].add(n, r.run.network_s / 3600);
    p.hours[2].add(n, (training - r.run.network_s) / 3600);
    p.hours[3].add(n, data / 3600);
    p.hours[4].add(n, all / 3600);
  }
}

/// The run by cause: waits, then kernels.
void fill_step(const models::platform::RunFigures& run, Picture& p) {
  p.step = {
      {.label = "waiting for batches", .value = run.loader_s, .tint = Tint(Meaning::data_loading), .hatched = true},
      {.label = "waiting for the network",
       .value = run.network_s,
       .tint = Tint(Meaning::communication),
       .hatched = true},
      {.label = "waiting for launches", .value = run.host_s, .tint = Tint(Meaning::launch_bound), .hatched = true},
      {.label = "forward", .value = run.steps * run.step.forward_s, .tint = Tint(Meaning::forward)},
      {.label = "backward", .value = run.steps * run.step.backward_s, .tint = Tint(Meaning::backward)},
      {.label = "optimizer", .value = run.steps * run.step.optimizer_s, .tint = Tint(Meaning::optimizer)},
  };
}

/// Where the bottleneck goes with more GPUs.
std::string next_words(const Outputs& out) {
  if (std::isnan(out.next_at))
    return out.bottleneck == Holder::training ? "no number of GPUs tried moves the bottleneck" : "";
  const bool both = out.next_bottleneck == holder_name(Holder::data_and_training);
  return "from " + widgets::figure(out.next_at, "", 9) + " GPUs on " + out.next_bottleneck +
         (both ? " hold it up together" : " holds it up");
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  const bool both = out.bottleneck == Holder::data_and_training;
  const auto gpus = static_cast<double>(in.setup.gpus);
  std::string text = "At " + widgets::figure(gpus, "", 9) + (gpus == 1 ? " GPU " : " GPUs ") +
                     std::string(holder_name(out.bottleneck));
  if (out.bottleneck == Holder::training && out.training_waits != "kernels")
    text += ", waiting for " + out.training_waits + ",";
  text += both ? " hold the release up together: halving both saves " : " holds the release up: halving it saves ";
  text += widgets::figure(out.bottleneck_saves_s, "s") + " of " + widgets::figure(out.release.total.time_s, "s") + ".";
  std::string why;
  if (std::abs(out.twice_gain) < 0.05)
    why = "Doubling the GPUs saves nothing";
  else if (!std::isnan(out.twice_gain))
    why = "Doubling the GPUs " + std::string(out.twice_gain > 0 ? "saves " : "adds ") +
          widgets::figure(std::abs(out.twice_gain), "%") + (out.twice_gain > 0 ? " of" : " to") + " the hours";
  const std::string next = next_words(out);
  if (!why.empty() && !next.empty()) why += "; ";
  why += next;
  if (why.empty()) return text;
  if (why[0] >= 'a' && why[0] <= 'z') why[0] = static_cast<char>(why[0] - 'a' + 'A');
  return text + "\n" + why + ".";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  if (!out.reason.empty()) return p;
  for (std::size_t i = 0; i < parts; ++i) p.boxes[i] = box_of(in, out, run, static_cast<Part>(i));
  for (std::size_t i = 0; i < parts; ++i)
    p.bottleneck[i] =
        out.bottleneck == Holder::data_and_training ? i < 2 : i == static_cast<std::size_t>(out.bottleneck);
  p.total_hours = format_text(out.release.total.time_s, "s");
  p.total_money = format_text(out.release.total.usd, "$");
  p.gpus_tag = counted(static_cast<double>(in.setup.gpus), "GPU", "GPUs");
  p.axis_hi = out.by_gpus.empty() ? 2 : std::max(2.0, static_cast<double>(out.by_gpus.back().gpus));
  p.axis_hi = std::max(p.axis_hi, static_cast<double>(in.setup.gpus));
  fill_stretches(out, p);
  fill_curves(out, p);
  fill_river(in, out, run, p);
  p.least_gpus = static_cast<double>(in.setup.gpus);
  if (const auto& found = p.hours.back().x; !found.empty()) p.least_gpus = std::min(p.least_gpus, found.front());
  fill_step(out.release.run, p);
  for (const models::platform::Technique& t : models::platform::techniques()) {
    const LabPtr lab = make_lab_by_id(t.lab);
    p.technique_labs.push_back(lab ? "Open " + std::string(lab->info().title) + " as set here" : std::string());
    p.technique_links.push_back(lab ? link_to_lab(in, out, run, t.part, t.lab) : std::string());
  }
  p.answer = answer_of(in, out);
  return p;
}

}  // namespace chapters::role::platform_map
