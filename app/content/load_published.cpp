#include "app/content/load_published.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/content/json_reader.h"
#include "app/explore/explore.h"
#include "app/platform/json.h"
#include "app/scenario/scenario.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::ModelRole;
using chapters::Published;

struct PublishedSource {
  std::string id, name, date, url;
};

std::vector<PublishedSource> read_sources(const Json& doc, std::string_view origin, std::vector<std::string>& errors) {
  std::vector<PublishedSource> out;
  const auto list = doc.find("sources");
  if (list == doc.end() || !list->is_object()) return out;
  for (const auto& [id, value] : list->items()) {
    Reader r(value, std::string(origin) + ", source " + excerpt(id));
    PublishedSource source{id, r.text("name"), r.text("date"), r.text("url", false)};
    if (r.error().empty())
      out.push_back(std::move(source));
    else
      errors.push_back(r.error());
  }
  return out;
}

void read_role(Reader& r, Published& row) {
  const std::string role = r.text("model");
  for (const auto known : {ModelRole::ceiling, ModelRole::floor, ModelRole::estimate})
    if (role == chapters::model_role_id(known)) {
      row.role = known;
      return;
    }
  r.fail("model is \"" + excerpt(role) + "\": ceiling, floor or estimate is allowed");
}

/// The inputs that are one number, one text or a toggle; lists stay in `set` alone.
void read_inputs(const Json& item, Published& row) {
  const auto inputs = item.find("inputs");
  if (inputs == item.end() || !inputs->is_object()) return;
  for (const auto& [key, value] : inputs->items()) {
    chapters::PublishedInput input{key, {}};
    if (value.is_string())
      input.text = value.get<std::string>();
    else if (value.is_boolean())
      input.text = value.get<bool>() ? "true" : "false";
    else if (value.is_number())
      input.number = value.get<double>();
    else
      continue;
    row.inputs.push_back(std::move(input));
  }
}

void read_source(Reader& r, const std::vector<PublishedSource>& sources, Published& row) {
  const std::string id = r.text("source");
  const auto at = std::find_if(sources.begin(), sources.end(), [&](const PublishedSource& s) { return s.id == id; });
  if (at == sources.end()) return r.fail("there is no source \"" + excerpt(id) + "\" in the list of sources");
  row.source = at->name;
  row.date = at->date;
  row.url = at->url;
}

Published read_row(Reader& r, const Json& item, const std::string& lab, const std::vector<PublishedSource>& sources) {
  Published row;
  row.id = r.text("id");
  row.lab = lab;
  row.name = r.text("name");
  row.label = r.text("label", false);
  row.set = r.object("inputs");
  row.output = r.text("output");
  row.unit = r.text("unit", false);
  row.measured = r.number("measured", std::numeric_limits<double>::quiet_NaN());
  row.tolerance = r.number("tolerance", std::numeric_limits<double>::quiet_NaN());
  row.beats = r.text("beats", false);
  row.note = r.text("note", false);
  if (!std::isfinite(row.measured)) r.fail("measured must be a number");
  if (std::isfinite(row.tolerance) && !(row.tolerance > 0)) r.fail("tolerance must be above 0");
  if (!r.error().empty()) return row;
  read_role(r, row);
  if (row.role != ModelRole::estimate && !(row.measured > 0)) r.fail("measured beside a bound must be above 0");
  if (row.role == ModelRole::estimate && !row.beats.empty()) r.fail("beats is for a ceiling or a floor");
  read_source(r, sources, row);
  read_inputs(item, row);
  return row;
}

std::string percent(double share) { return widgets::format_text(100 * share, "%", 3); }

/// Why the row is not as it should be; empty when it is.
std::string fault_of(const Published& row, const CheckedPublished& c) {
  const bool beaten = !(c.share <= 1 + 1e-9) && row.role != ModelRole::estimate;
  if (beaten && row.beats.empty())
    return row.id + " lies beyond the bound of the model, which was reached to " + percent(c.share) +
           ": mend one of them, or say in beats why it may.";
  if (!beaten && !row.beats.empty())
    return row.id + " does not lie beyond the bound of the model: take its beats away.";
  if (std::isfinite(row.tolerance) && !(std::abs(c.residual) <= row.tolerance))
    return row.id + " is " + percent(c.residual) + " off the model, and " + percent(row.tolerance) + " is allowed.";
  return {};
}

}  // namespace

std::vector<Published> parse_published(std::string_view text, std::string_view origin,
                                       std::vector<std::string>& errors) {
  std::vector<Published> out;
  const std::string file(origin);
  const auto doc = parse_json(text);
  if (!doc || !doc->is_object()) {
    errors.push_back(file + " is not a JSON object: published figures read {\"lab\", \"sources\", \"published\"}.");
    return out;
  }
  Reader whole(*doc, file);
  const std::string lab = whole.text("lab");
  const auto rows = doc->find("published");
  if (rows == doc->end() || !rows->is_array()) whole.fail("published must be a list");
  if (!whole.error().empty()) {
    errors.push_back(whole.error());
    return out;
  }
  const auto sources = read_sources(*doc, origin, errors);
  for (std::size_t i = 0; i < rows->size(); ++i) {
    Reader r((*rows)[i], file + ", published " + std::to_string(i + 1));
    Published row = r.error().empty() ? read_row(r, (*rows)[i], lab, sources) : Published();
    const bool known = std::any_of(out.begin(), out.end(), [&](const Published& p) { return p.id == row.id; });
    if (r.error().empty() && known) r.fail("there are two rows \"" + excerpt(row.id) + "\"");
    if (r.error().empty())
      out.push_back(std::move(row));
    else
      errors.push_back(r.error());
  }
  return out;
}

models::Result<CheckedPublished> check_published(const Published& row) {
  using Checked = models::Result<CheckedPublished>;
  const auto fail = [&](const std::string& why) { return Checked::fail("Published figure " + row.id + ": " + why); };
  const auto lab = chapters::make_lab_by_id(row.lab);
  if (!lab) return fail(unknown_lab(row.lab));
  if (const auto set = apply_inputs(*lab, parse_own_json(row.set)); !set) return fail(set.error);
  const auto* output = lab->outputs().find(row.output);
  if (!output) return fail(unknown_key(row.lab, "output", row.output, lab->outputs()));
  if (output->spec.unit != row.unit)
    return fail("unit is \"" + excerpt(row.unit) + "\", and " + row.output + " has \"" +
                std::string(output->spec.unit) + "\".");
  lab->compute();
  CheckedPublished c;
  c.model = reading(*lab, row.output);
  if (!std::isfinite(c.model) || c.model == 0)
    return fail(lab->reason().empty() ? row.output + " is no number to compare with." : lab->reason());
  c.residual = chapters::published_residual(row.role, row.measured, c.model);
  c.share = chapters::published_share(row.role, row.measured, c.model);
  c.fault = fault_of(row, c);
  return Checked::ok(std::move(c));
}

ResidualSummary summarize_residuals(const std::vector<const Published*>& rows,
                                    const std::vector<CheckedPublished>& checked) {
  ResidualSummary s;
  s.least_share = s.mean_share = s.most_share = std::numeric_limits<double>::quiet_NaN();
  double shares = 0;
  for (std::size_t i = 0; i < std::min(rows.size(), checked.size()); ++i) {
    const double residual = checked[i].residual, share = checked[i].share;
    ++s.rows;
    s.mean += residual;
    s.mean_absolute += std::abs(residual);
    if (s.worst_id.empty() || std::abs(residual) > std::abs(s.worst)) {
      s.worst = residual;
      s.worst_id = rows[i]->id;
    }
    if (std::isnan(share)) continue;
    ++s.bounds;
    shares += share;
    s.least_share = std::fmin(s.least_share, share);  // of a number and NaN: the number
    s.most_share = std::fmax(s.most_share, share);
  }
  if (s.rows > 0) {
    s.mean /= static_cast<double>(s.rows);
    s.mean_absolute /= static_cast<double>(s.rows);
  }
  if (s.bounds > 0) s.mean_share = shares / static_cast<double>(s.bounds);
  return s;
}

}  // namespace app
