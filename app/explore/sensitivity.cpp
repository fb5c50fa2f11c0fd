#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/explore/explore.h"
#include "app/scenario/sentences.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Kind;
using chapters::Scale;

struct Trial {
  std::size_t row;
  double input;
  double output = std::numeric_limits<double>::quiet_NaN();
};

std::string input_text(const Field& f, double v) {
  if (f.kind == Kind::toggle) return v != 0 ? "on" : "off";
  if (f.kind == Kind::choice) return (*f.options)[static_cast<std::size_t>(v)].label;
  return std::string(widgets::format(v, f.spec.unit));
}

std::vector<double> trials_of(const Field& f) {
  const double now = f.number();
  std::vector<double> out;
  if (f.kind == Kind::toggle) return {0, 1};
  if (f.kind == Kind::choice) {
    for (std::size_t i = 0; i < f.options->size(); ++i) out.push_back(static_cast<double>(i));
    return out;
  }
  const bool halve = f.spec.range.scale == Scale::log && now > 0;
  const double step = f.spec.range.scale == Scale::step
                          ? std::max(f.spec.range.step, (f.spec.range.hi - f.spec.range.lo) / 10)
                          : (f.spec.range.hi - f.spec.range.lo) / 10;
  for (double v : {halve ? now / 2 : now - step, halve ? now * 2 : now + step}) {
    v = std::clamp(v, f.spec.range.lo, f.spec.range.hi);
    out.push_back(f.kind == Kind::integer ? std::round(v) : v);
  }
  return out;
}

}  // namespace

double SensitivityRow::span() const {
  const double s = std::abs(high_output - low_output);
  return s >= 0 ? s : 0;
}

models::Result<SensitivityResult> sensitivity(const chapters::Lab& lab, std::string_view output,
                                              chapters::Progress& progress) {
  using Analysed = models::Result<SensitivityResult>;
  const Field* out = lab.outputs().find(output);
  if (!out) return Analysed::fail(unknown_key(lab.info().id, "output", output, lab.outputs()));
  if (!out->is_number()) return Analysed::fail(std::string(output) + " is not a number: sensitivity needs one.");
  SensitivityResult r{
      .output = std::string(output),
      .base = 0,
      .rows = {},
  };
  const auto base = lab.clone();
  base->compute_facts();
  r.base = reading(*base, output);

  std::vector<Trial> trials;
  std::vector<std::string> keys = sweepable_inputs(lab);
  for (std::size_t row = 0; row < keys.size(); ++row)
    for (double v : trials_of(*lab.inputs().find(keys[row]))) trials.push_back({row, v});
  parallel_for(trials.size(), progress, [&](std::size_t i, int) {
    const auto copy = lab.clone();
    copy->inputs().find(keys[trials[i].row])->set_number(trials[i].input);
    copy->compute_facts();
    trials[i].output = reading(*copy, output);
  });
  if (progress.cancelled) return Analysed::fail("The analysis was cancelled.");

  for (std::size_t row = 0; row < keys.size(); ++row) {
    const Field& f = *lab.inputs().find(keys[row]);
    // Of a number these are the lower and the higher input, of a choice the options with the least and greatest output.
    const Trial *low = nullptr, *high = nullptr;
    for (const Trial& t : trials) {
      if (t.row != row) continue;
      if (f.kind == Kind::choice) {
        if (std::isnan(t.output)) continue;
        if (!low || t.output < low->output) low = &t;
        if (!high || t.output > high->output) high = &t;
      } else {
        (low ? high : low) = &t;
      }
    }
    if (!low || !high) continue;
    r.rows.push_back({keys[row], std::string(f.spec.label), input_text(f, low->input), input_text(f, high->input),
                      low->output, high->output});
  }
  std::stable_sort(r.rows.begin(), r.rows.end(), [](const auto& a, const auto& b) { return a.span() > b.span(); });
  return Analysed::ok(std::move(r));
}

}  // namespace app
