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

std::string share_text(double percent) {
  if (percent > 0 && percent < 0.1) return "<0.1 %";
  return format_text(percent < 10 ? std::round(percent * 10) / 10 : std::round(percent), "%", 2);
}

/// What each technique of a part would save of the whole, the largest first; those in use or refused are left out.
std::vector<Act> acts_of(const Outputs& out, std::string_view part) {
  std::vector<Act> acts;
  const auto& total = out.release.total;
  for (const TechniqueRow& row : out.techniques) {
    if (row.part != part || !row.added) continue;
    // What is below a thousandth of the whole saves nothing to speak of.
    const bool hours = std::abs(row.saves_s) >= 1e-3 * total.time_s,
               money = std::abs(row.saves_usd) >= 1e-3 * total.usd;
    std::string saves;
    if (hours) saves = (row.saves_s > 0 ? "saves " : "costs ") + format_text(std::abs(row.saves_s), "s", 2);
    if (money)
      saves += (saves.empty() ? row.saves_usd > 0 ? "saves " : "costs " : ", ") +
               std::string(hours && (row.saves_s > 0) != (row.saves_usd > 0) ? (row.saves_usd > 0 ? "saves " : "costs ")
                                                                             : "") +
               format_text(std::abs(row.saves_usd), "$", 2);
    acts.push_back({row.name, saves.empty() ? "saves nothing here" : saves, row.saves_s, row.saves_usd});
  }
  std::stable_sort(acts.begin(), acts.end(), [&](const Act& a, const Act& b) {
    return a.hours / total.time_s + a.usd / total.usd > b.hours / total.time_s + b.usd / total.usd;
  });
  return acts;
}

Box box_of(const Inputs& in, const Outputs& out, const Run& run, Part part) {
  const auto i = static_cast<std::size_t>(part);
  Box box{.name = models::platform::part_name(part)};
  box.time_share = out.time_share[i] / 100;
  box.usd_share = out.usd_share[i] / 100;
  box.brief = briefs[i];
  box.hours = format_text(out.release.parts[i].time_s, "s");
  box.hours_percent = share_text(out.time_share[i]);
  box.hours_share = box.hours_percent + " of hours";
  box.money = format_text(out.release.parts[i].usd, "$");
  box.money_percent = share_text(out.usd_share[i]);
  box.money_share = box.money_percent + " of money";
  box.acts = acts_of(out, box.name);
  box.cause = cause_of(in, out, part);
  box.link = link_of(in, out, run, part);
  if (const LabPtr lab = box.link.empty() ? nullptr : make_lab_by_id(lab_of(out, part)))
    box.opens = std::string(lab->info().title);
  box.hint = techniques_of(part) + (box.opens.empty() ? "" : "; a click opens " + box.opens + " as set here");
  box.tint = tints[i];
  return box;
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
  return "from " + widgets::figure(out.next_at, "", 9) + " GPUs on it is " + out.next_bottleneck +
         (both ? " together" : "");
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
  for (std::size_t i = 0; i < parts; ++i) {
    p.boxes[i] = box_of(in, out, run, static_cast<Part>(i));
    p.time_share[i] = p.boxes[i].time_share;
    p.usd_share[i] = p.boxes[i].usd_share;
  }
  for (std::size_t i = 0; i < parts; ++i)
    p.bottleneck[i] =
        out.bottleneck == Holder::data_and_training ? i < 2 : i == static_cast<std::size_t>(out.bottleneck);
  p.dearest = out.release.dearest;
  p.total_hours = format_text(out.release.total.time_s, "s");
  p.paid = "in " + format_text(in.setup.days, "") + " days";
  p.total_money = format_text(out.release.total.usd, "$");
  p.gpus_tag = counted(static_cast<double>(in.setup.gpus), "GPU", "GPUs");
  p.axis_hi = out.by_gpus.empty() ? 2 : std::max(2.0, static_cast<double>(out.by_gpus.back().gpus));
  p.axis_hi = std::max(p.axis_hi, static_cast<double>(in.setup.gpus));
  fill_stretches(out, p);
  fill_curves(out, p);
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
