#include <cmath>
#include <nlohmann/json.hpp>

#include "app/explore/explore.h"
#include "app/scenario/field_prefix.h"
#include "app/scenario/fields_json.h"
#include "app/scenario/sentences.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Kind;

/// Outputs with a reading that differ between two computed labs. Where one side is infeasible all its readings are NaN
/// and count as moved.
std::vector<ComparedOutput> moved_outputs(const chapters::Lab& a, const chapters::Lab& b) {
  std::vector<ComparedOutput> out;
  for (const auto& key : readable_outputs(a)) {
    const Field& f = *a.outputs().find(key);
    const double x = reading(a, key), y = reading(b, key);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    out.push_back({key, std::string(f.spec.label), std::string(f.spec.unit), x, y});
  }
  return out;
}

}  // namespace

std::string display_text(const Field& f) {
  switch (f.kind) {
    case Kind::real:
    case Kind::integer:
      return widgets::format_text(f.number(), f.spec.unit, f.kind == Kind::integer ? 12 : 4, prefix_of(f));
    case Kind::toggle:
      return f.toggle() ? "on" : "off";
    case Kind::choice: {
      const double i = f.number();
      return i >= 0 ? (*f.options)[static_cast<std::size_t>(i)].label : std::string(f.choice_id());
    }
    case Kind::choices:
      return sentence_list(f.chosen(), 4);
    case Kind::text:
      return f.text();
    case Kind::file:
      return f.file().path.empty() ? "none" : f.file().path;
    case Kind::reals:
      return std::to_string(f.reals().size()) + (f.reals().size() == 1 ? " value" : " values");
    case Kind::table:
      return std::to_string(f.table_size()) + (f.table_size() == 1 ? " row" : " rows");
  }
  return {};
}

models::Result<CompareResult> compare(const chapters::Lab& a, const chapters::Lab& b) {
  using Compared = models::Result<CompareResult>;
  if (a.info().id != b.info().id) return Compared::fail("Only two scenarios of the same lab can be compared.");
  CompareResult r;
  const auto path = a.clone();
  path->compute_facts();
  const auto start = path->clone();
  for (const Field& target : b.inputs()) {
    const Field& f = *path->inputs().find(target.key);
    const Json wanted = field_to_json(target);
    if (field_to_json(f) == wanted) continue;
    const auto before = path->clone();
    CompareStep step{std::string(f.key), std::string(f.spec.label), display_text(f), display_text(target), {}};
    if (f.kind == Kind::file)
      f.file() = target.file();  // its text is at hand already
    else if (auto set = field_from_json(f, wanted); !set)
      return Compared::fail(std::move(set.error));
    path->compute_facts();
    step.moved = moved_outputs(*before, *path);
    r.steps.push_back(std::move(step));
  }
  r.total = moved_outputs(*start, *path);
  return Compared::ok(std::move(r));
}

}  // namespace app
