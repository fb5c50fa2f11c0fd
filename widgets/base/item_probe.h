#pragma once
#include <imgui.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Where on screen each labelled control of a frame is, for tests that act by label.
/// item_probe.cpp is compiled into the `imgui` target, because Dear ImGui itself calls the hooks that it defines.
namespace widgets {

/// One control of the frame drawn last. Rectangles are screen pixels.
struct ProbedItem {
  ImGuiID id = 0;
  ImGuiID parent_id = 0;  ///< top of the ID stack when the item was submitted
  ImVec2 min, max;
  ImVec2 visible_min, visible_max;  ///< what its window's clip rectangle leaves; min == max when nothing
  std::string label;   ///< as the code wrote it, "Run##3"; empty for items that Dear ImGui clipped before it named them
  std::string window;  ///< Dear ImGui's name: "Shell/inspector_1A2B3C4D" for a child
  ImGuiID window_id = 0;
  bool in_popup = false, checked = false, openable = false, opened = false;

  std::string_view visible_label() const;  ///< the label as it reads: up to "##"
  bool visible() const { return visible_max.x > visible_min.x && visible_max.y > visible_min.y; }
  ImVec2 centre() const { return {(visible_min.x + visible_max.x) / 2, (visible_min.y + visible_max.y) / 2}; }
};

/// While alive, keeps the items of the newest frame of one context; without one, Dear ImGui calls no hook at all.
/// At most one per context, and the context must outlive it.
class ItemProbe {
 public:
  explicit ItemProbe(ImGuiContext* context = ImGui::GetCurrentContext());
  ~ItemProbe();
  ItemProbe(const ItemProbe&) = delete;
  ItemProbe& operator=(const ItemProbe&) = delete;

  /// The item with this label (whole, or as it reads), or "Scope/label" for one inside a window or child named Scope.
  /// When several match: popups first, then what can be seen, then the whole label, then the one drawn first. Null when
  /// none.
  const ProbedItem* find(std::string_view label) const;
  const ProbedItem* find_id(ImGuiID id) const;
  std::span<const ProbedItem> all() const { return {items_.data(), count_}; }

  /// Called by the hooks alone: the next item of this frame, to be filled in. Texts keep the memory of the frame
  /// before, since a test draws thousands of frames of hundreds of items.
  ProbedItem& add(int frame);
  void describe(ImGuiID id, const char* label, int status_flags);

 private:
  ImGuiContext* context_;
  int frame_ = -1;
  std::vector<ProbedItem> items_;  ///< the first count_ are of the newest frame
  std::size_t count_ = 0;
};

}  // namespace widgets
