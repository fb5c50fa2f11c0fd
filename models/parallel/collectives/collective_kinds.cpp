#include "models/parallel/collectives/collective_kinds.h"

#include <array>

namespace models::parallel {

std::string_view primitive_id(Primitive primitive) {
  static constexpr std::array<std::string_view, primitive_count> ids{
      "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce", "scatter", "gather",
  };
  return ids[static_cast<std::size_t>(primitive)];
}

double bus_factor(Primitive primitive, std::int64_t ranks) {
  if (ranks <= 1) return 0;
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  switch (primitive) {
    case Primitive::all_reduce:
      return 2 * others;
    case Primitive::broadcast:
    case Primitive::reduce:
      return 1;
    case Primitive::reduce_scatter:
    case Primitive::all_gather:
    case Primitive::all_to_all:
    case Primitive::scatter:
    case Primitive::gather:
      return others;
  }
  return 0;
}

}  // namespace models::parallel
