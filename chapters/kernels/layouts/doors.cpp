#include "chapters/described/warp_link.h"
#include "chapters/kernels/layouts/lab.h"

namespace chapters::kernels::layouts {
namespace {

using Link = models::Result<std::string>;

/// The held column under the layout that is drawn last: a lane a cell.
Link to_lab(std::string_view lab, const Inputs& in, const Run& run) {
  const CellMap& map = run.maps[2];
  const std::int64_t bytes = bytes_of(in.cell_bytes);
  std::vector<std::int64_t> addresses;
  for (int row = 0; row < run.rows; ++row) {
    const auto cell = static_cast<std::size_t>(row * run.columns + run.held);
    if (cell < map.places.size() && map.places[cell] >= 0) addresses.push_back(map.places[cell] * bytes);
  }
  if (addresses.empty()) return Link::fail("No cell of this column has a place.");
  if (addresses.size() > 32) return Link::fail("A warp has 32 lanes, and this column has more cells.");
  return link_of_addresses(lab, addresses, bytes);
}

}  // namespace

LabDoors doors_of(const Inputs& in, const Run& run) {
  return {{"open the banks", "The column in the banks", to_lab("kernels/bank-conflicts", in, run)},
          {"open the sectors", "The column in global memory", to_lab("kernels/coalescing", in, run)}};
}

}  // namespace chapters::kernels::layouts
