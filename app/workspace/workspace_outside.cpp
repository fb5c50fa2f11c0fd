#include <utility>

#include "app/platform/file.h"
#include "app/workspace/workspace.h"

/// What comes from outside the labs: what services have found, into the labs that asked; a catalog that was read anew;
/// chips and lessons of the learner's own, into their folders.
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

models::Result<std::filesystem::path> Workspace::keep_chips(const std::string& name, std::string_view text) {
  using Kept = models::Result<std::filesystem::path>;
  if (!documents_.folders) return Kept::fail(documents_.folders.error);
  std::filesystem::path path = first_free(documents_.folders->config / "chips", name);
  if (auto written = write_file(path, text); !written) return Kept::fail(std::move(written.error));
  reload_catalog();
  return Kept::ok(std::move(path));
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
  chapters::set_catalog(std::move(loaded.catalog));
  describe_labs();
  for (const auto& [id, session] : sessions_) {
    session->lab().refresh();
    session->invalidate();
  }
  shared_.group(lab());
  claims.forget();
  figures.forget();
  learner.find_drilled();
}

}  // namespace app
