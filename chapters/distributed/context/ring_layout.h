#pragma once
#include <cstdint>
#include <vector>

#include "models/parallel/context/context_order.h"
#include "widgets/base/parts.h"

/// The causal square by who computes it, and the ring on which keys travel. Pure.
namespace chapters::distributed::context {

/// Tokens that stand for one rank's in the square.
inline constexpr std::int64_t tokens_a_rank = 4;

/// One cell of the square: a query and a key of the small sequence.
enum class CellState : std::uint8_t { masked, later, now, done };
struct SquareCell {
  std::int64_t rank = 0;  ///< whose query
  CellState state = CellState::masked;
};
/// Who computes which pair of the small sequence, and when.
struct Square {
  std::int64_t ranks = 1, tokens = 0;
  std::vector<std::int64_t> token_rank;  ///< the rank that holds each token
  std::vector<std::int64_t> meets;       ///< step by [query][key] in which the pair is computed; -1: masked
  std::vector<std::int64_t> holders;     ///< rank by [step][rank] that holds the keys which began at this rank

  std::int64_t step_of(std::int64_t query, std::int64_t key) const {
    return meets[static_cast<std::size_t>(query * tokens + key)];
  }
  std::int64_t holder(std::int64_t step, std::int64_t owner) const {
    return holders[static_cast<std::size_t>(step * ranks + owner)];
  }
};
Square square_of(models::parallel::ContextOrder order, bool causal, std::int64_t ranks);
SquareCell square_cell(const Square& square, std::int64_t step, std::int64_t query, std::int64_t key);

struct RingPlaces {
  widgets::Rect square{};           ///< the area of all cells
  float cell = 0;                   ///< px a side
  widgets::Rect keys{}, queries{};  ///< strips over and left of it
  ImVec2 centre{};
  float radius = 0;  ///< px from the centre to the nodes' middles
  std::vector<widgets::Rect> nodes;
  widgets::Rect ring{}, clocks{};  ///< areas right of the square
  bool with_ring = true, with_clocks = true;
};
/// A square as large as fits at the left, the ring at its right over the clocks. Where the room is low the ring goes
/// beside, where it is narrow the clocks go.
void layout_ring(std::int64_t ranks, widgets::Rect area, float scale, RingPlaces& out);

/// Side in px of a block of keys, at most `most`, so that blocks at rest touch neither each other nor a node: they lie
/// `inwards` of the radius from the centre. 0: there is no room for blocks of at least `least`.
float key_side(const RingPlaces& places, std::int64_t ranks, float inwards, float least, float most);

/// Where a block of keys is that left `owner` `steps` ago: on the ring, between the nodes; whole numbers are nodes.
ImVec2 key_place(const RingPlaces& places, std::int64_t ranks, std::int64_t owner, double steps);

}  // namespace chapters::distributed::context
