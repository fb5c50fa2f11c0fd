#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/platform/file.h"
#include "app/scenario/own_handed_on.h"
#include "app/workspace/workspace.h"

/// What comes from outside the labs: what services have found, into the labs that asked; a catalog that was read anew;
/// models, chips and lessons of the learner's own, into their folders.
namespace app {

using chapters::Field;

namespace {

/// FOLDER/NAME.json, or the first of NAME-2, NAME-3 ... that is free there.
std::filesystem::path first_free(const std::filesystem::path& folder, const std::string& name) {
  std::filesystem::path path = folder / (name + ".json");
  std::error_code none;
  for (int n = 2; std::filesystem::exists(path, none); ++n) path = folder / (name + "-" + std::to_string(n) + ".json");
  return path;
}

/// A title as part of a file's name: small letters and digits, "-" for all else, at most 60 characters.
std::string slug_of(std::string_view title) {
  std::string slug;
  for (const char c : title.substr(0, 60)) {
    const bool small = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool capital = c >= 'A' && c <= 'Z';
    slug += small ? c : capital ? static_cast<char>(c + 32) : '-';
  }
  return slug;
}

}  // namespace

void Workspace::serve() {
  take_catalog();
  opening.update();
  if (chapters::Requests* asks = lab().requests(); asks && asks->aside)
    (void)jobs.submit("aside", std::exchange(asks->aside, nullptr));
  say_failure(services.poll(lab()));
  if (!services.running()) return;
  bool more_chips = false;
  for (auto& arrived : services.arrived()) {
    chapters::Lab& asked = session(arrived.lab).lab();
    chapters::Requests* asks = asked.requests();
    for (auto& event : arrived.events) more_chips = take_event(asked, std::move(event)) || more_chips;
    if (asks) {
      asks->fraction = arrived.fraction;
      asks->running = true;  // a scenario opened meanwhile has put it back
    }
    if (!arrived.ended) continue;
    if (!arrived.error.empty()) say(arrived.error);
    clear_service_state(asked);
  }
  if (more_chips) reload_catalog();
}

bool Workspace::take_event(chapters::Lab& asked, ServiceEvent event) {
  const Field* table = asked.inputs().find(event.table);
  const bool measured = table && table->spec.origin == chapters::Origin::measured;
  switch (event.kind) {
    case ServiceEvent::Kind::row:
      if (measured)
        say_failure(merge_row(*table, event.text, event.same));
      else
        say("The lab has no table for \"" + event.table + "\".");
      break;
    case ServiceEvent::Kind::clear:
      if (measured) table->table_resize(0);
      break;
    case ServiceEvent::Kind::status:
      if (chapters::Requests* asks = asked.requests()) asks->status = std::move(event.text);
      break;
    case ServiceEvent::Kind::say:
      say(std::move(event.text));
      break;
    case ServiceEvent::Kind::chip: {
      const auto& folders = documents_.folders;
      const auto written = folders ? write_file(folders->config / "chips" / event.name, event.text)
                                   : models::Status::fail(folders.error);
      say_failure(written);
      return static_cast<bool>(written);
    }
  }
  return false;
}

void Workspace::keep_entries(std::vector<TakenEntry>& taken, const std::string& file, chapters::Catalog& in) {
  const auto count = std::count_if(taken.begin(), taken.end(), [](const TakenEntry& t) { return t.is_new; });
  for (TakenEntry& t : taken) {
    if (!t.is_new) continue;
    const auto entry =
        std::find_if(in.own.begin(), in.own.end(), [&](const OwnEntry& e) { return e.kind == t.kind && e.id == t.id; });
    if (!documents_.folders) return say(documents_.folders.error);
    const auto folder = documents_.folders->config / (t.kind == OwnKind::model ? "models" : "chips");
    const std::string path = first_free(folder, count == 1 && !file.empty() ? file : t.id).string();
    if (auto written = write_file(path, to_text(parse_own_json(entry->text), 2) + "\n"); !written)
      return say_failure(written);
    t.kept = entry->file = path;
  }
}

std::vector<TakenEntry> Workspace::take_own(OwnSet set, const std::string& file) {
  auto next = std::make_shared<chapters::Catalog>(chapters::catalog());
  std::vector<TakenEntry> taken = app::take_own(*next, std::move(set));
  if (std::none_of(taken.begin(), taken.end(), [](const TakenEntry& t) { return t.is_new; })) return taken;
  keep_entries(taken, file, *next);
  chapters::index_catalog(*next);
  install(std::move(next));
  if (catalog_.busy()) reload_catalog();  // what it reads may not have the new files
  return taken;
}

void Workspace::keep_given() {
  std::vector<TakenEntry> given;
  for (const OwnEntry& entry : chapters::catalog().own)
    if (!is_kept(entry)) given.push_back({entry.kind, entry.id, {}, entry.id, true, {}});
  if (given.empty()) return;
  auto next = std::make_shared<chapters::Catalog>(chapters::catalog());
  keep_entries(given, {}, *next);
  chapters::index_catalog(*next);
  install(std::move(next));
}

bool Workspace::is_kept(const OwnEntry& entry) const {
  return documents_.folders && entry.file.starts_with(documents_.folders->config.string() + "/");
}

bool Workspace::use_own(const TakenEntry& entry, const std::string& from) {
  const std::string name(kind_name(entry.kind));
  const auto fields = lab().inputs().all();
  const auto at = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.spec.shared == name; });
  shared_.set(name, entry.id, from);
  if (at == fields.end()) return false;
  if (at->set_choice_id(entry.id)) update(false);
  ++openings_;  // where home is shown, the lab comes to the front
  return true;
}

models::Result<std::vector<TakenEntry>> Workspace::bring_own(std::string_view own, const std::string& who) {
  using Brought = models::Result<std::vector<TakenEntry>>;
  if (own.empty()) return Brought::ok({});
  const auto list = parse_json(own);
  if (!list) return Brought::fail("The models and chips that " + who + " carries are no JSON: it is damaged.");
  auto set = own_from_json(*list);
  if (!set) return Brought::fail(std::move(set.error));
  auto taken = take_own(std::move(*set));
  for (const TakenEntry& t : taken)
    if (t.is_new) say_kept(taken_words(t) + " came with " + who + ": choose it in every lab.", {t});
  return Brought::ok(std::move(taken));
}

void Workspace::say_kept(std::string sentence, std::vector<TakenEntry> taken) {
  std::erase_if(taken, [](const TakenEntry& t) { return t.kept.empty(); });
  if (taken.empty()) return say(std::move(sentence));
  say(std::move(sentence), {"Take it away", [this, taken = std::move(taken)] {
                              std::error_code ignored;
                              for (const TakenEntry& t : taken) {
                                std::filesystem::remove(t.kept, ignored);
                                stop_using(t);
                              }
                              reload_catalog();
                            }});
}

void Workspace::stop_using(const TakenEntry& gone) {
  for (auto& [id, session] : sessions_) {
    const auto fresh = chapters::make_lab_by_id(id);
    for (const Field& f : session->lab().inputs())
      if (f.kind == chapters::Kind::choice && own_kind_of(f) == gone.kind && f.choice_id() == gone.id)
        f.set_choice_id(fresh->inputs().find(f.key)->choice_id());
  }
}

void Workspace::name_config() {
  for (const Field& f : lab().inputs()) {
    const bool config = f.kind == chapters::Kind::file && f.file_spec.reads.has(chapters::FileKind::model_config);
    if (!config || f.file().text.empty() || f.file().text == refused_config_) continue;
    const chapters::FileInput& file = f.file();
    auto set = read_own_models(file.text, file_name(file.path), file.path, model_name(file.text, file.path));
    if (!set) {
      refused_config_ = file.text;  // the lab says why
      continue;
    }
    const std::string key(f.key);
    const TakenEntry model = take_own(std::move(*set)).front();
    // The labs are described anew, so `f` and `file` are gone.
    lab().inputs().find(key)->file() = {};
    for (const Field& choice : lab().inputs())
      if (choice.spec.shared == kind_name(OwnKind::model)) choice.set_choice_id(model.id);
    if (model.is_new)
      say_kept(taken_words(model) + " is kept with your own: choose it anywhere a model is chosen.", {model});
    return;
  }
}

models::Status Workspace::keep_lesson(Lesson lesson) {
  if (!documents_.folders) return models::Status::fail(documents_.folders.error);
  const auto path = first_free(documents_.folders->data / "lessons", slug_of(lesson.title));
  lesson.id = path.stem().string();  // progress knows a lesson by its id, so one of the same title gets another
  if (auto written = write_file(path, lesson_to_text(lesson)); !written) return written;
  content.lessons.push_back(std::move(lesson));
  return models::Status::ok();
}

std::string Workspace::export_folder() const {
  return (documents_.folders ? documents_.folders->data / "exports" : std::filesystem::path(".")).string();
}

void Workspace::reload_catalog() { say_failure(catalog_.start(documents_.folders)); }

void Workspace::finish_catalog() {
  catalog_.wait();
  take_catalog();
}

void Workspace::take_catalog() {
  auto read = catalog_.take();
  if (!read) return;
  if (!*read) return say_failure(read->error);
  LoadedCatalog& loaded = **read;
  for (auto& error : loaded.errors) say(std::move(error));
  keep_session_own(*loaded.catalog);
  install(std::move(loaded.catalog));
}

/// What was opened and could not be kept, or was named on the command line, is in no folder that was read.
void Workspace::keep_session_own(chapters::Catalog& in) const {
  OwnSet set;
  const chapters::Catalog& now = chapters::catalog();
  for (const OwnEntry& entry : now.own) {
    if (is_kept(entry) || in.own_entry(entry.kind, entry.id)) continue;
    if (entry.kind == OwnKind::model)
      set.models.push_back({*now.model(entry.id), entry});
    else if (entry.kind == OwnKind::chip)
      set.chips.push_back({*now.chip(entry.id), entry});
    else
      set.networks.push_back({*now.network(entry.id), entry});
  }
  if (set.size() == 0) return;
  (void)app::take_own(in, std::move(set));
  chapters::index_catalog(in);
}

void Workspace::install(std::shared_ptr<const chapters::Catalog> catalog) {
  chapters::set_catalog(std::move(catalog));
  describe_labs();
  for (const auto& [id, session] : sessions_) {
    session->lab().refresh();
    session->invalidate();
  }
  shared_.group(lab());
  claims.forget();
  figures.forget();
  learner.find_drilled();
  ++catalogs_;
}

}  // namespace app
