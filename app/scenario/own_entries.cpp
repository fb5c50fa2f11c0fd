#include "app/scenario/own_entries.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/platform/file.h"
#include "app/platform/json.h"
#include "app/platform/quoted_text.h"
#include "app/scenario/put_by_id.h"
#include "app/scenario/sentences.h"
#include "models/transformer/bare_config.h"

namespace app {
namespace {

namespace fs = std::filesystem;
using chapters::Catalog;
using ReadOwn = models::Result<OwnSet>;

constexpr std::size_t longest_name = 80;

/// The objects in a file: one, a list, or the list under `key`.
std::vector<Json> objects_of(const Json& document, const char* key) {
  if (document.is_array()) return {document.begin(), document.end()};
  const auto list = document.find(key);
  if (list == document.end()) return {document};
  return {list->begin(), list->end()};
}

/// {"references", "chips": [one]}: what names a source by its short name can still be read.
std::string alone(const char* list, const Json& references, Json one) {
  Json out = Json::object();
  if (!references.empty()) out["references"] = references;
  out[list] = Json::array({std::move(one)});
  return to_text(out);
}

/// The same JSON with another id and name, where it is one object or the only one of its list.
std::string renamed(const OwnEntry& entry, const std::string& id, const std::string& name) {
  Json document = parse_own_json(entry.text);
  Json& object = entry.kind == OwnKind::model     ? document
                 : entry.kind == OwnKind::network ? document["networks"][0]
                                                  : document["chips"][0];
  object["id"] = id;
  object["name"] = name;
  if (object.contains("short_name")) object["short_name"] = name;
  return to_text(document);
}

bool is_id_taken(const Catalog& c, OwnKind kind, const std::string& id) {
  return kind == OwnKind::model  ? c.model(id) != nullptr
         : kind == OwnKind::chip ? c.chip(id) != nullptr
                                 : c.network(id) != nullptr;
}

/// Do they give the same figures? A model does by its architecture, whatever it is called.
bool is_same(const models::LanguageModel& a, const models::LanguageModel& b) {
  return a.architecture == b.architecture;
}
template <class T>
bool is_same(const T& a, const T& b) {
  return a == b;
}

template <class T>
void set_name(T& item, const std::string& name) {
  item.name = name;
  if constexpr (std::is_same_v<T, models::Chip>) item.short_name = name;
}

/// Hands `use` each thing with the list of the catalog that it belongs to.
template <class Use>
void each_own(Catalog& to, OwnSet& set, Use use) {
  for (auto& own : set.models) use(to.models, own.thing, own.entry);
  for (auto& own : set.chips) use(to.chips, own.thing, own.entry);
  for (auto& own : set.networks) use(to.networks, own.thing, own.entry);
}

/// The first of "acme-13b-2", "acme-13b-3" ... that is free, or that is this very thing; the ids of hardware have no
/// dash.
template <class T>
std::string next_id(const std::vector<T>& list, T& item, OwnKind kind) {
  constexpr std::size_t longest_id = 60;
  const std::string id = item.id.substr(0, longest_id), name = item.name;
  for (int n = 2;; ++n) {
    const std::string number = std::to_string(n);
    item.id = id + (kind == OwnKind::model ? "-" : "_") + number;
    set_name(item, name + " " + number);
    const auto there = std::find_if(list.begin(), list.end(), [&](const T& e) { return e.id == item.id; });
    if (there == list.end() || is_same(*there, item)) return item.id;
  }
}

/// The cache of Hugging Face keeps models--ORGANIZATION--NAME/snapshots/HASH/config.json.
std::string name_in_cache(const fs::path& folder) {
  if (folder.parent_path().filename() != "snapshots") return {};
  const std::string repository = folder.parent_path().parent_path().filename().string();
  const auto dashes = repository.rfind("--");
  return repository.starts_with("models--") ? repository.substr(dashes + 2) : std::string();
}

}  // namespace

std::string_view kind_name(OwnKind kind) {
  return kind == OwnKind::model ? "model" : kind == OwnKind::chip ? "chip" : "network";
}

std::string model_name(std::string_view text, const fs::path& path) {
  const fs::path whole = fs::path(path).lexically_normal();
  const std::string stem = whole.stem().string();
  if (stem != "config" && !stem.empty()) return excerpt(stem, longest_name);
  if (const std::string own = models::name_in_config(text); !own.empty()) return excerpt(own, longest_name);
  if (const std::string cached = name_in_cache(whole.parent_path()); !cached.empty())
    return excerpt(cached, longest_name);
  const std::string folder = whole.parent_path().filename().string();
  return folder.empty() || folder == "models" ? stem : excerpt(folder, longest_name);
}

ReadOwn read_own_models(std::string_view text, const std::string& origin, const std::string& path,
                        const std::string& name) {
  OwnSet out;
  if (models::is_bare_config(text)) {
    auto model = models::parse_bare_model(text, origin, name, "Your own file " + origin + ".");
    if (!model) return ReadOwn::fail(std::move(model.error));
    const Json wrapped = {
        {"id", model->id}, {"name", model->name}, {"source", model->source}, {"config", parse_own_json(text)}};
    OwnEntry entry{OwnKind::model, model->id, path, to_text(wrapped)};
    out.models.push_back({std::move(*model), std::move(entry)});
    return ReadOwn::ok(std::move(out));
  }
  auto models = models::parse_language_models(text, origin);
  if (!models) return ReadOwn::fail(std::move(models.error));
  const std::vector<Json> objects = objects_of(parse_own_json(text), "models");
  for (std::size_t i = 0; i < models->size(); ++i) {
    OwnEntry entry{OwnKind::model, (*models)[i].id, path, to_text(objects[i])};
    out.models.push_back({std::move((*models)[i]), std::move(entry)});
  }
  return ReadOwn::ok(std::move(out));
}

ReadOwn read_own_hardware(std::string_view text, const std::string& origin, const std::string& path) {
  auto chips = models::parse_chips(text, origin);
  if (!chips) return ReadOwn::fail(std::move(chips.error));
  auto networks = models::parse_networks(text, origin);
  if (!networks) return ReadOwn::fail(std::move(networks.error));
  OwnSet out;
  const Json document = parse_own_json(text);
  const Json references = document.value("references", Json::object());
  const auto take = [&](OwnKind kind, const char* list, auto& things, auto& to) {
    const std::vector<Json> objects = objects_of(document, list);
    for (std::size_t i = 0; i < things.size(); ++i) {
      OwnEntry entry{kind, things[i].id, path, alone(list, references, objects[i])};
      to.push_back({std::move(things[i]), std::move(entry)});
    }
  };
  take(OwnKind::chip, "chips", *chips, out.chips);
  take(OwnKind::network, "networks", *networks, out.networks);
  return ReadOwn::ok(std::move(out));
}

ReadOwn read_own_file(OwnKind kind, const std::string& path) {
  std::error_code ignored;
  const fs::path file =
      kind == OwnKind::model && fs::is_directory(path, ignored) ? fs::path(path) / "config.json" : fs::path(path);
  const auto text = read_text_file(file.string());
  if (!text) return ReadOwn::fail(text.error);
  const fs::path absolute = fs::absolute(file, ignored).lexically_normal();
  const std::string origin = path_text(file.filename());
  auto read = kind == OwnKind::model ? read_own_models(*text, origin, absolute.string(), model_name(*text, absolute))
                                     : read_own_hardware(*text, origin, absolute.string());
  if (!read) return ReadOwn::fail(whole_sentence(read.error));
  const bool has = kind == OwnKind::model  ? !read->models.empty()
                   : kind == OwnKind::chip ? !read->chips.empty()
                                           : !read->networks.empty();
  if (!has)
    return ReadOwn::fail("\"" + origin + "\" holds no " + std::string(kind_name(kind)) + ": name another file.");
  return read;
}

std::vector<TakenEntry> take_own(Catalog& to, OwnSet set) {
  std::vector<TakenEntry> out;
  each_own(to, set, [&](auto& list, auto& item, OwnEntry& entry) {
    const auto there = [&] {
      return std::find_if(list.begin(), list.end(), [&](const auto& e) { return e.id == item.id; });
    };
    const std::string was = item.id;
    if (there() != list.end() && !is_same(*there(), item)) {
      entry.id = next_id(list, item, entry.kind);
      entry.text = renamed(entry, item.id, item.name);
    }
    const bool is_new = there() == list.end();
    out.push_back({entry.kind, item.id, is_new ? item.name : there()->name, was, is_new, {}});
    if (!is_new) return;
    list.push_back(std::move(item));
    to.own.push_back(std::move(entry));
  });
  return out;
}

std::string taken_words(const TakenEntry& taken) {
  const std::string kind(kind_name(taken.kind));
  std::string words = "The " + kind + " " + excerpt(taken.name, longest_name);
  if (taken.id != taken.was)
    words += " (" + taken.id + ", since another " + kind + " is called " + excerpt(taken.was, longest_name) + ")";
  return words;
}

void load_own(Catalog& to, OwnSet set, std::vector<std::string>& errors) {
  each_own(to, set, [&](auto& list, auto& item, OwnEntry& entry) {
    if (const OwnEntry* first = to.own_entry(entry.kind, entry.id)) {
      errors.push_back("The " + std::string(kind_name(entry.kind)) + " \"" + entry.id + "\" of " +
                       path_text(entry.file) + " is left out, since " + path_text(first->file) +
                       " has one of that name: give it another.");
      return;
    }
    put_by_id(list, std::move(item));
    to.own.push_back(std::move(entry));
  });
}

models::Result<std::string> choose_own(OwnKind kind, const std::string& value) {
  using Chosen = models::Result<std::string>;
  const Catalog& now = chapters::catalog();
  if (is_id_taken(now, kind, value)) return Chosen::ok(value);
  std::error_code ignored;
  const bool is_path = value.find('/') != std::string::npos || value.ends_with(".json");
  if (!is_path && !fs::exists(value, ignored)) return Chosen::ok(value);
  auto read = read_own_file(kind, value);
  if (!read) return Chosen::fail(std::move(read.error));
  auto next = std::make_shared<Catalog>(now);
  std::string id;
  for (const TakenEntry& taken : take_own(*next, std::move(*read)))
    if (taken.kind == kind && id.empty()) id = taken.id;
  chapters::index_catalog(*next);
  chapters::set_catalog(std::move(next));
  return Chosen::ok(std::move(id));
}

}  // namespace app
