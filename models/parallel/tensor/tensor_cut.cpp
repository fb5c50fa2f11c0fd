#include "models/parallel/tensor/tensor_cut.h"

#include <array>

namespace models::parallel {

std::string_view tensor_cut_name(TensorCut cut) {
  constexpr std::array<std::string_view, tensor_cut_count> names{"column, then row", "column, then column",
                                                                 "row, then column", "row, then row"};
  return names[static_cast<std::size_t>(cut)];
}
bool first_by_row(TensorCut cut) { return cut == TensorCut::row_column || cut == TensorCut::row_row; }
bool second_by_row(TensorCut cut) { return cut == TensorCut::column_row || cut == TensorCut::row_row; }

std::string_view tensor_block_name(TensorBlock block) {
  return block == TensorBlock::attention ? "attention" : "feed-forward";
}

std::vector<TensorCollective> block_collectives(TensorCut cut, const BlockSizes& sizes, std::int64_t ranks,
                                                bool sequence_parallel, bool training) {
  std::vector<TensorCollective> out;
  if (ranks < 2) return out;
  const double stream = sizes.rows * sizes.hidden, projected = sizes.rows * sizes.projected,
               inner = sizes.rows * sizes.inner;
  const auto add = [&](Primitive primitive, TensorPlace place, double elements, bool backward) {
    if (!backward || training)
      out.push_back({.primitive = primitive, .place = place, .backward = backward, .elements = elements});
  };
  using enum Primitive;
  using enum TensorPlace;
  if (cut == TensorCut::column_row && sequence_parallel) {
    add(all_gather, before, stream, false);
    add(reduce_scatter, behind, stream, false);
    add(all_gather, behind, stream, true);
    add(reduce_scatter, before, stream, true);
    if (training)
      out.push_back({.primitive = all_gather, .place = before, .backward = true, .regather = true, .elements = stream});
    return out;
  }
  switch (cut) {
    case TensorCut::column_row:
      break;
    case TensorCut::column_column:
      add(all_gather, between, inner, false);
      add(reduce_scatter, between, inner, true);
      break;
    case TensorCut::row_column:
      add(all_reduce, between, projected, false);
      add(all_reduce, between, inner, true);
      break;
    case TensorCut::row_row:
      add(reduce_scatter, between, projected, false);
      add(all_gather, between, projected, true);
      break;
  }
  add(second_by_row(cut) ? all_reduce : all_gather, behind, stream, false);
  add(first_by_row(cut) ? all_gather : all_reduce, before, stream, true);
  return out;
}

double sent_elements(const TensorCollective& collective, std::int64_t ranks) {
  return bus_factor(collective.primitive, ranks) * collective.elements;
}

}  // namespace models::parallel
