#include "app/content/load_catalog.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <set>
#include <string>
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

/// Files of the house and of the user, read into a catalog.
struct Loading {
  chapters::Catalog& c;
  std::vector<std::string>& errors;
  chapters::RecallDeck deck;
  chapters::ScenarioDeck board;

  /// Every .json of the folder into `to`, as `parse` reads it; a later entry takes the place of one with its id.
  template <class T, class Parse>
  void entries(const fs::path& folder, std::vector<T>& to, Parse parse) {
    std::set<std::string> here;  // a person's entry takes the place of ours, but none that of another in its folder
    each_json(folder, false, errors, [&](const std::string& text, const std::string& origin, const fs::path&) {
      for (T& entry : parse(text, origin, errors)) {
        if (here.insert(std::string(entry.id)).second)
          put_by_id(to, std::move(entry));
        else
          errors.push_back(origin + ": another file of this folder has \"" + std::string(entry.id) +
                           "\" too: give one of them another id.");
      }
    });
  }
  /// What is read in the same way whether it comes with the program or is the user's own.
  void shared(const fs::path& root) {
    each_json(root / "published", false, errors,
              [&](const std::string& text, const std::string& origin, const fs::path&) {
                for (auto& figure : parse_published(text, origin, errors)) c.published.push_back(std::move(figure));
              });
    entries(root / "drills", c.drills, parse_drills);
    entries(root / "recall", deck.cards, parse_recall);
    each_json(root / "scenarios", false, errors,
              [&](const std::string& text, const std::string& origin, const fs::path&) {
                parse_scenarios(text, origin, board, errors);
              });
  }
  void hardware(const fs::path& folder) {
    each_json(folder, false, errors, [&](const std::string& text, const std::string& origin, const fs::path&) {
      const std::size_t before = errors.size();
      take(models::parse_chips(text, origin), c.chips, errors);
      // What is wrong with the whole file is said once.
      if (auto networks = models::parse_networks(text, origin); networks || errors.size() == before)
        take(std::move(networks), c.networks, errors);
    });
  }
  void house(const fs::path& assets) {
    hardware(assets / "hardware");
    each_json(assets / "models", false, errors,
              [&](const std::string& text, const std::string& origin, const fs::path&) {
                take(models::parse_language_models(text, origin), c.models, errors);
              });
    each_json(assets / "collectives", false, errors,
              [&](const std::string& text, const std::string& origin, const fs::path&) {
                take(models::parallel::parse_published_collectives(text, origin), c.collectives, errors);
              });
    shared(assets);
  }
  void own(models::Result<OwnSet> read) {
    if (read)
      load_own(c, std::move(*read), errors);
    else
      errors.push_back(std::move(read.error));
  }
  void users(const fs::path& user) {
    shared(user);
    each_json(user / "chips", false, errors,
              [&](const std::string& text, const std::string& origin, const fs::path& path) {
                own(read_own_hardware(text, origin, path.string()));
              });
    each_json(user / "models", true, errors,
              [&](const std::string& text, const std::string& origin, const fs::path& path) {
                const bool in_folder = path.parent_path() != user / "models";
                const std::string name = in_folder ? path_text(path.parent_path().filename()) : model_name(text, path);
                own(read_own_models(text, origin, path.string(), name));
              });
  }
};

}  // namespace

LoadedCatalog load_catalog(const fs::path& assets, const fs::path& user) {
  LoadedCatalog out{std::make_shared<chapters::Catalog>(), {}};
  auto& c = *out.catalog;
  Loading loading{c, out.errors, {}, {}};
  loading.house(assets);
  if (!user.empty()) loading.users(user);
  for (std::string& fault : chapters::faults_of(loading.board)) out.errors.push_back(std::move(fault));
  chapters::index_recall(loading.deck);
  chapters::index_deck(loading.board);
  c.recall = std::make_shared<chapters::RecallDeck>(std::move(loading.deck));
  c.scenarios = std::make_shared<chapters::ScenarioDeck>(std::move(loading.board));
  sum_up(out.errors);
  chapters::index_catalog(c);
  return out;
}

}  // namespace app
