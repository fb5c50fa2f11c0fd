#include "chapters/described/warp_link.h"
#include "chapters/kernels/coalescing/lab.h"
#include "chapters/mechanism/link_writer.h"

namespace chapters::kernels::coalescing {
namespace {

using Link = models::Result<std::string>;

/// The same lanes in shared memory: the index where one is given, else their addresses.
Link to_banks(const Inputs& in, const Run& run) {
  constexpr std::string_view lab = "kernels/bank-conflicts";
  if (in.access != Access::expression) return link_of_addresses(lab, run.addresses, width_of(in));
  const std::int64_t element = element_of(in), width = width_of(in);
  if (element != width && element != 1 && element != 2 && element != 4 && element != 8 && element != 12 &&
      element != 16)
    return link_of_addresses(lab, run.addresses, width);
  if (in.block_height != 1 || in.block_index != 0) return link_of_addresses(lab, run.addresses, width);
  LinkWriter w(lab);
  w.choice("access", "expression");
  w.words("expression", in.expression);
  w.choice("width_bytes", std::to_string(width));
  w.choice("element_bytes", element == width ? "load" : std::to_string(element));
  w.exactly("block_width", static_cast<double>(in.block_width));
  w.exactly("warp_index", static_cast<double>(in.warp_index));
  return w.link();
}

/// 32 elements a stride apart.
Link to_layout(const Inputs& in) {
  if (in.access != Access::strided) return Link::fail("An index or a list of addresses is no shape with strides.");
  LinkWriter w("kernels/layouts");
  w.choice("operation", "eval");
  w.words("a", "(32,8):(" + std::to_string(in.stride) + "," + std::to_string(32 * in.stride) + ")");
  const std::int64_t element = element_of(in);
  if (element != 2 && element != 4 && element != 8 && element != 16)
    return Link::fail("That lab has elements of 2, 4, 8 and 16 bytes.");
  w.choice("cell_bytes", std::to_string(element));
  return w.link();
}

}  // namespace

LabDoors doors_of(const Inputs& in, const Run& run) {
  return {{"open the banks", "The same lanes in shared memory", to_banks(in, run)},
          {"open the layout", "As a layout", to_layout(in)}};
}

}  // namespace chapters::kernels::coalescing
