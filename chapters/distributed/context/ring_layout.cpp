#include "chapters/distributed/context/ring_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace chapters::distributed::context {
namespace {

constexpr float strip_px = 14, strip_gap_px = 4, between_px = 28, node_width_px = 66, node_height_px = 40;

ImVec2 on_ring(const RingPlaces& places, std::int64_t ranks, double at, float radius) {
  const double angle = 2 * std::numbers::pi * at / static_cast<double>(ranks) - std::numbers::pi / 2;
  return {places.centre.x + radius * static_cast<float>(std::cos(angle)),
          places.centre.y + radius * static_cast<float>(std::sin(angle))};
}

}  // namespace

Square square_of(models::parallel::ContextOrder order, bool causal, std::int64_t ranks) {
  Square s{.ranks = ranks, .tokens = ranks * tokens_a_rank};
  for (std::int64_t i = 0; i < s.tokens; ++i)
    s.token_rank.push_back(models::parallel::token_rank(order, s.tokens, ranks, i));
  for (std::int64_t query = 0; query < s.tokens; ++query)
    for (std::int64_t key = 0; key < s.tokens; ++key) {
      const std::int64_t rank = s.token_rank[static_cast<std::size_t>(query)],
                         owner = s.token_rank[static_cast<std::size_t>(key)];
      s.meets.push_back(causal && key > query ? -1 : ((rank - owner) % ranks + ranks) % ranks);
    }
  for (std::int64_t step = 0; step < ranks; ++step)
    for (std::int64_t owner = 0; owner < ranks; ++owner)
      s.holders.push_back(models::parallel::key_holder(ranks, owner, step));
  return s;
}

SquareCell square_cell(const Square& square, std::int64_t step, std::int64_t query, std::int64_t key) {
  SquareCell cell{.rank = square.token_rank[static_cast<std::size_t>(query)]};
  const std::int64_t meets = square.step_of(query, key);
  if (meets < 0) return cell;
  cell.state = meets < step ? CellState::done : meets == step ? CellState::now : CellState::later;
  return cell;
}

void layout_ring(std::int64_t ranks, widgets::Rect area, float scale, RingPlaces& out) {
  const float strip = (strip_px + strip_gap_px) * scale, gap = between_px * scale;
  const float least_right = 300 * scale;
  float side = std::min(area.height() - strip, area.width() - strip);
  out.with_ring = out.with_clocks = area.width() - strip - gap >= least_right + 150 * scale;
  if (out.with_ring) side = std::min(side, std::max(area.width() - strip - gap - least_right, 0.52f * area.width()));
  if (out.with_ring) side = std::min(side, area.width() - strip - gap - least_right);
  side = std::max(side, 1.0f);
  const float cells = static_cast<float>(ranks * tokens_a_rank);
  out.cell = side / cells;
  const float top = area.min.y + strip + std::max(0.0f, (area.height() - strip - side) / 2);
  out.square = {{area.min.x + strip, top}, {area.min.x + strip + side, top + side}};
  out.keys = {{out.square.min.x, top - strip}, {out.square.max.x, top - strip + strip_px * scale}};
  out.queries = {{area.min.x, top}, {area.min.x + strip_px * scale, top + side}};
  out.nodes.assign(static_cast<std::size_t>(ranks), {});
  if (!out.with_ring) return;
  const widgets::Rect right{{out.square.max.x + gap, area.min.y}, area.max};
  const float node_w = node_width_px * scale, node_h = node_height_px * scale;
  // The clocks keep the lower half, and a low room goes to them alone: they show who waits.
  const float least_ring = 2.9f * node_h + 34 * scale, clocks = std::max(0.5f * right.height(), 150 * scale);
  out.with_ring = right.height() - clocks >= least_ring;
  const float ring_h = out.with_ring ? right.height() - clocks : 0;
  out.ring = {right.min, {right.max.x, right.min.y + ring_h}};
  out.clocks = {{right.min.x, right.min.y + ring_h}, right.max};
  out.centre = {(out.ring.min.x + out.ring.max.x) / 2, (out.ring.min.y + out.ring.max.y) / 2};
  out.radius = std::max(
      1.0f, std::min({(out.ring.height() - node_h) / 2 - 4 * scale, (out.ring.width() - node_w) / 2, 130 * scale}));
  if (ranks == 1) out.radius = 0;
  for (std::int64_t r = 0; r < ranks && out.with_ring; ++r) {
    const ImVec2 c = on_ring(out, ranks, static_cast<double>(r), out.radius);
    out.nodes[static_cast<std::size_t>(r)] = {{c.x - node_w / 2, c.y - node_h / 2},
                                              {c.x + node_w / 2, c.y + node_h / 2}};
  }
}

float key_side(const RingPlaces& places, std::int64_t ranks, float inwards, float least, float most) {
  if (ranks < 2 || places.nodes.empty()) return 0;
  float side = most;
  for (std::int64_t a = 0; a < ranks; ++a)
    for (std::int64_t b = 0; b < ranks; ++b) {
      const ImVec2 key = on_ring(places, ranks, static_cast<double>(a), inwards * places.radius),
                   other = on_ring(places, ranks, static_cast<double>(b), inwards * places.radius);
      if (a != b) side = std::min(side, std::max(std::abs(key.x - other.x), std::abs(key.y - other.y)));
      const widgets::Rect& node = places.nodes[static_cast<std::size_t>(b)];
      const float x = std::abs(key.x - (node.min.x + node.max.x) / 2),
                  y = std::abs(key.y - (node.min.y + node.max.y) / 2);
      side = std::min(side, std::max(2 * x - node.width(), 2 * y - node.height()));
    }
  return side < least ? 0 : side;
}

ImVec2 key_place(const RingPlaces& places, std::int64_t ranks, std::int64_t owner, double steps) {
  const double at = static_cast<double>(owner) + steps;
  return on_ring(places, ranks, at, places.radius);
}

}  // namespace chapters::distributed::context
