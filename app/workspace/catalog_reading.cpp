#include "app/workspace/catalog_reading.h"

#include <utility>

namespace app {

models::Status CatalogReading::start(const models::Result<UserPaths>& folders) {
  const auto assets = find_assets();
  if (!assets) return models::Status::fail(assets.error);
  read_ = std::make_shared<LoadedCatalog>();
  job_ =
      jobs_.submit("catalog", [to = read_, from = *assets, own = folders ? folders->config : std::filesystem::path()](
                                  chapters::Progress&) { *to = load_catalog(from, own); });
  return models::Status::ok();
}

std::optional<models::Result<LoadedCatalog>> CatalogReading::take() {
  if (!job_ || !job_.ended()) return {};
  const Job ended = std::exchange(job_, {});
  const auto loaded = std::exchange(read_, nullptr);
  if (!ended.done()) return models::Result<LoadedCatalog>::fail(ended.error());
  return models::Result<LoadedCatalog>::ok(std::move(*loaded));
}

}  // namespace app
