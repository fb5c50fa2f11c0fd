#include <algorithm>

#include "chapters/interview/cheat_sheet/draw_parts.h"
#include "widgets/base/marks.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/theme.h"

/// What to do first: chains of arrows, each with what it makes of what is left.
namespace chapters::interview::cheat_sheet {

using widgets::Font, widgets::Painter, widgets::theme, widgets::Type;

void draw_chains(const Picture& picture, const Search& search, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  if (widgets::veiled()) {
    ImGui::Dummy(size);
    return;
  }
  const float left = std::min(t.px(120), 0.25f * size.x), line = t.type(Type::small), tall = line + t.px(10);
  float y = corner.y;
  for (const Chain& chain : picture.chains) {
    if (y + tall > corner.y + size.y) break;
    ImGui::SetCursorScreenPos({corner.x, y});
    ImGui::PushID(chain.name.c_str());
    widgets::press_area("a chain", {left, tall}, ImGuiButtonFlags_None);
    ImGui::PopID();
    if (ImGui::IsItemHovered()) widgets::tip(chain.name, chain.goal);
    widgets::fit_text(p, {corner.x, y}, chain.name, left, t.text, Type::small, Font::bold);
    p.text_fit({corner.x, y + line + t.px(1)}, chain.from, left - t.px(6), t.muted, Type::small);
    float x = corner.x + left;
    if (chain.steps.empty()) p.text_fit({x, y + t.px(4)}, "nothing gains here", size.x - left, t.muted, Type::small);
    for (std::size_t i = 0; i < chain.steps.size(); ++i) {
      const float name = widgets::text_size(chain.steps[i], Type::small).x,
                  gain = widgets::text_size(chain.gains[i], Type::small, Font::mono).x, wide = name + gain + t.px(26);
      if (x + wide > corner.x + size.x && x > corner.x + left) {
        x = corner.x + left;
        y += tall + t.px(4);
        if (y + tall > corner.y + size.y) break;
      }
      const float nose = t.px(8);
      const ImVec2 arrow[] = {
          {x, y},        {x + wide - nose, y},    {x + wide, y + tall / 2}, {x + wide - nose, y + tall},
          {x, y + tall}, {x + nose, y + tall / 2}};
      const bool first = i == 0;
      const ImVec2 block[] = {
          {x, y}, {x + wide - nose, y}, {x + wide, y + tall / 2}, {x + wide - nose, y + tall}, {x, y + tall}};
      p.polygon(first ? std::span<const ImVec2>(block) : std::span<const ImVec2>(arrow), t.card);
      p.polyline(first ? std::span<const ImVec2>(block) : std::span<const ImVec2>(arrow),
                 chain.reaches[i] ? t.good : t.line, t.px(chain.reaches[i] ? 1.5f : 1.0f), true);
      const bool found = search.finds(chain.words);
      p.text({x + t.px(11), y + t.px(4)}, chain.steps[i], t.text, Type::small, found ? Font::bold : Font::sans);
      p.text({x + t.px(15) + name, y + t.px(4)}, chain.gains[i], chain.reaches[i] ? t.good : t.muted, Type::small,
             Font::mono);
      x += wide + t.px(2);
    }
    y += tall + t.px(10);
  }
  if (widgets::Record* record = p.record()) {
    widgets::DataTable table{"what to do first", {"chain", "step", "gain"}, {}};
    for (const Chain& chain : picture.chains)
      for (std::size_t i = 0; i < chain.steps.size(); ++i)
        table.rows.push_back({chain.name, chain.steps[i], chain.gains[i]});
    record->tables.push_back(std::move(table));
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace chapters::interview::cheat_sheet
