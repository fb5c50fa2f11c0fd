#include "app/content/load_catalog.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

#include "app/content/load_drills.h"
#include "app/content/load_published.h"
#include "app/content/load_recall.h"
#include "app/content/load_scenarios.h"
#include "app/platform/file.h"
#include "app/platform/plain_file.h"
#include "app/platform/quoted_text.h"
#include "app/scenario/own_entries.h"
#include "app/scenario/put_by_id.h"
#include "chapters/mechanism/scenario_deck.h"

namespace app {
namespace {

namespace fs = std::filesystem;

template <class T>
void take(models::Result<std::vector<T>> parsed, std::vector<T>& to, std::vector<std::string>& errors) {
  if (!parsed)
    errors.push_back(parsed.error);
  else
    for (T& item : *parsed) put_by_id(to, std::move(item));
}

/// Hands `use` the text of every .json of the folder, its name and its path; with `in_folders` that of a config.json in
/// a folder of it too, as "acme-13b/config.json".
template <class Use>
void each_json(const fs::path& folder, bool in_folders, std::vector<std::string>& errors, Use use) {
  std::vector<fs::path> paths;
  std::vector<std::string> names;
  if (const int error = read_names(folder, names); error != 0 && error != ENOENT)
    errors.push_back("The folder " + path_text(folder) + " cannot be read (" + std::generic_category().message(error) +
                     "): what is in it is left out.");
  std::error_code ignored;
  for (const std::string& name : names) {
    fs::path path = folder / name;
    if (in_folders && fs::is_regular_file(path / "config.json", ignored)) path /= "config.json";
    if (path.extension() == ".json") paths.push_back(std::move(path));
  }
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    const std::string name = path_text(path.lexically_relative(folder));
    try {
      if (const auto text = read_text_file(path.string()))
        use(*text, name, path);
      else
        errors.push_back(text.error);
    } catch (const std::bad_alloc&) {
      errors.push_back("There is not enough memory to read " + name + ": it is left out.");
    }
  }
}

/// Thousands of bad files are told by the first few and their number.
void sum_up(std::vector<std::string>& errors) {
  constexpr std::size_t most = 5;
  for (std::string& error : errors) error = printable(error);
  if (errors.size() <= most + 1) return;
  const std::string rest = std::to_string(errors.size() - most);
  errors.resize(most);
  errors.push_back("And " + rest + " more faults of that kind: mend or remove those files.");
}

}  // namespace

LoadedCatalog load_catalog(const fs::path& assets, const fs::path& user) {
  LoadedCatalog out{std::make_shared<chapters::Catalog>(), {}};
  auto& c = *out.catalog;
  const auto chips = [&](const std::string& text, const std::string& origin, const fs::path&) {
    const std::size_t before = out.errors.size();
    take(models::parse_chips(text, origin), c.chips, out.errors);
    // What is wrong with the whole file is said once.
    if (auto networks = models::parse_networks(text, origin); networks || out.errors.size() == before)
      take(std::move(networks), c.networks, out.errors);
  };
  each_json(assets / "hardware", false, out.errors, chips);
  each_json(assets / "models", false, out.errors,
            [&](const std::string& text, const std::string& origin, const fs::path&) {
              take(models::parse_language_models(text, origin), c.models, out.errors);
            });
  each_json(assets / "collectives", false, out.errors,
            [&](const std::string& text, const std::string& origin, const fs::path&) {
              take(models::parallel::parse_published_collectives(text, origin), c.collectives, out.errors);
            });
  const auto drills = [&](const std::string& text, const std::string& origin, const fs::path&) {
    for (auto& drill : parse_drills(text, origin, out.errors)) put_by_id(c.drills, std::move(drill));
  };
  each_json(assets / "drills", false, out.errors, drills);
  auto deck = std::make_shared<chapters::RecallDeck>();
  const auto recall = [&](const std::string& text, const std::string& origin, const fs::path&) {
    for (auto& card : parse_recall(text, origin, out.errors)) put_by_id(deck->cards, std::move(card));
  };
  each_json(assets / "recall", false, out.errors, recall);
  const auto published = [&](const std::string& text, const std::string& origin, const fs::path&) {
    for (auto& figure : parse_published(text, origin, out.errors)) c.published.push_back(std::move(figure));
  };
  each_json(assets / "published", false, out.errors, published);
  const auto board = std::make_shared<chapters::ScenarioDeck>();
  const auto scenarios = [&](const std::string& text, const std::string& origin, const fs::path&) {
    parse_scenarios(text, origin, *board, out.errors);
  };
  each_json(assets / "scenarios", false, out.errors, scenarios);
  if (!user.empty()) {
    each_json(user / "published", false, out.errors, published);
    each_json(user / "drills", false, out.errors, drills);
    each_json(user / "recall", false, out.errors, recall);
    each_json(user / "scenarios", false, out.errors, scenarios);
    const auto own = [&](models::Result<OwnSet> read) {
      if (read)
        load_own(c, std::move(*read), out.errors);
      else
        out.errors.push_back(std::move(read.error));
    };
    each_json(user / "chips", false, out.errors,
              [&](const std::string& text, const std::string& origin, const fs::path& path) {
                own(read_own_hardware(text, origin, path.string()));
              });
    each_json(user / "models", true, out.errors,
              [&](const std::string& text, const std::string& origin, const fs::path& path) {
                const bool in_folder = path.parent_path() != user / "models";
                const std::string name = in_folder ? path_text(path.parent_path().filename()) : model_name(text, path);
                own(read_own_models(text, origin, path.string(), name));
              });
  }
  chapters::index_recall(*deck);
  c.recall = std::move(deck);
  for (std::string& fault : chapters::faults_of(*board)) out.errors.push_back(std::move(fault));
  chapters::index_deck(*board);
  c.scenarios = board;
  sum_up(out.errors);
  chapters::index_catalog(c);
  return out;
}

}  // namespace app
