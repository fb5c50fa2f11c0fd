#include "widgets/prose/prose.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/base/times_sign.h"
#include "widgets/prose/prose_veil.h"

namespace widgets {
namespace {

bool term(std::string_view target) { return target.starts_with("term:"); }
bool web(std::string_view target) { return target.starts_with("http://") || target.starts_with("https://"); }

void tooltip(std::string_view text) {
  std::array<char, 512> room;
  const std::string_view shown = with_times_signs(text, room);
  if (!shown.empty()) ImGui::SetTooltip("%.*s", static_cast<int>(shown.size()), shown.data());
}

bool mouse_in(ImVec2 at, ImVec2 size) { return ImGui::IsMouseHoveringRect(at, {at.x + size.x, at.y + size.y}); }

/// Whether the document's block `i` lies under the veil of an open question.
bool block_veiled(const ProseView& view, std::size_t i) {
  const AskedOutput* const asked = prose_asked();
  return asked && i < view.doc.blocks.size() && answers_question(view.doc, view.doc.blocks[i], *asked);
}
std::size_t items_end(const ProseLayout& layout, std::size_t block) {
  return block + 1 < layout.blocks.size() ? layout.blocks[block + 1].first_item : layout.items.size();
}

/// The veil in the place of a block: over each of its lines, so that it covers nothing of its neighbours.
void paint_block_veil(const Painter& painter, const ProseLayout& layout, std::size_t block, ImVec2 origin) {
  const Theme& t = theme();
  ImVec2 min{HUGE_VALF, HUGE_VALF}, max{-HUGE_VALF, -HUGE_VALF};
  for (std::size_t i = layout.blocks[block].first_item; i < items_end(layout, block); ++i) {
    const ProseItem& item = layout.items[i];
    min = {std::min(min.x, item.at.x), std::min(min.y, item.at.y)};
    max = {std::max(max.x, item.at.x + item.size.x), std::max(max.y, item.at.y + item.size.y)};
  }
  if (!(max.x > min.x)) return;
  const Rect area{{origin.x + min.x, origin.y + min.y}, {origin.x + max.x, origin.y + max.y}};
  painter.clip(area.min, area.max);
  hatch(painter, area, with_alpha(t.line, 0.8f), t.px(9));
  painter.unclip();
  painter.frame(area.min, area.max, t.line, 1, t.px(4));
}

/// A formula that could not be read, or a key that nobody knows.
void paint_unknown(const Painter& painter, const ProseView& view, const ProseItem& item, ImVec2 at, bool hovered) {
  const Theme& t = theme();
  if (item.end > item.begin) {
    painter.text(at, view.doc.shown(item.begin, item.end), t.warning, item.type, item.font);
    if (hovered && mouse_in(at, item.size))
      for (const ProseFormula& f : view.doc.formulas)
        if (f.begin == item.begin) tooltip(f.formula.error);
    return;
  }
  float x = at.x + painter.text(at, "{", t.warning, item.type, item.font);
  x += painter.text({x, at.y}, view.doc.values.keys[item.index], t.warning, item.type, item.font);
  painter.text({x, at.y}, "}", t.warning, item.type, item.font);
}

void paint_item(const Painter& painter, const ProseView& view, const ProseItem& item, ImVec2 at, bool hovered,
                const ProseSource& values) {
  const Theme& t = theme();
  const ImVec2 end{at.x + item.size.x, at.y + item.size.y};
  switch (item.kind) {
    case ProseItem::Kind::text:
      painter.text(at, view.doc.shown(item.begin, item.end),
                   item.link >= 0 && !term(view.doc.links[static_cast<std::size_t>(item.link)].target) ? t.accent
                   : item.muted                                                                        ? t.muted
                                                                                                       : t.text,
                   item.type, item.font);
      break;
    case ProseItem::Kind::marker:
      painter.text(at, view.doc.blocks[item.index].marker, t.muted);
      break;
    case ProseItem::Kind::value:
      painter.text(at, std::string_view(view.doc.values.texts[item.index]).substr(item.begin, item.end - item.begin),
                   t.accent, item.type, item.font);
      if (hovered && values.explain && mouse_in(at, item.size))
        tooltip(values.explain(values.context, view.doc.values.keys[item.index]));
      break;
    case ProseItem::Kind::unknown:
      paint_unknown(painter, view, item, at, hovered);
      break;
    case ProseItem::Kind::formula: {
      const FormulaLayout& f = view.layout.formulas[item.index];
      paint_formula(painter, f, {at.x, at.y + f.ascent});
      break;
    }
    case ProseItem::Kind::card:
      painter.rect(at, end, t.card, t.px(4));
      break;
    case ProseItem::Kind::rule:
      painter.rect({at.x, std::floor(at.y)}, {end.x, std::floor(at.y) + item.size.y}, t.line);
      break;
    case ProseItem::Kind::bar:
      painter.rect(at, end, t.line, t.px(2));
      break;
  }
}

void paint(const Painter& painter, const ProseView& view, ImVec2 origin, bool hovered, const ProseSource& values) {
  const ImVec2 clip_min = painter.list()->GetClipRectMin(), clip_max = painter.list()->GetClipRectMax();
  std::size_t block = 0, block_end = 0;
  bool hidden = false;
  for (std::size_t i = 0; i < view.layout.items.size(); ++i) {
    while (prose_asked() && block < view.layout.blocks.size() && i == view.layout.blocks[block].first_item) {
      block_end = items_end(view.layout, block);
      hidden = block_veiled(view, block);
      if (hidden) paint_block_veil(painter, view.layout, block, origin);
      ++block;
    }
    if (hidden && i < block_end) continue;
    const ProseItem& item = view.layout.items[i];
    const ImVec2 at{origin.x + item.at.x, origin.y + item.at.y};
    if (!painter.record() && (at.y + item.size.y < clip_min.y || at.y > clip_max.y)) continue;
    paint_item(painter, view, item, at, hovered, values);
  }
}

void draw_links(const Painter& painter, const ProseView& view, ImVec2 origin, ProseResult& result) {
  const Theme& t = theme();
  std::size_t block = 0;
  bool hidden = false;
  for (std::size_t i = 0; i < view.layout.links.size(); ++i) {
    for (; prose_asked() && block < view.layout.blocks.size() && view.layout.blocks[block].first_link <= i; ++block)
      hidden = block_veiled(view, block);
    if (hidden) continue;
    const ProseLinkBox& box = view.layout.links[i];
    const ProseLink& link = view.doc.links[static_cast<std::size_t>(box.link)];
    const ImVec2 at{origin.x + box.at.x, origin.y + box.at.y};
    ImGui::SetCursorScreenPos(at);
    ImGui::PushID(static_cast<int>(i));
    const bool pressed = press_area(link.label.c_str(), {box.size.x, box.size.y});
    ImGui::PopID();
    const float line = at.y + box.size.y / 2 + 0.55f * t.type(Type::body);
    const bool hovered = ImGui::IsItemHovered();
    const float thick = std::max(1.0f, t.px(1));
    if (term(link.target) && !hovered)
      painter.dashed_line({at.x, line}, {at.x + box.size.x, line}, t.muted, thick, t.px(2));
    else
      painter.line({at.x, line}, {at.x + box.size.x, line}, hovered ? t.accent : with_alpha(t.accent, 0.45f), thick);
    if (hovered || (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible)) result.hovered = link.target;
    if (hovered) {
      ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
      if (web(link.target)) ImGui::SetTooltip("%s\nclick to copy the address", link.target.c_str());
    }
    if (!pressed) continue;
    if (web(link.target)) {
      ImGui::SetClipboardText(link.target.c_str());
      result.copied = link.target;
    } else {
      result.clicked = link.target;
    }
  }
}

}  // namespace

ProseResult draw_prose(const char* id, std::string_view markdown, const ProseSource& values, ProseView& view,
                       float width) {
  const float scale = theme().type(Type::body);
  const bool new_text = view.layouts == 0 || view.markdown != markdown;
  if (new_text) {
    view.markdown.assign(markdown);
    view.doc = parse_prose(markdown);
  }
  const bool new_values = view.doc.refresh(values);
  if (new_text || new_values || view.width != width || view.scale != scale || view.font != font_of(Font::sans)) {
    view.layout = layout_prose_columns(view.doc, width);
    view.width = width;
    view.scale = scale;
    view.font = font_of(Font::sans);
    ++view.layouts;
  }
  ProseResult result{
      .clicked = {},
      .hovered = {},
      .copied = {},
      .width = view.layout.width,
      .height = view.layout.height,
  };
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const Painter painter = Painter::window();
  ImGui::PushID(id);
  paint(painter, view, origin, ImGui::IsWindowHovered(), values);
  draw_links(painter, view, origin, result);
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({std::max(1.0f, result.width), std::max(1.0f, result.height)});
  ImGui::PopID();
  if (Record* record = painter.record(); record && !view.doc.values.keys.empty()) {
    DataTable table{.name = id, .columns = {"key", "value"}, .rows = {}};
    for (std::size_t i = 0; i < view.doc.values.keys.size(); ++i)
      table.rows.push_back({view.doc.values.keys[i], view.doc.values.texts[i]});
    record->tables.push_back(std::move(table));
  }
  return result;
}

std::string prose_as_markdown(std::string_view markdown, const ProseSource& values) {
  ProseDoc doc = parse_prose(markdown);
  doc.refresh(values);
  std::string out;
  std::size_t from = 0;
  for (const ProseUse& use : doc.uses) {
    const std::string& now = doc.values.texts[use.slot];
    if (now.empty() || use.begin < from) continue;
    out.append(doc.source, from, use.begin - from);
    out += use.in_formula ? "\\text{" + now + "}" : now;
    from = use.end;
  }
  return out.append(doc.source, from);
}

std::vector<std::string> unknown_keys(std::string_view markdown, const ProseSource& values) {
  ProseDoc doc = parse_prose(markdown);
  doc.refresh(values);
  std::vector<std::string> unknown;
  for (std::size_t i = 0; i < doc.values.keys.size(); ++i)
    if (doc.values.texts[i].empty()) unknown.push_back(doc.values.keys[i]);
  return unknown;
}

std::vector<std::string> prose_problems(std::string_view markdown) { return parse_prose(markdown).problems; }

}  // namespace widgets
