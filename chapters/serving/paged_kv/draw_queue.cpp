#include <algorithm>
#include <cmath>

#include "chapters/serving/paged_kv/draw_parts.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

/// Who waits. A request that is dragged to a pool says whether it fits there, and is served first from then on.
namespace chapters::serving::paged_kv {
namespace {

using models::PoolFrame;
using widgets::Align, widgets::Font, widgets::Line, widgets::Meaning, widgets::Painter, widgets::Rect, widgets::theme,
    widgets::Type;

/// Those in line before the pool that is reserved, or before the other one where nobody waits there.
const PoolFrame& waiting_frame(const Picture& picture, std::size_t frame) {
  const PoolFrame& reserved = picture.run->reserved.frames[frame];
  return reserved.queue.empty() ? picture.run->paged.frames[frame] : reserved;
}

struct WaitingBox {
  Rect place;
  float prompt_px = 0;
  std::int32_t request = -1;
};
/// The i-th who waits; its `request` is -1 where it has no room.
WaitingBox box_of(const Picture& picture, const PoolFrame& frame, Rect line, std::size_t wanted) {
  const auto& t = theme();
  float x = line.min.x;
  for (std::size_t i = 0; i < frame.queue.size(); ++i) {
    const models::PagedRequest& r = picture.run->demand.requests[static_cast<std::size_t>(frame.queue[i])];
    const auto px = [&](double tokens) {
      return std::clamp(t.px(static_cast<float>(tokens) * 0.09f), t.px(5), t.px(60));
    };
    const float prompt = px(r.prompt_tokens), all = prompt + px(r.output_tokens[0]);
    if (x + all > line.max.x) return {};
    if (i == wanted) return {{{x, line.min.y}, {x + all, line.max.y}}, prompt, frame.queue[i]};
    x += all + t.px(5);
  }
  return {};
}

void paint_box(const Painter& p, const WaitingBox& box, bool runs_in_blocks, bool in_hand) {
  const auto& t = theme();
  const ImU32 hue = t.of(Meaning::kv_cache);
  const Rect r = box.place;
  p.rect(r.min, r.max, widgets::with_alpha(hue, in_hand ? 0.2f : 0.25f), t.px(2));
  p.rect(r.min, {r.min.x + box.prompt_px, r.max.y}, widgets::with_alpha(hue, in_hand ? 0.3f : 0.8f), t.px(2));
  if (runs_in_blocks) p.line({r.min.x, r.max.y + t.px(2)}, {r.max.x, r.max.y + t.px(2)}, t.good, t.px(2));
}

/// What a pool says to the request in the hand, and its rim.
void say_fit(const HeroParts& parts, const Inputs& in, const Outputs& out, const Picture& picture, std::size_t frame,
             std::int32_t request, ImVec2 mouse) {
  const auto& t = theme();
  const auto i = static_cast<std::size_t>(request);
  const Painter p = Painter::window();
  Line name, value;
  name.add("request ").add_integer(request + 1);
  const auto rim = [&](const PoolGrid& grid, bool fits) {
    p.frame({grid.area.min.x - 3, grid.area.min.y - 3}, {grid.area.max.x + 3, grid.area.max.y + 3},
            fits ? t.good : t.bad, t.px(2.5f));
  };
  if (parts.reserved.area.contains(mouse)) {
    const std::int64_t need = picture.run->reserve_slots[i], hole = picture.run->reserved.frames[frame].longest_hole;
    value.add(hole >= need ? "fits: " : "waits: ").add("needs ").add_integer(need);
    value.add(" slots in a row, the longest hole has ").add_integer(hole);
    rim(parts.reserved, hole >= need);
  } else if (parts.paged.area.contains(mouse)) {
    const std::int64_t need = picture.run->first_blocks[i],
                       free = picture.run->paged.frames[frame].free_slots / in.block_tokens;
    value.add(free - need >= out.kept_blocks ? "fits: " : "waits: ").add("needs ").add_integer(need);
    value.add(" blocks, ").add_integer(free).add(" are free, ").add_integer(out.kept_blocks).add(" of them kept");
    rim(parts.paged, free - need >= out.kept_blocks);
  } else {
    value.add("drop it in a pool: it is served first from its arrival on");
  }
  widgets::tip(name.view(), value.view());
}

}  // namespace

void draw_queue(const HeroParts& parts, Inputs& in, const Outputs& out, const Picture& picture, View& view,
                std::size_t frame) {
  const auto& t = theme();
  if (parts.queue.height() < t.px(12) || frame >= picture.run->reserved.frames.size()) return;
  const PoolFrame& waiting = waiting_frame(picture, frame);
  const float label = t.px(70), small = t.type(Type::small);
  constexpr std::string_view hint = "drag one into a pool";
  const float hint_px = widgets::text_size(hint, Type::small).x, room = parts.queue.width() - label;
  const bool hinted = room > 3 * hint_px;
  const Rect line{{parts.queue.min.x + label, parts.queue.min.y + t.px(3)},
                  {parts.queue.max.x - (hinted ? hint_px + t.px(12) : 0), parts.queue.max.y - t.px(5)}};
  const Painter p = Painter::window();
  widgets::fit_text(p, {parts.queue.min.x, (line.min.y + line.max.y - small) / 2},
                    picture.run->reserved.frames[frame].queue.empty() ? "wait below" : "wait above", label - t.px(4),
                    t.muted, Type::small);
  if (waiting.queue.empty()) {
    widgets::fit_text(p, {line.min.x, (line.min.y + line.max.y - small) / 2}, "nobody", line.width(), t.muted,
                      Type::small);
    return;
  }
  if (hinted)
    p.text({parts.queue.max.x, (line.min.y + line.max.y - small) / 2}, hint, t.accent, Type::small, Font::sans,
           Align::right);
  ImGui::SetCursorScreenPos(line.min);
  widgets::press_area("who waits", {line.width(), line.height()});
  const ImVec2 mouse = ImGui::GetMousePos();
  const bool hovered = ImGui::IsItemHovered(),
             active = ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  const bool let_go = ImGui::IsItemDeactivated();
  WaitingBox under;
  for (std::size_t i = 0; i < waiting.queue.size(); ++i) {
    const WaitingBox box = box_of(picture, waiting, line, i);
    if (box.request < 0) break;
    const models::PagedServed& below = picture.run->paged.served[static_cast<std::size_t>(box.request)];
    paint_box(p, box, below.start_us >= 0 && below.start_us <= waiting.time_us, view.dragged == box.request);
    if (box.place.contains(mouse)) under = box;
  }
  if (ImGui::IsItemActivated() && under.request >= 0) view.dragged = under.request;
  if (let_go && view.dragged >= 0 && (parts.reserved.area.contains(mouse) || parts.paged.area.contains(mouse)))
    in.urgent = view.dragged + 1;
  if (!active) view.dragged = -1;
  if (view.dragged >= 0) {
    say_fit(parts, in, out, picture, frame, static_cast<std::int32_t>(view.dragged), mouse);
    return;
  }
  if (!hovered || under.request < 0) return;
  const models::PagedRequest& r = picture.run->demand.requests[static_cast<std::size_t>(under.request)];
  Line name, value;
  name.add("request ").add_integer(under.request + 1);
  value.add_integer(r.prompt_tokens).add(" tokens of prompt, ").add_integer(r.output_tokens[0]).add(" of answer");
  widgets::tip(name.view(), value.view(),
               "drag it to a pool: does it fit? A line under it: in blocks it runs or is done");
}

}  // namespace chapters::serving::paged_kv
