#include <utility>

#include "app/content/load_catalog.h"
#include "app/platform/file.h"
#include "app/workspace/workspace.h"

/// What services have found, into the labs that asked; and chips that were measured, into the catalog.
namespace app {

using chapters::Field;

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
    for (auto& event : arrived.events) {
      const Field* table = asked.inputs().find(event.table);
      switch (event.kind) {
        case ServiceEvent::Kind::row:
          if (!table || table->spec.origin != chapters::Origin::measured)
            say("The lab has no table for \"" + event.table + "\".");
          else
            say_failure(merge_row(*table, event.text, event.same));
          break;
        case ServiceEvent::Kind::clear:
          if (table && table->spec.origin == chapters::Origin::measured) table->table_resize(0);
          break;
        case ServiceEvent::Kind::status:
          if (asks) asks->status = std::move(event.text);
          break;
        case ServiceEvent::Kind::say:
          say(std::move(event.text));
          break;
        case ServiceEvent::Kind::chip: {
          const auto kept_chip =
              user_ ? write_file(user_->config / "chips" / event.name, event.text) : models::Status::fail(user_.error);
          more_chips = static_cast<bool>(kept_chip);
          say_failure(kept_chip);
          break;
        }
      }
    }
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

models::Result<std::filesystem::path> Workspace::keep_chips(const std::string& name, std::string_view text) {
  using Kept = models::Result<std::filesystem::path>;
  if (!user_) return Kept::fail(user_.error);
  const std::filesystem::path folder = user_->config / "chips";
  std::filesystem::path kept_as = folder / (name + ".json");
  std::error_code none;
  for (int n = 2; std::filesystem::exists(kept_as, none); ++n)
    kept_as = folder / (name + "-" + std::to_string(n) + ".json");
  if (auto written = write_file(kept_as, text); !written) return Kept::fail(std::move(written.error));
  reload_catalog();
  return Kept::ok(std::move(kept_as));
}

void Workspace::reload_catalog() {
  const auto assets = find_assets();
  if (!assets) return say(assets.error);
  catalog_read_ = std::make_shared<LoadedCatalog>();
  catalog_job_ = jobs.submit(
      "catalog", [to = catalog_read_, from = *assets, own = user_ ? user_->config : std::filesystem::path()](
                     chapters::Progress&) { *to = load_catalog(from, own); });
}

void Workspace::finish_catalog() {
  catalog_job_.wait();
  take_catalog();
}

void Workspace::take_catalog() {
  if (!catalog_job_ || !catalog_job_.ended()) return;
  const Job ended = std::exchange(catalog_job_, {});
  const auto loaded = std::exchange(catalog_read_, nullptr);
  if (!ended.done()) return say_failure(ended.error());
  for (auto& error : loaded->errors) say(std::move(error));
  chapters::set_catalog(std::move(loaded->catalog));
  describe_shared();
  for (const auto& [id, session] : sessions_) {
    session->lab().refresh();
    session->invalidate();
  }
  group_shared();
  claims.forget();
  figures.forget();
  find_drilled();
}

}  // namespace app
