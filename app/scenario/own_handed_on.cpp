#include "app/scenario/own_handed_on.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/platform/quoted_text.h"
#include "app/scenario/fields_json.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Fields;

/// Hands `use` the kind and the id of everything that these inputs choose from the catalog, in rows of tables too.
template <class Use>
void each_choice(const Fields& inputs, const Use& use) {
  Fields cells;
  for (const Field& f : inputs) {
    if (f.kind == chapters::Kind::table)
      for (std::size_t row = 0; row < f.table_size(); ++row) {
        f.table_row(row, cells);
        each_choice(cells, use);
      }
    const auto kind = own_kind_of(f);
    if (!kind) continue;
    if (f.kind == chapters::Kind::choice) use(*kind, f.choice_id());
    if (f.kind == chapters::Kind::choices)
      for (const std::string& id : f.chosen()) use(*kind, id);
  }
}

}  // namespace

std::optional<OwnKind> own_kind_of(const Field& f) {
  const chapters::Catalog& c = chapters::catalog();
  if (f.options == &c.model_choices) return OwnKind::model;
  if (f.options == &c.chip_choices) return OwnKind::chip;
  if (f.options == &c.network_choices) return OwnKind::network;
  return {};
}

std::vector<const OwnEntry*> own_used(const Fields& inputs) {
  std::vector<const OwnEntry*> out;
  each_choice(inputs, [&](OwnKind kind, std::string_view id) {
    const OwnEntry* entry = chapters::catalog().own_entry(kind, id);
    if (entry && std::find(out.begin(), out.end(), entry) == out.end()) out.push_back(entry);
  });
  return out;
}

Json own_to_json(const std::vector<const OwnEntry*>& entries) {
  Json out = Json::array();
  for (const OwnEntry* entry : entries)
    out.push_back({{"kind", kind_name(entry->kind)}, {"entry", parse_own_json(entry->text)}});
  return out;
}

models::Result<OwnSet> own_from_json(const Json& list) {
  if (!list.is_array())
    return models::Result<OwnSet>::fail("own is " + json_excerpt(list) + ": a list of models and chips is expected.");
  OwnSet out;
  for (const Json& item : list) {
    const bool whole = item.is_object() && item.contains("kind") && item.contains("entry") && item["kind"].is_string();
    const std::string name = whole ? item["kind"].get<std::string>() : std::string();
    if (name != "model" && name != "chip" && name != "network")
      return models::Result<OwnSet>::fail(
          "An entry of own is " + json_excerpt(item) +
          ": {\"kind\": \"model\", \"chip\" or \"network\", \"entry\": {...}} is expected.");
    const std::string text = to_text(item["entry"]), origin = "The scenario's own " + name;
    auto read = name == "model" ? read_own_models(text, origin, {}, "model") : read_own_hardware(text, origin, {});
    if (!read) return models::Result<OwnSet>::fail(whole_sentence(read.error));
    const auto put_behind = [](auto& to, auto& from) { std::move(from.begin(), from.end(), std::back_inserter(to)); };
    put_behind(out.models, read->models);
    put_behind(out.chips, read->chips);
    put_behind(out.networks, read->networks);
  }
  return models::Result<OwnSet>::ok(std::move(out));
}

models::Result<std::vector<TakenEntry>> take_handed_on(std::string_view own) {
  using Taken = models::Result<std::vector<TakenEntry>>;
  if (own.empty()) return Taken::ok({});
  const auto list = parse_json(own);
  if (!list)
    return Taken::fail("The models and chips that it carries are no JSON: the scenario or the link is damaged.");
  auto set = own_from_json(*list);
  if (!set) return Taken::fail(std::move(set.error));
  auto next = std::make_shared<chapters::Catalog>(chapters::catalog());
  auto taken = take_own(*next, std::move(*set));
  chapters::index_catalog(*next);
  chapters::set_catalog(std::move(next));
  return Taken::ok(std::move(taken));
}

void rename_own(const Fields& inputs, const std::vector<TakenEntry>& taken, Json& values) {
  if (!values.is_object()) return;
  Fields cells;
  for (const Field& f : inputs) {
    const auto at = values.find(std::string(f.key));
    if (at == values.end()) continue;
    if (f.kind == chapters::Kind::table && at->is_array()) {
      f.table_columns(cells);
      for (Json& row : *at) rename_own(cells, taken, row);
    }
    const auto kind = own_kind_of(f);
    for (const TakenEntry& t : taken) {
      if (t.kind != kind || t.id == t.was) continue;
      if (*at == t.was) *at = t.id;
      if (at->is_array())
        for (Json& one : *at)
          if (one == t.was) one = t.id;
    }
  }
}

Json used_to_json(OwnKind kind, std::string_view id) {
  const chapters::Catalog& c = chapters::catalog();
  const auto name_of = [](const auto* thing) { return thing ? thing->name : std::string(); };
  Json out = {{"id", id},
              {"name", kind == OwnKind::model  ? name_of(c.model(id))
                       : kind == OwnKind::chip ? name_of(c.chip(id))
                                               : name_of(c.network(id))}};
  const OwnEntry* own = c.own_entry(kind, id);
  if (own && !own->file.empty()) out["file"] = own->file;
  return out;
}

Json used_by(const Fields& inputs) {
  Json out = Json::object();
  for (const Field& f : inputs) {
    if (!chapters::holds(f.spec.when, inputs)) continue;
    const auto kind = f.kind == chapters::Kind::choice && !f.spec.shared.empty() ? own_kind_of(f) : std::nullopt;
    if (kind) out[std::string(kind_name(*kind))] = used_to_json(*kind, f.choice_id());
    const bool config = f.kind == chapters::Kind::file && f.file_spec.reads.has(chapters::FileKind::model_config);
    if (config && !f.file().path.empty())
      out["model"] = {{"name", model_name(f.file().text, f.file().path)}, {"file", f.file().path}};
  }
  return out;
}

}  // namespace app
