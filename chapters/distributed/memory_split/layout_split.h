#pragma once
#include <array>
#include <span>
#include <vector>

#include "widgets/base/parts.h"

/// Where the layers of vessels stand, with a ghost of what every GPU would hold alone behind and above them.
namespace chapters::distributed::memory_split {

inline constexpr std::size_t split_layer_count = 10;
/// Values from the ground up: weights, gradients, master, moments, whole units, activations, logits, temporary,
/// buffers, slack.
using SplitStack = std::array<double, split_layer_count>;
double total_of(const SplitStack& stack);

struct SplitPiece {
  std::size_t vessel = 0, layer = 0;
  widgets::Rect rect{};
  double value = 0;
  bool over = false;  ///< above the rim
};
struct GhostPiece {
  std::size_t layer = 0;
  float top = 0, bottom = 0;
  double value = 0;  ///< the part of the layer that is shown
};
/// A name and figure left of the first vessel, moved so that none touch; `at` is where its line ends on the vessel.
struct SplitLabel {
  std::size_t layer = 0;
  bool ghost = false;
  float y = 0, at = 0;
  double value = 0;
};
struct SplitTick {
  double value = 0;
  float y = 0;
};

struct SplitLayout {
  std::vector<widgets::Rect> vessels;  ///< from the rim to the ground
  std::vector<SplitPiece> pieces;
  std::vector<GhostPiece> ghost;
  std::vector<SplitLabel> labels;
  std::vector<SplitTick> ticks;
  double scale = 1;  ///< value a pixel
  float ground = 0, rim = 0, ghost_top = 0, ghost_from = 0;
  bool rim_cut = false;    ///< the rim is far over what is held, and off the scale
  bool ghost_cut = false;  ///< the ghost is higher than there is room for, and ends at the top
};

struct SplitRoom {
  widgets::Rect area{};  ///< where vessels stand, from the top of the highest to the ground
  float line = 14, gap = 30, least_label = 3, widest = 1e6f;
  bool cut_at_rim = true;  ///< a layer across the rim is two pieces
};

/// Vessels of one width, `widest` at most, side by side in the middle and on one scale. The scale takes the highest of
/// rim, stacks and ghost, but the ghost at most 2.4 times the higher of rim and stacks; where the stacks fill hardly a
/// quarter of the rim, it takes them alone. The ghost stands where it shows: from the top of the first stack, or from
/// the rim where it is over it.
void layout_split(std::span<const SplitStack> stacks, const SplitStack& ghost, double rim, const SplitRoom& room,
                  SplitLayout& out);

}  // namespace chapters::distributed::memory_split
