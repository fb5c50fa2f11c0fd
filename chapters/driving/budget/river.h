#pragma once
#include <algorithm>
#include <array>
#include <string_view>

#include "chapters/driving/budget/lab.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/base/theme.h"

/// The river's places and its painter; draw_hands.cpp has what the hand does.
namespace chapters::driving::budget {

inline constexpr std::array<std::string_view, task_count> task_names{"detection", "segmentation", "depth"};

/// Where everything lies, px. Left of the memory `per_share` px are all streams together.
struct RiverPlace {
  widgets::Rect all{};
  float names = 0, rates = 0, from = 0, sensor = 0, memory = 0, memory_to = 0, boxes = 0, boxes_to = 0;
  float per_share = 0, gap = 0, per_read = 0, slot = 0, slot_gap = 0;
  std::size_t streams = 0;
  bool hints = false;  ///< there is room for what the hand can do, in words

  float middle() const { return (all.min.y + all.max.y) / 2; }
  float slot_middle(std::size_t task) const {
    return all.min.y + slot / 2 + static_cast<float>(task) * (slot + slot_gap);
  }
};

class RiverPainter {
 public:
  RiverPainter(Inputs& in, const Picture& picture, const RiverPlace& place) : in_(in), picture_(picture), r_(place) {}

  void draw_given() const;
  void draw_streams() const;
  void draw_memory() const;
  void draw_boxes() const;
  void draw_words(ImVec2 corner, ImVec2 size) const;
  void pinch_streams();
  void drag_kept();
  void drag_boxes();

 private:
  float small() const { return t_.type(widgets::Type::small); }
  ImU32 water() const { return t_.of(widgets::Meaning::data_loading); }
  ImU32 hue(std::size_t task) const { return t_.series_at(task == 0 ? 1 : task == 1 ? 4 : 2); }
  /// The middle of a stream at the sensors.
  float stream_middle(std::size_t i) const;
  float box_middle(const Box& box) const;
  float read_px() const { return std::max(1.0f, static_cast<float>(picture_.read_now) * r_.per_read); }
  void handle(ImVec2 at, bool lit) const;
  void draw_box(const Box& box, ImVec2 moved) const;

  Inputs& in_;
  const Picture& picture_;
  const RiverPlace& r_;
  const widgets::Theme& t_ = widgets::theme();
  const widgets::Painter p_ = widgets::Painter::window();
};

}  // namespace chapters::driving::budget
