// CSV of measured points: whatever is accepted has a name, a quality and a cell of every column for each point, and
// its front is not empty where a point has both axes.
#include "models/fleet/point_set.h"

#include <cmath>
#include <numeric>

#include "models/fleet/pareto.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = models::fleet::read_point_set(fuzz::text_of(data, size));
  if (!fuzz::accepted(read)) return 0;
  const std::size_t n = read->size();
  fuzz::require(n > 0 && n <= models::fleet::max_points, "no points, or too many");
  fuzz::require(read->quality_of.size() == n && !read->qualities.empty(), "a point without a quality");
  for (const auto q : read->quality_of) fuzz::require(q < read->qualities.size(), "a quality that is not there");
  std::vector<models::fleet::ParetoAxis> axes;
  for (const auto& axis : read->axes) {
    fuzz::require(axis.values.size() == n, "a column too short");
    for (const double v : axis.values) {
      fuzz::require(std::isnan(v) || std::isfinite(v), "a value without end");
      fuzz::require(!axis.log || std::isnan(v) || v > 0, "a logarithm of nothing");
    }
    if (axes.size() < 2) axes.push_back({axis.values, axis.high});
  }
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  bool whole = false;
  for (const std::size_t p : all) whole |= !std::isnan(axes[0].values[p]) && !std::isnan(axes[1].values[p]);
  fuzz::require(models::fleet::pareto_front(axes, all).empty() != whole, "a front that is empty, or one of nothing");
  return 0;
}
