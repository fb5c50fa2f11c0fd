#include <algorithm>
#include <cmath>

#include "chapters/interview/readiness/lab.h"
#include "chapters/interview/shared/paper.h"
#include "widgets/base/parts.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/number/number.h"

namespace chapters::interview::readiness {
namespace {

using widgets::theme;

void draw_figures(const widgets::Painter& p, ImVec2 at, float width, const Outputs& out, double goal) {
  const auto& t = theme();
  struct Figure {
    std::string_view label;
    widgets::NumberText value;
    ImU32 colour;
  };
  const bool known = out.asked > 0;
  const Figure figures[] = {
      {"supported now",
       known ? widgets::format(std::round(out.ready_percent), "%", 3) : widgets::format(std::nan(""), ""),
       known ? share_colour(out.ready_percent / 100, goal) : t.muted},
      {"right so far",
       known ? widgets::format(std::round(out.success_percent), "%", 3) : widgets::format(std::nan(""), ""), t.text},
      {"supported, if so", widgets::format(std::round(out.plan_ready_percent), "%", 3),
       share_colour(out.plan_ready_percent / 100, goal)},
      {"topics ready", widgets::format(static_cast<double>(out.topics_ready), ""), t.text},
      {"level reached", widgets::format(static_cast<double>(out.level_reached), ""), t.text}};
  const float cell = width / static_cast<float>(std::size(figures));
  for (std::size_t i = 0; i < std::size(figures); ++i) {
    const float x = at.x + cell * static_cast<float>(i);
    p.text({x, at.y}, figures[i].value, figures[i].colour, widgets::Type::title, widgets::Font::mono);
    p.text_fit({x, at.y + t.px(30)}, figures[i].label, cell - t.px(8), t.muted, widgets::Type::small);
  }
}

}  // namespace

void draw(Inputs& in, const Outputs& out, const Picture& picture, View& view) {
  if (!out.reason.empty()) return;
  const auto& t = theme();
  const widgets::Painter p = widgets::Painter::window();
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x, width = std::min(room, t.px(860)), pad = t.px(22);
  const float row = t.px(54);
  const std::size_t rows = picture.lines.size();
  const float height = t.px(124) + row * static_cast<float>(rows) + pad;
  p.rect(corner, {corner.x + width, corner.y + height}, t.panel, t.px(12));
  p.frame(corner, {corner.x + width, corner.y + height}, t.line, 1, t.px(12));
  const float x = corner.x + pad, inner = width - 2 * pad;
  draw_figures(p, {x, corner.y + pad}, inner, out, picture.goal);
  p.text_fit({x, corner.y + pad + t.px(62)}, out.verdict, inner, t.accent, widgets::Type::body, widgets::Font::bold);
  float y = corner.y + t.px(120);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto& line = picture.lines[i];
    if (line.chosen)
      p.rect({corner.x + t.px(6), y - t.px(8)}, {corner.x + width - t.px(6), y + row - t.px(9)}, t.card, t.px(6));
    p.line({x, y - t.px(8)}, {x + inner, y - t.px(8)}, t.grid);
    const char* const practise = line.act;
    const float link = widgets::text_size("look again", widgets::Type::small).x,
                bar = (inner - link - t.px(40)) * 0.55f;
    share_bar(p, {x, y}, bar, line.label, line.share, picture.goal, line.known);
    const float middle = x + bar + t.px(20), text = inner - bar - link - t.px(36);
    p.text_fit({middle, y}, line.detail, text, t.text, widgets::Type::small);
    p.text_fit({middle, y + t.px(20)}, line.next, text, t.muted, widgets::Type::small);
    ImGui::SetCursorScreenPos({x + inner - link, y});
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::InvisibleButton(practise, {link, t.px(22)}, ImGuiButtonFlags_EnableNav))
      view.requests.open_link = line.link;
    ImGui::PopID();
    p.text({x + inner, y}, practise, t.accent, widgets::Type::small, widgets::Font::sans, widgets::Align::right);
    y += row;
  }
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy({width, height});
  const float note = corner.y + height + t.px(12);
  const float noted =
      widgets::wrapped_text(p, {x, note},
                            "Each bar is what your answers support, not your score: the lower end of the interval "
                            "around the share that was right. The line across it is the goal.",
                            inner, t.muted);
  ImGui::SetCursorScreenPos({corner.x, note});
  ImGui::Dummy({width, noted});
  if (widgets::Record* record = p.record()) {
    widgets::DataTable topics{
        "Readiness by topic", {"topic", "asked", "right", "ready_percent", "level", "due", "next"}, {}};
    for (const Row& r : out.topics)
      topics.rows.push_back({r.topic, std::to_string(r.asked), std::to_string(r.right), widgets::exact(r.ready_percent),
                             std::to_string(r.level), std::to_string(r.due), r.next});
    widgets::DataTable answers{"Answers", {"drill", "seed", "said", "right", "seconds", "time_unix_s"}, {}};
    for (const DrillRecord& r : in.history)
      answers.rows.push_back({r.drill, std::to_string(r.seed), widgets::exact(r.said), r.right ? "1" : "0",
                              widgets::exact(r.seconds), widgets::exact(r.time_s)});
    record->tables.push_back(std::move(topics));
    record->tables.push_back(std::move(answers));
  }
}

}  // namespace chapters::interview::readiness
