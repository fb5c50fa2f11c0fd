// A scenario file for any lab. What is refused leaves the lab as it was; what is accepted survives the way back through
// JSON, and its outputs are finite or the lab says why there are none.
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/content/load_catalog.h"
#include "app/scenario/scenario.h"
#include "chapters/mechanism/registry.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/base/paths.h"

namespace {

/// What a file input names is not opened: its path is its content, so that configs and measurements are fuzzed as well.
models::Result<std::string> path_as_text(const std::string& path) { return models::Result<std::string>::ok(path); }

void require_finite(const chapters::Lab& lab) {
  if (!lab.reason().empty()) return;  // it may name the file by its path, which is anything here
  for (const auto& f : lab.outputs()) {
    const bool missing = f.spec.may_be_missing && f.kind == chapters::Kind::real && std::isnan(f.number());
    if (f.kind == chapters::Kind::real && !missing)
      fuzz::require(std::isfinite(f.number()), "an output that is not finite", f.key);
    if (f.kind == chapters::Kind::reals)
      for (const double v : f.reals())
        fuzz::require(std::isfinite(v), "a list with a number that is not finite", f.key);
  }
}

void try_on(chapters::Lab& lab, const app::Json& inputs) {
  const auto before = lab.clone();
  if (const auto set = app::apply_inputs(lab, inputs, path_as_text); !set) {
    fuzz::require_sentence(set.error);
    fuzz::require(lab.same_inputs(*before), "refused inputs changed the lab", set.error);
    return;
  }
  const auto twin = before->clone();
  const auto back = app::apply_inputs(*twin, app::fields_to_json(lab.inputs()), path_as_text);
  fuzz::require(back && twin->same_inputs(lab), "accepted inputs do not survive the way through JSON", back.error);
  if (lab.info().job) return;
  lab.compute();
  require_finite(lab);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool ready = [] {
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
    return true;
  }();
  const auto scenario = app::parse_scenario(fuzz::text_of(data, ready ? size : 0));
  if (!scenario) {
    fuzz::require_sentence(scenario.error);
    return 0;
  }
  const auto inputs = app::parse_own_json(scenario->inputs_text);
  for (const auto& entry : chapters::all_labs()) try_on(*entry.make(), inputs);
  const auto lab = chapters::make_lab_by_id(scenario->lab);
  if (const auto set = app::apply_view(*lab, app::parse_own_json(scenario->view_text)); !set)
    fuzz::require_sentence(set.error);
  return 0;
}
