#include "widgets/base/item_probe.h"

#include <imgui_internal.h>

#include <algorithm>
#include <iterator>

namespace widgets {
namespace {

ItemProbe* probe_of(ImGuiContext* context) { return static_cast<ItemProbe*>(context->TestEngine); }

/// Is `scope` the name of the window or of a parent of it? Dear ImGui names a child "Parent/name_1A2B3C4D".
bool inside(std::string_view window, std::string_view scope) {
  constexpr std::size_t id_digits = 9;  // underscore and eight hexadecimal digits
  while (true) {
    const std::size_t slash = window.find('/');
    std::string_view part = window.substr(0, slash);
    if (part == scope || part.substr(0, part.find("##")) == scope) return true;
    if (part.size() > id_digits && part[part.size() - id_digits] == '_') part.remove_suffix(id_digits);
    if (part == scope || part.substr(0, part.find("##")) == scope) return true;
    if (slash == std::string_view::npos) return false;
    window.remove_prefix(slash + 1);
  }
}

/// 0: no match; higher is better. A clipped item has no label, but its ID is the hash of one.
int match(const ProbedItem& item, std::string_view label) {
  int score = 0;
  if (item.label.empty()) {
    if (item.id == ImHashStr(label.data(), label.size(), item.parent_id)) score = 1;
  } else if (item.label == label) {
    score = 2;
  } else if (item.visible_label() == label) {
    score = 1;
  }
  if (score == 0) return 0;
  return score + (item.visible() ? 4 : 0) + (item.in_popup ? 8 : 0);
}

}  // namespace

std::string_view ProbedItem::visible_label() const {
  const std::string_view whole = label;
  return whole.substr(0, whole.find("##"));
}

ItemProbe::ItemProbe(ImGuiContext* context) : context_(context) {
  context_->TestEngine = this;
  context_->TestEngineHookItems = true;
}

ItemProbe::~ItemProbe() {
  if (context_->TestEngine != this) return;
  context_->TestEngineHookItems = false;
  context_->TestEngine = nullptr;
}

const ProbedItem* ItemProbe::find(std::string_view label) const {
  const ProbedItem* best = nullptr;
  int best_score = 0;
  const auto consider = [&](const ProbedItem& item, int score) {
    if (score > best_score) {
      best = &item;
      best_score = score;
    }
  };
  if (label.empty()) return nullptr;
  for (const ProbedItem& item : all()) consider(item, match(item, label));
  // A label may hold a slash of its own ("tokens/s"), so it is read as a scope only when nothing is called that.
  for (std::size_t slash = label.find('/'); !best && slash != std::string_view::npos;
       slash = label.find('/', slash + 1)) {
    const std::string_view scope = label.substr(0, slash), name = label.substr(slash + 1);
    if (scope.empty() || name.empty()) continue;
    for (const ProbedItem& item : all())
      if (const int score = match(item, name); score > best_score && inside(item.window, scope)) consider(item, score);
  }
  return best;
}

const ProbedItem* ItemProbe::find_id(ImGuiID id) const {
  const auto items = all();
  const auto at = std::find_if(items.begin(), items.end(), [&](const ProbedItem& item) { return item.id == id; });
  return at == items.end() ? nullptr : &*at;
}

ProbedItem& ItemProbe::add(int frame) {
  if (frame != frame_) count_ = 0;
  frame_ = frame;
  if (count_ == items_.size()) items_.emplace_back();
  ProbedItem& item = items_[count_++];
  item.label.clear();
  item.checked = item.openable = item.opened = false;
  return item;
}

void ItemProbe::describe(ImGuiID id, const char* label, int status_flags) {
  // The newest item with this ID: it was added a moment ago.
  const auto newest = std::make_reverse_iterator(items_.begin() + static_cast<std::ptrdiff_t>(count_));
  const auto at = std::find_if(newest, items_.rend(), [&](const ProbedItem& item) { return item.id == id; });
  if (at == items_.rend() || !label) return;
  at->label = label;
  at->checked = (status_flags & ImGuiItemStatusFlags_Checked) != 0;
  at->openable = (status_flags & ImGuiItemStatusFlags_Openable) != 0;
  at->opened = (status_flags & ImGuiItemStatusFlags_Opened) != 0;
}

}  // namespace widgets

// Dear ImGui declares these in imgui_internal.h and leaves their definition to the program.

void ImGuiTestEngineHook_ItemAdd(ImGuiContext* context, ImGuiID id, const ImRect& rect, const ImGuiLastItemData*) {
  widgets::ItemProbe* probe = widgets::probe_of(context);
  const ImGuiWindow* window = context->CurrentWindow;
  if (!probe || !window) return;
  ImRect seen = rect;
  // A window item is registered before its own clip rectangle is known.
  if (id != window->ID) seen.ClipWithFull(window->ClipRect);
  const ImGuiID parent = window->IDStack.Size > 0 ? window->IDStack.back() : 0;
  widgets::ProbedItem& item = probe->add(context->FrameCount);
  item.id = id;
  item.parent_id = parent;
  item.min = rect.Min;
  item.max = rect.Max;
  item.visible_min = seen.Min;
  item.visible_max = seen.Max;
  item.window.assign(window->Name);
  item.window_id = window->ID;
  item.in_popup = (window->RootWindow->Flags & ImGuiWindowFlags_Popup) != 0;
}

void ImGuiTestEngineHook_ItemInfo(ImGuiContext* context, ImGuiID id, const char* label, ImGuiItemStatusFlags flags) {
  if (widgets::ItemProbe* probe = widgets::probe_of(context)) probe->describe(id, label, flags);
}

void ImGuiTestEngineHook_Log(ImGuiContext*, const char*, ...) {}

const char* ImGuiTestEngine_FindItemDebugLabel(ImGuiContext* context, ImGuiID id) {
  const widgets::ItemProbe* probe = widgets::probe_of(context);
  const widgets::ProbedItem* item = probe ? probe->find_id(id) : nullptr;
  return item ? item->label.c_str() : nullptr;
}
