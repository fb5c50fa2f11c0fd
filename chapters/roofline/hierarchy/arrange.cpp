#include <algorithm>
#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/short_name.h"
#include "chapters/roofline/hierarchy/lab.h"
#include "chapters/roofline/shared/source_words.h"
#include "widgets/number/number.h"

namespace chapters::roofline::hierarchy {
namespace {

using widgets::format_text;

/// Time against bytes at a level, from 1 B to 1 TB: solid as far as it holds them, dashed beyond. None where the level
/// lacks a figure.
void trace_level(const LevelRow& row, const Inputs& in, bool chosen, Picture& pic) {
  if (!row.move.time_s) return;
  using widgets::Curve, widgets::Tint;
  const Tint tint = chosen ? Tint::yours() : Tint();
  Curve within{.label = row.facts.label,
               .info = "latency + bytes / bandwidth",
               .tint = tint,
               .width = chosen ? 3.5f : 1.5f,
               .legend = false};
  Curve beyond{.label = row.facts.label,
               .info = "more bytes than the level holds: they pass through in pieces",
               .tint = tint,
               .width = chosen ? 2.5f : 1.2f,
               .dashed = true,
               .legend = false};
  std::size_t held = 0;  // points up to the last that fits
  for (int i = 0; i <= 96; ++i) {
    const double bytes = std::pow(10.0, i / 8.0);
    const models::Move move = models::move_bytes(row.facts, bytes, {in.pattern, in.in_flight_bytes, in.access_bytes});
    within.add(bytes, move.time_s.value_or(std::nan("")));
    if (move.fits) held = within.x.size();
  }
  const std::size_t joint = held > 0 ? held - 1 : 0;
  const bool passes = held < within.x.size();
  for (std::size_t i = joint; passes && i < within.x.size(); ++i) beyond.add(within.x[i], within.y[i]);
  within.x.resize(held);
  within.y.resize(held);
  within.named = !passes;  // the name stands where the curve ends
  for (Curve* part : {&within, &beyond})
    if (!part->x.empty()) pic.curves.push_back(std::move(*part));
}

LevelSources sources_of(const models::Level& level) {
  return {.capacity = source_words(level.capacity_bytes),
          .bandwidth = source_words(level.bandwidth_bytes_per_s),
          .measured = source_words(level.measured_bandwidth_bytes_per_s),
          .latency = source_words(level.latency_s),
          .energy = source_words(level.energy_j_per_byte)};
}

void write_level(const Outputs& out, Picture& pic) {
  const auto times = [](double ratio) { return format_text(ratio, "", 2); };
  if (out.compared_with != out.chosen.facts.label)
    pic.comparison = "Against " + out.compared_with + ": bandwidth / " + times(out.bandwidth_ratio) + ", latency × " +
                     times(out.latency_ratio) + ", energy × " + times(out.energy_ratio) + ".";
  pic.filling = format_text(out.needed_in_flight_bytes, "B") + " in flight fill it; here " + out.limit + " rules.";
}

/// What a level is called inside a sentence; a name that is half a data sheet is cut down to what it is.
std::string name_of(const models::Level& level) {
  if (level.kind == models::LevelKind::registers) return "the registers";
  if (level.label == "Shared memory") return "shared memory";
  constexpr std::size_t longest = 24;
  if (level.kind == models::LevelKind::link && level.label.size() > longest) return "the chip's links";
  return short_name(level.label, longest);
}

/// "A read from HBM3": what is waited for at a level.
std::string read_words(const models::Level& level) {
  switch (level.kind) {
    case models::LevelKind::registers:
      return "A read of a register";
    case models::LevelKind::shared:
      return "A read from " + name_of(level);
    case models::LevelKind::link:
    case models::LevelKind::pcie:
      return "A read over " + name_of(level);
    case models::LevelKind::network:
      return "A message over " + name_of(level);
    case models::LevelKind::storage:
      return "A read from the " + level.label + " drive";
    default:
      return "A read from " + level.label;
  }
}

/// What the fetch costs beside its time: joules, and the watts of a cluster that streams its memory or the step from
/// the level compared with.
std::string cost_of(const Inputs& in, const Outputs& out) {
  const LevelRow& row = out.chosen;
  const std::string energy = row.energy_j > 0 ? "It costs " + widgets::figure(row.energy_j, "J") : "";
  if (row.facts.kind == models::LevelKind::memory) {
    const std::string chips = widgets::figure(static_cast<double>(in.chips), "") + (in.chips == 1 ? " chip" : " chips");
    const std::string draws = in.chips == 1 ? " draws " : " draw ";
    const std::string watts = widgets::figure(out.power.cluster_w, "W") + " for memory alone.";
    if (in.fused_percent > 0 && out.power.saved_cluster_w > 0)
      return (energy.empty() ? "On " : energy + "; on ") + chips + " the fusion that is set saves " +
             widgets::figure(out.power.saved_cluster_w, "W") + ".";
    if (in.streaming_percent == 100 && !energy.empty())
      return energy + "; " + chips + " that " + (in.chips == 1 ? "streams" : "stream") + " all day" + draws + watts;
    return chips + " at " + widgets::figure(in.streaming_percent, "%") + " of the bandwidth" + draws + watts;
  }
  if (out.compared_with == row.facts.label) return energy.empty() ? energy : energy + ".";
  const std::string far = widgets::figure(out.latency_ratio, widgets::times_unit),
                    narrow = widgets::figure(out.bandwidth_ratio, widgets::times_unit);
  const auto base = std::find_if(out.levels.begin(), out.levels.end(),
                                 [&](const LevelRow& level) { return level.facts.label == out.compared_with; });
  const std::string other = base == out.levels.end() ? out.compared_with : name_of(base->facts);
  return (energy.empty() ? "Latency" : energy + "; latency") + " is " + far + " that of " + other +
         ", whose bandwidth is " + narrow + " as high.";
}

/// The fetch as it is asked for: a verdict and why.
std::string answer_of(const Inputs& in, const Outputs& out) {
  const LevelRow& row = out.chosen;
  const std::string bytes = widgets::figure(in.bytes, "B"), time = widgets::figure(row.time_s, "s"),
                    latency = widgets::figure(row.latency_s, "s"), human = widgets::figure(row.human_latency),
                    streamed = widgets::figure(out.streamed_s, "s");
  const std::string whole = "\nThey do not fit: it holds " + widgets::figure(row.capacity_bytes, "B") + " at a time.";
  if (in.pattern == models::AccessPattern::chase && out.accesses > 1)
    return "As a pointer chase through " + name_of(row.facts) + ", " + bytes + " take " + time + " instead of " +
           streamed + " streamed." +
           (row.move.fits
                ? "\nEach of " + widgets::figure(out.accesses, "") + " accesses waits " + latency +
                      " for the one before; if one clock were a second, " + widgets::figure(row.human_time) + "."
                : whole);
  if (in.pattern == models::AccessPattern::limited && out.streamed_ratio > 1.005)
    return "With " + widgets::figure(in.in_flight_bytes, "B") + " in flight, " + bytes + " from " + name_of(row.facts) +
           " take " + time + " instead of " + streamed + "." +
           (row.move.fits
                ? "\nFilling " + name_of(row.facts) + " takes " + widgets::figure(out.needed_in_flight_bytes, "B") +
                      " in flight; with less it gives " + widgets::figure(out.achieved_bandwidth_bytes_per_s, "B/s") +
                      " of " + widgets::figure(row.bandwidth_bytes_per_s, "B/s") + "."
                : whole);
  const std::string why = row.move.fits ? "\n" + cost_of(in, out) : whole;
  return read_words(row.facts) + " takes " + latency + " (" + human + " if one clock were a second); " + bytes +
         (in.bytes == 1                                 ? " takes "
          : in.pattern == models::AccessPattern::stream ? " streamed take "
                                                        : " take ") +
         time + "." + (why == "\n" ? "" : why);
}

void say_answer(const Inputs& in, const Outputs& out, Picture& pic) {
  pic.answer = answer_of(in, out);
  pic.fill_label = "in flight to fill it: " + format_text(out.needed_in_flight_bytes, "B");
  pic.own_label = out.chosen.facts.label + ": " + format_text(out.chosen.time_s, "s");
}

void write_power(const Inputs& in, const models::Chip& chip, const Outputs& out, Picture& pic) {
  const auto chips = static_cast<double>(in.chips);
  pic.cluster_tdp_w = chip.tdp_w.value_or(0) * chips;
  pic.power_title = "Memory traffic of " + format_text(chips, "") + (in.chips == 1 ? " chip" : " chips");
  pic.power_note = "Saves " + format_text(out.power.saved_cluster_w, "W") + ", " +
                   format_text(out.power.saved_j_per_year / 3.6e9, "", 3) + " MWh a year.";
  if (pic.cluster_tdp_w > 0)
    pic.power_scale = "Full width: the TDP of all, " + format_text(pic.cluster_tdp_w, "W") + ". Now " +
                      format_text(out.memory_tdp_percent, "%", 2) + " of it.";
}

/// The three ways of asking for the bytes at the chosen level, and a shaft that holds them and every level.
void arrange_shaft(const Inputs& in, const models::Chip& chip, const Outputs& out, Picture& pic) {
  const double scale = models::human_scale(chip);
  constexpr std::pair<std::string_view, double> units[] = {
      {"1 second", 1},      {"1 minute", 60},     {"1 hour", 3600},          {"1 day", 86400},
      {"1 month", 2629800}, {"1 year", 31557600}, {"1 century", 3155760000}, {"1,000 centuries", 3155760000e3}};
  for (const auto& [label, seconds] : units) pic.human_ticks.push_back({label, seconds / scale});
  pic.lo_s = 0.3 / scale;
  pic.hi_s = 1e-4;
  for (const LevelRow& row : out.levels)
    if (row.latency_s > 0) pic.hi_s = std::max(pic.hi_s, 2 * row.latency_s);
  if (pic.selected >= out.levels.size()) return;
  pic.ways[0] = {"streamed", out.human_streamed, format_text(out.streamed_s, "s"), out.streamed_s, 1};
  pic.ways[1] = {"limited in flight", out.human_limited, format_text(out.limited_s, "s"), out.limited_s,
                 std::max(1.0, in.bytes / in.in_flight_bytes)};
  pic.ways[2] = {"hop by hop", out.human_chased, format_text(out.chased_s, "s"), out.chased_s,
                 std::max(1.0, in.bytes / in.access_bytes)};
  for (std::size_t i = 0; i < pic.ways.size(); ++i) {
    pic.ways[i].chosen = in.pattern == static_cast<models::AccessPattern>(i);
    pic.hi_s = std::max(pic.hi_s, 2 * pic.ways[i].time_s);
  }
  pic.ways_title = format_text(in.bytes, "B") + " from " + name_of(out.chosen.facts) + ", asked for in three ways";
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture pic;
  const models::Chip* chip = catalog().chip(in.chip);
  if (!chip) return pic;
  pic.chip_name = chip->short_name.empty() ? chip->name : chip->short_name;
  pic.selected = find_row(out.levels, in.level);
  for (std::size_t i = 0; i < out.levels.size(); ++i) {
    trace_level(out.levels[i], in, i == pic.selected, pic);
    pic.sources.push_back(sources_of(out.levels[i].facts));
  }
  write_power(in, *chip, out, pic);
  arrange_shaft(in, *chip, out, pic);
  if (out.reason.empty()) {
    write_level(out, pic);
    say_answer(in, out, pic);
  }
  return pic;
}

}  // namespace chapters::roofline::hierarchy
