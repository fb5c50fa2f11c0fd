#include "app/content/load_catalog.h"

#include <algorithm>

#include "app/content/load_drills.h"
#include "app/content/load_published.h"
#include "app/platform/file.h"

namespace app {
namespace {

namespace fs = std::filesystem;

template <class T>
void add(std::vector<T>& to, T item) {
  const auto same = std::find_if(to.begin(), to.end(), [&](const T& e) { return e.id == item.id; });
  if (same != to.end())
    *same = std::move(item);
  else
    to.push_back(std::move(item));
}

template <class T>
void take(models::Result<std::vector<T>> parsed, std::vector<T>& to, std::vector<std::string>& errors) {
  if (!parsed)
    errors.push_back(parsed.error);
  else
    for (T& item : *parsed) add(to, std::move(item));
}

template <class Use>
void each_json(const fs::path& folder, std::vector<std::string>& errors, Use use) {
  std::vector<fs::path> paths;
  std::error_code none;
  for (const auto& e : fs::directory_iterator(folder, none))
    if (e.path().extension() == ".json") paths.push_back(e.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    if (const auto text = read_text_file(path.string()))
      use(*text, path.filename().string());
    else
      errors.push_back(text.error);
  }
}

}  // namespace

LoadedCatalog load_catalog(const fs::path& assets, const fs::path& user) {
  LoadedCatalog out{std::make_shared<chapters::Catalog>(), {}};
  auto& c = *out.catalog;
  const auto chips = [&](const std::string& text, const std::string& origin) {
    take(models::parse_chips(text, origin), c.chips, out.errors);
    if (auto networks = models::parse_networks(text, origin)) take(std::move(networks), c.networks, out.errors);
  };
  const auto language = [&](const std::string& text, const std::string& origin) {
    take(models::parse_language_models(text, origin), c.models, out.errors);
  };
  each_json(assets / "hardware", out.errors, chips);
  each_json(assets / "models", out.errors, language);
  const auto drills = [&](const std::string& text, const std::string& origin) {
    for (auto& drill : parse_drills(text, origin, out.errors)) add(c.drills, std::move(drill));
  };
  each_json(assets / "drills", out.errors, drills);
  each_json(assets / "published", out.errors, [&](const std::string& text, const std::string& origin) {
    for (auto& figure : parse_published(text, origin, out.errors)) c.published.push_back(std::move(figure));
  });
  if (!user.empty()) {
    each_json(user / "drills", out.errors, drills);
    each_json(user / "chips", out.errors, chips);
    each_json(user / "models", out.errors, language);
  }
  chapters::index_catalog(c);
  return out;
}

}  // namespace app
