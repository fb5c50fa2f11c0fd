#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "chapters/roofline/hierarchy/lab.h"
#include "chapters/roofline/shared/marked_number.h"
#include "chapters/roofline/shared/source_words.h"

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
    pic.comparison = "Against " + out.compared_with + ": bandwidth / " + times(out.bandwidth_ratio) + ", latency x " +
                     times(out.latency_ratio) + ", energy x " + times(out.energy_ratio) + ".";
  pic.filling = format_text(out.needed_in_flight_bytes, "B") + " in flight fill it; here " + out.limit + " rules.";
}

void say_answer(const Inputs& in, const Outputs& out, Picture& pic) {
  const LevelRow& row = out.chosen;
  const bool many = row.facts.kind == models::LevelKind::registers;
  pic.answer = row.facts.label + (many ? " are " : " is ") + marked_number(row.latency_s, "s") + " away, `" +
               row.human_latency + "` if a clock took a second: " + marked_number(in.bytes, "B") + " in " +
               marked_number(row.time_s, "s") + (row.energy_j > 0 ? " for " + marked_number(row.energy_j, "J") : "") +
               ".";
  if (!row.move.fits)
    pic.answer +=
        std::string(many ? " They hold " : " It holds ") + marked_number(row.capacity_bytes, "B") + " at a time.";
  pic.fill_label = "in flight to fill it: " + format_text(out.needed_in_flight_bytes, "B");
  pic.own_label = row.facts.label + ": " + format_text(row.time_s, "s");
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
  if (out.reason.empty()) {
    write_level(out, pic);
    say_answer(in, out, pic);
  }
  return pic;
}

}  // namespace chapters::roofline::hierarchy
