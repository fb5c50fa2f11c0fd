#include <algorithm>
#include <numeric>

#include "widgets/base/press_area.h"
#include "widgets/base/shorten.h"
#include "widgets/timeline/timeline_frame.h"

namespace widgets {
namespace {

/// The lanes from `first` on that stand in the group of lane `first`, itself among them.
std::size_t group_end(std::span<const TimelineLane> lanes, std::size_t first) {
  std::size_t end = first + 1;
  while (end < lanes.size() && lanes[end].indent > lanes[first].indent) ++end;
  return end;
}

/// Siblings from `first` to `end`, each with its group, in order.
void order_siblings(std::span<const TimelineLane> lanes, std::size_t first, std::size_t end,
                    std::vector<std::uint32_t>& order) {
  std::vector<std::size_t> heads;
  for (std::size_t i = first; i < end; i = group_end(lanes, i)) heads.push_back(i);
  std::stable_sort(heads.begin(), heads.end(), [&](std::size_t a, std::size_t b) {
    if (lanes[a].sort_index != lanes[b].sort_index) return lanes[a].sort_index < lanes[b].sort_index;
    return natural_less(lanes[a].label, lanes[b].label);
  });
  for (const std::size_t head : heads) {
    order.push_back(static_cast<std::uint32_t>(head));
    if (const std::size_t last = group_end(lanes, head); last > head + 1) order_siblings(lanes, head + 1, last, order);
  }
}

std::string_view name_of_meaning(Meaning meaning) {
  switch (meaning) {
    case Meaning::forward:
      return "forward";
    case Meaning::backward:
      return "backward";
    case Meaning::weight_gradient:
      return "weight gradient";
    case Meaning::optimizer:
      return "optimizer";
    case Meaning::communication:
      return "communication";
    case Meaning::data_loading:
      return "data loading";
    case Meaning::kv_cache:
      return "KV cache";
    case Meaning::memory_bound:
      return "memory-bound";
    case Meaning::compute_bound:
      return "compute-bound";
    case Meaning::launch_bound:
      return "launch-bound";
    case Meaning::idle:
      return "idle";
  }
  return {};
}

}  // namespace

void timeline_order(std::span<const TimelineLane> lanes, std::vector<std::uint32_t>& order) {
  order.clear();
  order_siblings(lanes, 0, lanes.size(), order);
}

float layout_timeline_legend(const TimelineData& data, const std::array<bool, 256>& tints, bool dots, float width,
                             TimelineScratch& scratch) {
  scratch.legend.clear();
  for (std::size_t code = 0; code < tints.size(); ++code) {
    if (!tints[code]) continue;
    Tint tint;
    tint.code = static_cast<std::uint8_t>(code);
    std::string_view name = data.tint_name ? data.tint_name(data.context, tint) : std::string_view{};
    if (name.empty() && tint.is_meaning()) name = name_of_meaning(static_cast<Meaning>(code));
    if (!name.empty()) scratch.legend.push_back({name, tint});
  }
  if (dots) scratch.legend.push_back({"a moment, without a length", Tint{}, true});
  if (scratch.legend.empty()) return 0;
  return layout_legend(scratch.legend, width * 0.6f, legend_row_px(), measure_text, scratch.legend_placed) +
         theme().px(4);
}

void name_seen_lanes(const TimelineFrame& f) {
  std::array<bool, 256> tints{};
  bool dots = false, all = true;
  for (std::size_t i = 0; i < f.data.lanes.size(); ++i) {
    if (!f.lane_shown(i)) {
      all = false;
      continue;
    }
    dots = dots || f.index.lanes[i].dots;
    for (std::size_t code = 0; code < tints.size(); ++code) tints[code] = tints[code] || f.index.lanes[i].tints[code];
    for (const TimelineCounter& c : f.data.lanes[i].counters) tints[c.tint.code] = true;
  }
  if (!all) layout_timeline_legend(f.data, tints, dots, f.area.width(), f.view.scratch);
}

void fold_timeline_lanes(TimelineFrame& f) {
  const Theme& t = theme();
  const float side = t.px(16);
  for (std::size_t i = 0; i < f.data.lanes.size(); ++i) {
    if (!f.lane_shown(i)) continue;
    const TimelineCaret caret = timeline_caret(f.data, f.index, f.options, i);
    const float y = f.lane_top(i);
    if (caret == TimelineCaret::none || y < f.lanes.min.y || f.lanes.min.x - f.area.min.x < 2 * side) continue;
    const TimelineLane& lane = f.data.lanes[i];
    ImGui::SetCursorScreenPos({f.area.min.x + t.px(14) * static_cast<float>(std::min(lane.indent, 4u)) - t.px(2), y});
    ImGui::PushID(static_cast<int>(i));
    if (press_area(Line().add("fold ").add(lane.label).c_str(), {side, side}))
      f.view.folded[i] = f.view.folded[i] != 0 ? 0 : 1;
    if (ImGui::IsItemHovered()) {
      Line says;
      if (caret == TimelineCaret::group)
        says.add(f.view.folded[i] != 0 ? "Show what is under " : "Fold what is under ").add(lane.label);
      else
        says.add(f.view.folded[i] != 0 ? "Fold the " : "Show the ")
            .add_integer(static_cast<std::int64_t>(f.index.lanes[i].wrappers))
            .add(" rows that one call fills from end to end");
      tip(says.view(), {});
    }
    ImGui::PopID();
  }
}

}  // namespace widgets
