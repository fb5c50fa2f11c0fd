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
  for (const auto known : {ModelRole::ceiling, ModelRole::floor, ModelRole::estimate, ModelRole::beside})
    if (role == chapters::model_role_id(known)) {
      row.role = known;
      return;
    }
  r.fail("model is \"" + excerpt(role) + "\": ceiling, floor, estimate or beside is allowed");
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
  if (is_bound(row.role) && !(row.measured > 0)) r.fail("measured next to a bound must be above 0");
  if (!is_bound(row.role) && !row.beats.empty()) r.fail("beats is for a ceiling or a floor");
  if (row.role == ModelRole::beside && std::isfinite(row.tolerance)) r.fail("what stands beside has no tolerance");
  read_source(r, sources, row);
  read_inputs(item, row);
  return row;
}

std::string percent(double share) { return widgets::format_text(100 * share, "%", 3); }

/// Why the row is not as it should be; empty when it is.
std::string fault_of(const Published& row, const CheckedPublished& c) {
  const bool beaten = is_bound(row.role) && !(c.share <= 1 + 1e-9);
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
  lab->compute_facts();
  CheckedPublished c;
  c.model = reading(*lab, row.output);
  if (!std::isfinite(c.model) || c.model == 0)
    return fail(lab->reason().empty() ? row.output + " is no number to compare with." : lab->reason());
  c.residual = chapters::published_residual(row.role, row.measured, c.model);
  c.share = chapters::published_share(row.role, row.measured, c.model);
  c.fault = fault_of(row, c);
  return Checked::ok(std::move(c));
}

std::shared_ptr<const chapters::PublishedTable> published_table(std::string_view lab, chapters::Progress& progress) {
  chapters::PublishedTables& tables = *chapters::catalog().tables;
  if (auto known = tables.find(lab)) return known;
  auto table = std::make_shared<chapters::PublishedTable>();
  auto figures = std::make_shared<std::vector<double>>();
  const std::span<const Published> rows = chapters::catalog().published_of(lab);
  for (const Published& row : rows) {
    if (progress.cancelled) return nullptr;
    table->rows.emplace_back(&row, check_published(row));
    const auto& checked = table->rows.back().second;
    figures->push_back(checked ? checked->model : 0);
    progress.fraction = static_cast<double>(figures->size()) / static_cast<double>(rows.size());
  }
  table->figures = std::move(figures);
  tables.keep(lab, table);
  return table;
}

std::vector<ResidualSummary> summarize_residuals(const std::vector<const Published*>& rows,
                                                 const std::vector<CheckedPublished>& checked) {
  std::vector<ResidualSummary> kinds;
  for (std::size_t i = 0; i < std::min(rows.size(), checked.size()); ++i) {
    const Published& row = *rows[i];
    auto at = std::find_if(kinds.begin(), kinds.end(),
                           [&](const ResidualSummary& s) { return s.output == row.output && s.role == row.role; });
    if (at == kinds.end()) at = kinds.insert(at, {.output = row.output, .role = row.role});
    const double residual = checked[i].residual, share = checked[i].share;
    const auto before = static_cast<double>(at->rows++);
    const auto mean_with = [&](double mean, double value) { return (mean * before + value) / (before + 1); };
    at->mean = mean_with(at->mean, residual);
    at->mean_absolute = mean_with(at->mean_absolute, std::abs(residual));
    if (at->worst_id.empty() || std::abs(residual) > std::abs(at->worst)) {
      at->worst = residual;
      at->worst_id = row.id;
    }
    at->mean_share = mean_with(before > 0 ? at->mean_share : 0, share);
    at->least_share = std::fmin(at->least_share, share);  // of a number and NaN: the number
    at->most_share = std::fmax(at->most_share, share);
  }
  return kinds;
}

}  // namespace app
