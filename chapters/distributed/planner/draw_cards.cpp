#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/described/training_memory.h"
#include "chapters/distributed/planner/causes.h"
#include "chapters/distributed/planner/lab.h"
#include "widgets/base/parts.h"
#include "widgets/base/tint.h"
#include "widgets/base/wrapped_text.h"
#include "widgets/number/number.h"

/// What stands on the cards: a plan's staircase, its vessel, its seconds by cause.
namespace chapters::distributed::planner {
namespace {

using widgets::Meaning, widgets::Painter, widgets::Type;

void draw_staircase(const Painter& painter, const PlanCard& card, widgets::Rect area) {
  const auto& t = widgets::theme();
  if (card.lanes == 0) return;
  const float lane = area.height() / static_cast<float>(card.lanes);
  for (int i = 0; i < card.lanes; ++i) {
    const float top = area.min.y + static_cast<float>(i) * lane;
    painter.rect({area.min.x, top}, {area.max.x, top + lane - t.px(1.5f)},
                 widgets::with_alpha(t.of(Meaning::idle), 0.25f));
  }
  for (const StairBlock& b : card.blocks) {
    const float top = area.min.y + static_cast<float>(b.lane) * lane;
    const float from = area.min.x + b.from * area.width(), to = area.min.x + b.to * area.width();
    const float gap = to - from > t.px(3) ? t.px(0.7f) : 0;
    painter.rect({from, top}, {to - gap, top + lane - t.px(1.5f)},
                 t.of(b.backward ? Meaning::backward : Meaning::forward));
  }
}

/// What the staircase shows: "4 stages, bubble 12 %; 16 of 64 shown".
widgets::Line stair_words(const PlanCard& card) {
  const models::memory::TrainingPlan& p = card.price.plan;
  widgets::Line words;
  words.add_integer(p.pipeline).add(p.pipeline == 1 ? " stage" : " stages");
  if (p.pipeline > 1) words.add(", bubble ").add(widgets::format(100 * card.price.bubble_share, "%", 2));
  if (card.micro_batches_shown < p.micro_batches)
    words.add("; ").add_integer(card.micro_batches_shown).add(" of ").add_integer(p.micro_batches).add(" shown");
  return words;
}

/// The fullest GPU as a vessel: owners from the ground up, its rim at the wall.
void draw_vessel(const Painter& painter, const PlanCard& card, double wall_bytes, widgets::Rect area) {
  using models::memory::MemoryOwner;
  const auto& t = widgets::theme();
  const double full = std::max(wall_bytes, card.held.total());
  const float line = t.type(Type::small) + t.px(3);
  const widgets::Rect body{{area.min.x, area.min.y + line}, {area.max.x, area.max.y - line}};
  float y = body.max.y;
  for (std::size_t i = 0; i < models::memory::memory_owner_count; ++i) {
    const auto owner = static_cast<MemoryOwner>(i);
    const double bytes = card.held[owner];
    if (!(bytes > 0)) continue;
    const float height = static_cast<float>(bytes / full) * body.height();
    const OwnerLook& look = owner_look(owner);
    ImU32 fill = look.name == "weights" ? t.muted : widgets::colour(look.tint, t);
    if (look.pale) fill = widgets::with_alpha(fill, 0.45f);  // so that the text on it has its contrast
    painter.rect({body.min.x, y - height}, {body.max.x, y}, fill);
    if (height > line + t.px(2)) {
      const ImU32 ink = look.pale ? t.text : widgets::text_on(fill, t);
      painter.text_fit({(body.min.x + body.max.x) / 2, y - height / 2 - t.type(Type::small) / 2}, look.name,
                       body.width() - t.px(4), ink, Type::small, widgets::Font::sans, widgets::Align::center);
    }
    y -= height;
  }
  const float rim = body.max.y - static_cast<float>(wall_bytes / full) * body.height();
  painter.line({body.min.x - t.px(4), rim}, {body.max.x + t.px(4), rim}, t.text, t.px(2));
  painter.line({body.min.x, rim}, {body.min.x, body.max.y}, t.text, t.px(1.5f));
  painter.line({body.max.x, rim}, {body.max.x, body.max.y}, t.text, t.px(1.5f));
  painter.line({body.min.x, body.max.y}, {body.max.x, body.max.y}, t.text, t.px(1.5f));
  const auto middle = (body.min.x + body.max.x) / 2;
  // What overflows stands behind the rim's figure, which has a plate of its own there.
  const bool over = card.held.total() > wall_bytes;
  if (over)
    painter.rect({body.min.x, rim - line}, {body.max.x, rim - t.px(1)}, widgets::with_alpha(t.background, 0.85f));
  painter.text({middle, rim - line}, widgets::format(wall_bytes, "B"), over ? t.text : t.muted, Type::small,
               widgets::Font::mono, widgets::Align::center);
  painter.text({middle, body.max.y + t.px(3)}, widgets::format(card.price.memory_bytes, "B"), t.text, Type::small,
               widgets::Font::mono, widgets::Align::center);
}

float draw_head(const Painter& painter, const PlanCard& card, std::string_view heading, ImU32 colour, ImVec2 at,
                float width) {
  const auto& t = widgets::theme();
  const auto step = widgets::format(card.price.step_s, "s");
  const float number =
      painter.text({at.x + width, at.y}, step, t.text, Type::body, widgets::Font::mono, widgets::Align::right);
  widgets::fit_text(painter, at, heading, width - number - t.px(8), colour, Type::small, widgets::Font::bold);
  float y = at.y + t.type(Type::body) + t.px(4);
  // A name that says what another plan of the same axes does otherwise is longer than a title may be.
  const bool title = widgets::text_size(card.name, Type::title, widgets::Font::bold).x <= width;
  widgets::fit_text(painter, {at.x, y}, card.name, width, t.text, title ? Type::title : Type::small,
                    widgets::Font::bold);
  y += t.type(Type::title) + t.px(4);
  y += widgets::wrapped_text(painter, {at.x, y}, card.details, width, t.muted,
                             {.line_px = t.type(Type::small) + t.px(3), .max_lines = 2});
  return y + t.px(5);
}

/// The seconds by cause, `count` rows of them; with bars under the words where there is room for them.
void draw_causes(const Painter& painter, const PlanCard& card, widgets::Rect area, float count) {
  const auto& t = widgets::theme();
  const float line = t.type(Type::small) + t.px(5);
  const float row = std::clamp(area.height() / std::max(count, 1.0f), line, t.px(46));
  const bool bars = row >= line + t.px(12);
  float y = area.min.y;
  for (const CauseGroup& g : cause_groups) {
    if (y + line > area.max.y) break;
    const double s = seconds_of(g, card.price.parts);
    if (s < least_share * card.price.step_s) continue;
    if (!bars) painter.rect({area.min.x, y + t.px(3)}, {area.min.x + t.px(9), y + t.px(12)}, hue_of(g), t.px(2));
    const float number = painter.text({area.max.x, y}, widgets::format(s, "s"), t.text, Type::small,
                                      widgets::Font::mono, widgets::Align::right);
    const float words = area.min.x + (bars ? 0 : t.px(15));
    widgets::fit_text(painter, {words, y}, g.name, area.max.x - number - t.px(7) - words, t.muted, Type::small);
    if (bars) {
      const float top = y + line, share = static_cast<float>(s / card.price.step_s), deep = t.px(8);
      painter.rect({area.min.x, top}, {area.max.x, top + deep}, widgets::with_alpha(t.grid, 0.6f), t.px(2));
      painter.rect({area.min.x, top}, {area.min.x + share * area.width(), top + deep}, hue_of(g), t.px(2));
    }
    y += row;
  }
}

std::string_view why_no_second(const PlanCard& best) {
  if (!best.name.empty()) return "No second plan fits.";
  return "Nothing fits: allow recomputation or more ZeRO, take more GPUs, a chip with more memory, or shorter "
         "sequences.";
}

}  // namespace

void draw_card(const PlanCard& card, std::string_view heading, ImU32 colour, double wall_bytes, ImVec2 size) {
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const auto painter = Painter::window();
  painter.frame(at, {at.x + size.x, at.y + size.y}, widgets::with_alpha(colour, 0.8f), t.px(1.5f), t.px(8));
  const float pad = t.px(12), width = size.x - 2 * pad, bottom = at.y + size.y - pad;
  float y = draw_head(painter, card, heading, colour, {at.x + pad, at.y + pad}, width);
  const float vessel = std::min(t.px(86), 0.28f * width), left = width - vessel - t.px(18);
  if (bottom - y > t.px(60))
    draw_vessel(painter, card, wall_bytes, {{at.x + pad + width - vessel, y}, {at.x + pad + width, bottom}});
  const float line = t.type(Type::small) + t.px(5);
  float rows = 0;
  for (const CauseGroup& g : cause_groups)
    rows += seconds_of(g, card.price.parts) < least_share * card.price.step_s ? 0 : line;
  // A tall card has a taller staircase, and its seconds as bars.
  const float stair = std::clamp(bottom - y - rows - 2 * line, 0.0f, std::max(t.px(92), 0.35f * (bottom - y)));
  if (stair > t.px(24)) {
    draw_staircase(painter, card, {{at.x + pad, y}, {at.x + pad + left, y + stair}});
    y += stair + t.px(4);
    widgets::fit_text(painter, {at.x + pad, y}, stair_words(card).view(), left, t.muted, Type::small);
    y += line + t.px(4);
  }
  draw_causes(painter, card, {{at.x + pad, y}, {at.x + pad + left, bottom + t.px(4)}}, rows / line);
  ImGui::Dummy(size);
}

void draw_lost(const Outputs& out, const Picture& picture, ImVec2 size) {
  const PlanCard &best = picture.run->best, &second = picture.run->second;
  const auto& t = widgets::theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const auto painter = Painter::window();
  painter.frame(at, {at.x + size.x, at.y + size.y}, t.line, t.px(1.5f), t.px(8));
  const float pad = t.px(12), width = size.x - 2 * pad, bottom = at.y + size.y - pad;
  if (second.name.empty()) {
    widgets::wrapped_text(painter, {at.x + pad, at.y + pad}, why_no_second(best), width, t.text);
    ImGui::Dummy(size);
    return;
  }
  float y = draw_head(painter, second, "runner-up", t.muted, {at.x + pad, at.y + pad}, width);
  const float line = t.type(Type::small) + t.px(5), bar = t.px(17), name = t.px(62);
  const double longest = std::max(best.price.step_s, second.price.step_s);
  for (const PlanCard* card : {&best, &second}) {
    float x = at.x + pad;
    for (const CauseGroup& g : cause_groups) {
      const float w = static_cast<float>(seconds_of(g, card->price.parts) / longest) * (width - name);
      painter.rect({x, y}, {x + w, y + bar}, hue_of(g));
      x += w;
    }
    widgets::fit_text(painter, {at.x + pad + width, y + (bar - t.type(Type::small)) / 2},
                      card == &best ? "fastest" : "runner-up", name - t.px(4), t.text, Type::small, widgets::Font::sans,
                      widgets::Align::right);
    y += bar + t.px(4);
  }
  y += t.px(4);
  widgets::fit_text(painter, {at.x + pad, y}, picture.lost_text, width, t.text, Type::small, widgets::Font::bold);
  y += line;
  double most = 1e-12;
  for (const auto& l : out.lost) most = std::max(most, std::abs(l.seconds));
  const float words = 0.44f * width, number = 0.2f * width, axis = at.x + pad + words + number + 0.15f * width;
  const auto row = [&](std::string_view cause, double seconds) {
    widgets::fit_text(painter, {at.x + pad, y}, cause, words - t.px(4), t.muted, Type::small);
    widgets::Line text;
    text.add(seconds > 0 ? "+" : "").add(widgets::format(seconds, "s"));
    painter.text({at.x + pad + words + number, y}, text.view(), t.text, Type::small, widgets::Font::mono,
                 widgets::Align::right);
    const float reach = static_cast<float>(seconds / most) * 0.12f * width;
    painter.rect({std::min(axis, axis + reach), y + t.px(2)}, {std::max(axis, axis + reach), y + t.px(13)},
                 seconds > 0 ? t.bad : t.good);
    painter.line({axis, y - t.px(1)}, {axis, y + line}, t.line, t.px(1));
    y += line;
  };
  // Where not all causes have room the last row is the sum of the others, so that the rows add up to what was lost.
  const auto room = static_cast<std::size_t>(std::max(0.0f, std::floor((bottom + t.px(10) - y - line) / line)));
  const bool whole = out.lost.size() <= room;
  const std::size_t shown = whole ? out.lost.size() : room < 2 ? room : room - 1;
  double rest = second.price.step_s - best.price.step_s;
  for (std::size_t i = 0; i < shown; ++i) {
    row(out.lost[i].cause, out.lost[i].seconds);
    rest -= out.lost[i].seconds;
  }
  if (!whole && room > 1) row("all others", rest);
  if (y + line <= bottom + t.px(10))
    widgets::fit_text(painter, {at.x + pad, y + t.px(3)}, picture.lost_why, width, t.muted, Type::small);
  ImGui::Dummy(size);
}

}  // namespace chapters::distributed::planner
