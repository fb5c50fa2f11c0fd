#include <cmath>

#include "chapters/mechanism/catalog.h"
#include "chapters/roofline/roofline/setting.h"
#include "chapters/roofline/shared/source_words.h"
#include "kernels/kernel.h"

namespace chapters::roofline::roofline {
namespace {

/// Whether a bandwidth ceiling is among what the learner chose to see. The specified one of main memory is the roof
/// itself.
bool is_shown(const Inputs& in, const models::Ceiling& ceiling) {
  const bool measured = ceiling.basis == models::Basis::measured;
  const bool basis_shown = !measured || shows(in, "measured");
  switch (ceiling.level) {
    case models::LevelKind::shared:
      return shows(in, "shared") && basis_shown;
    case models::LevelKind::l2:
      return shows(in, "l2");
    case models::LevelKind::link:
      return shows(in, "link") && basis_shown;
    case models::LevelKind::pcie:
      return shows(in, "pcie");
    case models::LevelKind::memory:
      return measured && shows(in, "measured");
    default:
      return false;
  }
}

}  // namespace

void add_roofs(const Inputs& in, const models::Chip& main, Outputs& out) {
  std::vector<const models::Chip*> chips{&main};
  for (const std::string& id : in.chips)
    if (const models::Chip* chip = catalog().chip(id); chip && chip != &main) chips.push_back(chip);
  for (const models::Chip* chip : chips) {
    const auto format = models::nearest_format(*chip, in.format);
    if (!format || (chip == &main && *format != in.format)) continue;
    const models::Machine machine = *models::machine_of(*chip, *format);
    RoofRow row{chip->short_name,
                std::string(models::format_label(*format)),
                machine,
                models::ridge_flops_per_byte(machine),
                {}};
    if (out.work.bytes > 0)
      row.placement = models::place(machine, {out.work.flops, out.work.bytes, 1}).value.value_or(models::Placement{});
    out.roofs.push_back(std::move(row));
  }
}

void add_ceilings(const Inputs& in, const Setting& setting, Outputs& out, Run& run) {
  const models::Machine& machine = setting.machine;
  bool has_l2 = false;  // the second one of L2 repeats the first
  for (const models::Ceiling& ceiling : models::bandwidth_ceilings(setting.chip)) {
    if (ceiling.level == models::LevelKind::memory && ceiling.basis != models::Basis::measured) run.memory = ceiling;
    const bool is_l2 = ceiling.level == models::LevelKind::l2;
    if (is_shown(in, ceiling) && !(is_l2 && has_l2))
      out.ceilings.push_back({ceiling, std::string(models::basis_id(ceiling.basis)), source_words(ceiling.source),
                              machine.peak_flops_per_s / ceiling.per_s, true});
    has_l2 = has_l2 || is_l2;
  }
  if (!shows(in, "measured")) return;
  for (const models::Ceiling& ceiling : models::compute_ceilings(setting.chip))
    if (ceiling.basis == models::Basis::measured && ceiling.format == in.format) {
      out.ceilings.push_back({ceiling, std::string(models::basis_id(ceiling.basis)), source_words(ceiling.source),
                              ceiling.per_s / machine.bandwidth_bytes_per_s, false});
      if (!(out.measured_peak_flops_per_s >= ceiling.per_s)) out.measured_peak_flops_per_s = ceiling.per_s;
    }
}

void add_measured(const Inputs& in, const models::Machine& machine, Outputs& out) {
  if (in.measured.text.empty()) return;
  const auto read = kernels::parse_measurements(in.measured.text);
  if (!read) {
    out.reason = read.error;
    return;
  }
  for (const kernels::Measurement& m : *read) {
    const double roof = models::attainable_flops_per_s(machine, m.intensity());
    const MeasuredRow row{m.name, m.intensity(), m.flops_per_s(), 100 * m.flops_per_s() / roof};
    if (std::isfinite(row.intensity) && std::isfinite(row.flops_per_s) && std::isfinite(row.share_of_roof_percent))
      out.measured_points.push_back(row);
  }
}

}  // namespace chapters::roofline::roofline
