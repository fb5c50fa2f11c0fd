#pragma once
#include "chapters/serving/paged_kv/lab.h"
#include "widgets/base/parts.h"

/// What the pictures of both pools share: where slots lie, and what colours them.
namespace chapters::serving::paged_kv {

/// Slots of a pool in rows of cells, in screen pixels.
struct PoolGrid {
  widgets::Rect area;
  std::int64_t slots = 1, cell_slots = 1, columns = 1, rows = 1;
  float pitch_x() const { return area.width() / static_cast<float>(columns); }
  float pitch_y() const { return area.height() / static_cast<float>(rows); }
  std::int64_t row_slots() const { return columns * cell_slots; }
  /// Gap between cells, in px.
  float gap() const { return pitch_x() > 4 && pitch_y() > 4 ? 1.0f : 0.0f; }
  /// The part of a row from `from` to `to`, slots of the same row.
  widgets::Rect span(std::int64_t from, std::int64_t to) const;
  ImVec2 centre(std::int64_t slot) const;
  /// The slot under a point of the area; -1 beside the last one.
  std::int64_t slot_at(ImVec2 point) const;
};
/// Cells as square as the area allows; where it may, a row holds a whole part or multiple of `run_slots`.
PoolGrid pool_grid(widgets::Rect area, std::int64_t slots, std::int64_t cell_slots, std::int64_t run_slots);

/// Where the parts of the hero stand.
struct HeroParts {
  widgets::Rect reserved_head, paged_head, reserved_bar, paged_bar, tables, queue, strip;
  PoolGrid reserved, paged;
};

/// The frame at a moment, an index of all frames.
std::size_t frame_at(const Picture& picture, double at_s);
double moment_of(const Picture& picture, const View& view);
/// The request whose tables are shown at this frame; -1: nobody runs.
std::int32_t followed_at(const Picture& picture, const View& view, std::size_t frame);
/// The older a request, the stronger its colour: the i-th of n.
ImU32 age_colour(std::size_t i, std::size_t n);

void paint_reserved(const widgets::Painter& p, const HeroParts& parts, const models::PoolFrame& frame,
                    std::int32_t followed);
void paint_paged(const widgets::Painter& p, const HeroParts& parts, const Inputs& in, const models::PoolFrame& frame,
                 const Moment& moment, std::int32_t followed);
/// The rim of a pool and its cells, which a question gives.
void paint_empty_pool(const widgets::Painter& p, const PoolGrid& grid, ImU32 rim);
/// The block tables of a request, and threads from them to the pool.
void draw_tables(const HeroParts& parts, const Inputs& in, const Picture& picture, View& view,
                 const models::PoolFrame& frame, std::int32_t followed);
/// Who waits, and the one that is dragged to a pool.
void draw_queue(const HeroParts& parts, Inputs& in, const Outputs& out, const Picture& picture, View& view,
                std::size_t frame);

}  // namespace chapters::serving::paged_kv
