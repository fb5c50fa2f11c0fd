#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/role/platform_map/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/parts.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"
#include "widgets/stage/stage.h"

/// The river of hours with its cards and its money, and the axis along which GPUs are dragged.
namespace chapters::role::platform_map {
namespace {

using widgets::Align, widgets::Font, widgets::Painter, widgets::Rect, widgets::theme, widgets::Type;

class RiverPainter {
 public:
  RiverPainter(const Inputs& in, const Picture& picture, const River& river) : in_(in), picture_(picture), r_(river) {}
  void draw_ground() const;
  void draw_bands() const;
  void draw_cut() const;
  void draw_money() const;
  void draw_strip() const;
  void draw_axis() const;
  void draw_guess() const;

 private:
  float small() const { return t_.type(Type::small); }
  float cut_x() const { return r_.x(static_cast<double>(in_.setup.gpus)); }
  bool holds(std::size_t row, std::size_t part) const;
  void name_bands() const;
  void plate(ImVec2 at, std::string_view words, ImU32 ink, Font font = Font::sans, Align align = Align::left) const;

  const Inputs& in_;
  const Picture& picture_;
  const River& r_;
  const widgets::Theme& t_ = theme();
  const Painter p_ = Painter::window();
};

/// Words on a small plate, so that no band runs through their letters.
void RiverPainter::plate(ImVec2 at, std::string_view words, ImU32 ink, Font font, Align align) const {
  const ImVec2 size = widgets::text_size(words, Type::small, font);
  const float x = align == Align::right ? at.x - size.x : align == Align::center ? at.x - size.x / 2 : at.x;
  p_.rect({x - t_.px(4), at.y - t_.px(1)}, {x + size.x + t_.px(4), at.y + size.y + t_.px(1)}, t_.card, t_.px(3));
  p_.text({x, at.y}, words, ink, Type::small, font);
}

bool RiverPainter::holds(std::size_t row, std::size_t part) const {
  const Holder holder = picture_.river_holders[row];
  return holder == Holder::data_and_training ? part < 2 : part == static_cast<std::size_t>(holder);
}

/// The frame of hours and of GPUs: nothing in it is computed.
void RiverPainter::draw_ground() const {
  p_.rect(r_.hours.min, r_.hours.max, widgets::with_alpha(t_.card, 0.45f));
  p_.line({r_.hours.min.x, r_.hours.min.y}, {r_.hours.min.x, r_.hours.max.y}, t_.line);
  p_.line({r_.hours.min.x, r_.hours.max.y}, r_.hours.max, t_.line);
  p_.text({r_.hours.min.x, r_.hours.min.y - small() - t_.px(4)}, "hours until it is out", t_.muted, Type::small);
}

void RiverPainter::draw_bands() const {
  for (double step = 1; step < r_.hi_hours; step *= 10)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double each = step * factor;
      const bool crowded = r_.y(0) - r_.y(each) < small() + t_.px(2);
      if (r_.hi_hours / each > 6 || r_.hi_hours / each < 2.4 || crowded) continue;
      for (double h = each; h < r_.hi_hours; h += each) {
        p_.line({r_.hours.min.x, r_.y(h)}, {r_.hours.max.x, r_.y(h)}, t_.grid);
        p_.text({r_.hours.min.x - t_.px(6), r_.y(h) - small() / 2}, widgets::format(h, "").view(), t_.muted,
                Type::small, Font::mono, Align::right);
      }
      step = HUGE_VAL;
      break;
    }
  const auto& rows = picture_.river;
  p_.clip({r_.hours.min.x, r_.hours.min.y}, {r_.hours.max.x + t_.px(2), r_.hours.max.y});
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    const float x0 = r_.x(rows[i].gpus), x1 = r_.x(rows[i + 1].gpus);
    double left = 0, right = 0;
    for (std::size_t k = 0; k < parts; ++k) {
      const double left_up = left + rows[i].hours[k], right_up = right + rows[i + 1].hours[k];
      const std::size_t part = river_order[k];
      const ImU32 hue = widgets::colour(picture_.boxes[part].tint, t_);
      const bool strong = holds(i, part) && holds(i + 1, part);
      const ImVec2 upper[] = {{x0, r_.y(left_up)}, {x1, r_.y(right_up)}},
                   lower[] = {{x0, r_.y(left)}, {x1, r_.y(right)}};
      p_.band(upper, lower, widgets::with_alpha(hue, strong ? 0.95f : 0.38f));
      left = left_up;
      right = right_up;
    }
    p_.line({x0, r_.y(left)}, {x1, r_.y(right)}, t_.text, t_.px(2));
  }
  p_.unclip();
  name_bands();
  if (!picture_.first_hours.empty() && r_.hours.height() >= t_.px(48))
    plate({r_.x(rows.front().gpus) + t_.px(8), r_.hours.min.y + t_.px(4)}, picture_.first_hours, t_.text);
  widgets::drew("river");
}

/// A band's name where it is widest and has room, clear of the cut.
void RiverPainter::name_bands() const {
  const auto& rows = picture_.river;
  for (std::size_t k = 0; k < parts; ++k) {
    const std::size_t part = river_order[k];
    const std::string_view name = picture_.boxes[part].name;
    const ImVec2 size = widgets::text_size(name, Type::small, Font::bold);
    float best = 0;
    ImVec2 at{};
    for (const RiverRow& row : rows) {
      double below = 0;
      for (std::size_t j = 0; j < k; ++j) below += row.hours[j];
      const float top = std::max(r_.y(below + row.hours[k]), r_.hours.min.y), bottom = r_.y(below), x = r_.x(row.gpus);
      const bool clear = x - size.x / 2 > r_.x(rows.front().gpus) + t_.px(6) &&
                         x + size.x / 2 < r_.hours.max.x - t_.px(4) && std::abs(x - cut_x()) > size.x / 2 + t_.px(70);
      if (!clear || bottom - top < size.y + t_.px(2) || bottom - top <= best) continue;
      best = bottom - top;
      at = {x, (top + bottom - size.y) / 2};
    }
    if (best > 0) plate(at, name, t_.text, Font::bold, Align::center);
  }
}

/// The cut at the GPUs that are set, with the hours there and with twice as many.
void RiverPainter::draw_cut() const {
  const float x = cut_x();
  p_.line({x, r_.hours.min.y}, {x, r_.axis.min.y}, t_.accent, t_.px(2));
  const auto at = std::find_if(picture_.river.begin(), picture_.river.end(),
                               [&](const RiverRow& row) { return row.gpus == static_cast<double>(in_.setup.gpus); });
  if (at == picture_.river.end()) return;
  const float y = r_.y(at->all), line = small() + t_.px(5);
  p_.circle({x, y}, t_.px(8), t_.accent);
  p_.ring({x, y}, t_.px(8), IM_COL32_WHITE, t_.px(2));
  const bool right = x + t_.px(190) < r_.hours.max.x;
  const float side = right ? x + t_.px(16) : x - t_.px(16),
              above = std::max(r_.hours.min.y + t_.px(3), y - line * 1.6f);
  const Align align = right ? Align::left : Align::right;
  plate({side, above}, picture_.total_hours, t_.text, Font::bold, align);
  if (!picture_.double_hours.empty() && above + 2 * line < r_.hours.max.y)
    plate({side, above + line}, picture_.double_hours, t_.muted, Font::sans, align);
  widgets::drew("cut");
}

void RiverPainter::draw_money() const {
  if (r_.money.height() < 1) return;
  const ImU32 hue = t_.muted;
  p_.text({r_.money.min.x, r_.money.min.y - small() - t_.px(4)}, "dollars paid", t_.muted, Type::small);
  for (std::size_t i = 0; i + 1 < picture_.river.size(); ++i) {
    const RiverRow &a = picture_.river[i], &b = picture_.river[i + 1];
    const ImVec2 upper[] = {{r_.x(a.gpus), r_.y_money(a.usd)}, {r_.x(b.gpus), r_.y_money(b.usd)}},
                 lower[] = {{upper[0].x, r_.money.max.y}, {upper[1].x, r_.money.max.y}};
    p_.band(upper, lower, widgets::with_alpha(hue, 0.3f));
    p_.line(upper[0], upper[1], hue, t_.px(1.5f));
  }
  const float x = cut_x();
  const bool right = x + t_.px(90) < r_.money.max.x;
  plate({right ? x + t_.px(8) : x - t_.px(8), r_.money.min.y + t_.px(2)}, picture_.total_money, t_.text, Font::mono,
        right ? Align::left : Align::right);
}

/// Under the axis: what holds the release up on how many GPUs, and the handle.
void RiverPainter::draw_strip() const {
  const float bar = small() + t_.px(4), top = r_.axis.min.y + t_.px(3);
  for (const Stretch& s : picture_.stretches) {
    const Rect piece{{r_.x(s.from), top}, {r_.x(s.to), top + bar}};
    if (piece.width() < 1) continue;
    const ImU32 hue = s.both ? t_.card : widgets::colour(s.tint, t_);
    p_.rect(piece.min, piece.max, s.refused ? t_.card : hue);
    if (s.both) {
      p_.rect(piece.min, {piece.max.x, top + bar / 2}, widgets::colour(picture_.boxes[1].tint, t_));
      p_.rect({piece.min.x, top + bar / 2}, piece.max, widgets::colour(picture_.boxes[0].tint, t_));
    }
    if (s.refused) widgets::hatch(p_, piece, t_.muted, t_.px(6));
    for (const std::string_view words : {std::string_view(s.name), std::string_view(s.brief)}) {
      const ImVec2 size = widgets::text_size(words, Type::small);
      if (size.x + t_.px(10) > piece.width()) continue;
      const ImVec2 at{(piece.min.x + piece.max.x) / 2, top + (bar - small()) / 2};
      if (s.both || s.refused)
        plate(at, words, t_.text, Font::sans, Align::center);
      else
        p_.text(at, words, widgets::text_on(hue, t_), Type::small, Font::sans, Align::center);
      break;
    }
  }
}

/// The numbers of GPUs and the handle at those that are set.
void RiverPainter::draw_axis() const {
  const float below = r_.axis.min.y + t_.px(3) + small() + t_.px(4) + t_.px(4), x = cut_x();
  const float tag = widgets::text_size(picture_.gpus_tag, Type::small, Font::bold).x + t_.px(12);
  const float left = std::clamp(x - tag / 2, r_.axis.min.x, std::max(r_.axis.min.x, r_.axis.max.x - tag));
  for (double n = 1; n <= r_.hi_gpus; n *= 4) {
    const auto words = widgets::format(n, "");
    const float half = widgets::text_size(words, Type::small, Font::mono).x / 2, at = r_.x(n);
    if (at + half > left - t_.px(4) && at - half < left + tag + t_.px(4)) continue;
    const float centre = std::clamp(at, r_.axis.min.x + half, r_.axis.max.x - half);
    p_.text({centre, below}, words.view(), t_.muted, Type::small, Font::mono, Align::center);
  }
  p_.rect({left, below - t_.px(1)}, {left + tag, below + small() + t_.px(3)}, t_.accent, t_.px(4));
  p_.text({left + t_.px(6), below}, picture_.gpus_tag, widgets::text_on(t_.accent, t_), Type::small, Font::bold);
  p_.line({x, r_.axis.min.y}, {x, below}, t_.accent, t_.px(2));
}

/// What the learner said the release takes, across the river.
void RiverPainter::draw_guess() const {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "time_s") return;
  const double hours = guess->value / 3600;
  const bool off = hours > r_.hi_hours;
  const float y = std::clamp(r_.y(hours), r_.hours.min.y, r_.hours.max.y);
  p_.dashed_line({r_.hours.min.x, y}, {r_.hours.max.x, y}, t_.accent, t_.px(1.5f), t_.px(4));
  const float above = y - small() - t_.px(4);
  widgets::paint_guess_words(p_, {r_.hours.min.x + t_.px(8), above < r_.hours.min.y + t_.px(2) ? y + t_.px(4) : above},
                             widgets::guess_words(widgets::format(guess->value, "s").view(), off).view());
}

/// Three lines: the part, its hours, and its money or that it holds the release up.
void draw_card(const Painter& p, const Picture& picture, std::size_t i, Rect at, bool lit, bool hidden) {
  const auto& t = theme();
  const Box& box = picture.boxes[i];
  const bool bottleneck = !hidden && picture.bottleneck[i];
  if (bottleneck)
    for (const float grow : {6.0f, 3.0f})
      p.rect({at.min.x - t.px(grow), at.min.y - t.px(grow)}, {at.max.x + t.px(grow), at.max.y + t.px(grow)},
             widgets::with_alpha(t.warning, 0.18f), t.px(6 + grow));
  p.rect(at.min, at.max, t.card, t.px(5));
  p.rect({at.min.x + t.px(2), at.min.y}, {at.max.x - t.px(2), at.min.y + t.px(4)}, widgets::colour(box.tint, t),
         t.px(2));
  p.frame(at.min, at.max, bottleneck ? t.warning : lit ? t.accent : t.line, t.px(bottleneck ? 2.0f : 1.0f), t.px(5));
  const float pad = t.px(6), width = at.width() - 2 * pad, line = t.type(Type::small) + t.px(3);
  float y = at.min.y + t.px(7);
  const bool whole = widgets::text_size(box.name, Type::small, Font::bold).x <= width;
  widgets::fit_text(p, {at.min.x + pad, y}, whole ? box.name : box.brief, width, t.text, Type::small, Font::bold);
  if (hidden) return;
  widgets::fit_text(p, {at.min.x + pad, y += line}, box.hours, width, bottleneck ? t.warning : t.text, Type::small,
                    Font::mono);
  const std::string_view says = "holds it up";
  const bool words = bottleneck && widgets::text_size(says, Type::small, Font::bold).x <= width;
  widgets::fit_text(p, {at.min.x + pad, y += line}, words ? says : std::string_view(box.money), width,
                    words ? t.warning : t.muted, Type::small, words ? Font::bold : Font::mono);
}

void keep_river(const Outputs& out, const Picture& picture, widgets::Record& record) {
  widgets::DataTable table{"Parts of the release", {"part", "time_s", "time_percent", "usd", "usd_percent"}, {}};
  for (std::size_t i = 0; i < parts; ++i)
    table.rows.push_back({std::string(picture.boxes[i].name), widgets::exact(out.release.parts[i].time_s),
                          widgets::exact(out.time_share[i]), widgets::exact(out.release.parts[i].usd),
                          widgets::exact(out.usd_share[i])});
  record.tables.push_back(std::move(table));
}

/// The river is dragged along its GPUs; an arrow doubles or halves them.
void drag_gpus(Inputs& in, const Picture& picture, const River& river) {
  const Painter p = Painter::window();
  const auto& t = theme();
  ImGui::SetCursorScreenPos(river.hours.min);
  const ImVec2 size{river.hours.width(), river.axis.max.y - river.hours.min.y};
  widgets::press_area("GPUs that train", size, ImGuiButtonFlags_EnableNav);
  const auto moved = [&](double gpus) {
    return std::llround(std::clamp(gpus, picture.least_gpus, std::max(picture.least_gpus, picture.axis_hi)));
  };
  if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    const double place = (ImGui::GetIO().MousePos.x - river.hours.min.x) / river.hours.width();
    in.setup.gpus = moved(gpus_at_place(place, picture.axis_hi));
  }
  if (const int steps = widgets::play_keys().steps; steps != 0)
    in.setup.gpus = moved(std::round(static_cast<double>(in.setup.gpus) * std::exp2(steps)));
  if (ImGui::IsItemFocused() && ImGui::GetIO().NavVisible)
    p.frame(river.hours.min, {river.hours.max.x, river.axis.max.y}, t.accent, t.px(1), t.px(4));
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
}

}  // namespace

void draw_platform(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = theme();
  const Painter p = Painter::window();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (picture.total_hours.empty()) {
    ImGui::Dummy(size);
    return;
  }
  const bool hidden = widgets::veiled();
  // Under a veil its own word stands at the foot.
  const float foot = hidden ? t.px(44) : 0;
  const River river = layout_river({at, {at.x + size.x, at.y + size.y - foot}}, picture.river, picture.axis_hi,
                                   picture.top_hours, t.scale, t.type(Type::small) + t.px(3));
  const RiverPainter painter(in, picture, river);
  {
    const widgets::GivenMarks given;
    painter.draw_ground();
    if (hidden) painter.draw_axis();
    for (std::size_t i = 0; hidden && i < parts; ++i) draw_card(p, picture, i, river.cards[i], false, true);
  }
  if (!hidden) {
    painter.draw_bands();
    painter.draw_money();
    painter.draw_strip();
    painter.draw_axis();
    painter.draw_cut();
    painter.draw_guess();
  }
  drag_gpus(in, picture, river);
  for (std::size_t i = 0; !hidden && i < parts; ++i) {
    const Rect& rect = river.cards[i];
    ImGui::SetCursorScreenPos(rect.min);
    ImGui::PushID(static_cast<int>(i));
    const Box& box = picture.boxes[i];
    const bool pressed =
        widgets::press_area(box.name.data(), {rect.width(), rect.height()}, ImGuiButtonFlags_EnableNav);
    const bool lit = ImGui::IsItemHovered() || ImGui::IsItemFocused();
    ImGui::PopID();
    draw_card(p, picture, i, rect, lit, false);
    if (ImGui::IsItemHovered()) widgets::tip(box.name, box.cause, box.hint);
    if (pressed && !box.link.empty()) view.requests.open_link = box.link;
  }
  if (!hidden) widgets::drew("cards");
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
  if (widgets::Record* record = p.record()) keep_river(out, picture, *record);
}

}  // namespace chapters::role::platform_map
