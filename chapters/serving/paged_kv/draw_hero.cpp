#include <algorithm>
#include <cmath>

#include "chapters/serving/paged_kv/draw_parts.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

/// Both pools at one moment, the tables of one request, who waits, and the line of time.
namespace chapters::serving::paged_kv {
namespace {

using models::PoolFrame, models::PoolSequence;
using widgets::Align, widgets::AxisKind, widgets::Font, widgets::Line, widgets::Painter, widgets::Plot, widgets::Rect,
    widgets::theme, widgets::Type;

constexpr double play_all_s = 20;  ///< what all that is shown takes to play

HeroParts parts_of_hero(Rect area, const Inputs& in, const Picture& picture) {
  const auto& t = theme();
  const float w = area.width(), h = area.height();
  const float tables = w > t.px(600) ? std::clamp(0.26f * w, t.px(180), t.px(300)) : 0;
  const float strip = h > t.px(330) ? std::clamp(0.24f * h, t.px(92), t.px(150)) : 0;
  const float queue = h > t.px(270) ? t.px(26) : 0;
  const float right = area.max.x - (tables > 0 ? tables + t.px(48) : 0) - t.px(3);
  const float head = h > t.px(150) ? t.type(Type::small) + t.px(6) : 0, bar = h > t.px(200) ? t.px(18) : 0,
              under = bar > 0 ? t.px(5) : t.px(2), between = t.px(9);
  const float left = area.min.x + t.px(3);
  const float grid = std::max(2.0f, (h - strip - queue - 2 * (head + bar + under) - between - t.px(6)) / 2);
  HeroParts out;
  float y = area.min.y;
  const auto pool = [&](Rect& head_at, Rect& bar_at, PoolGrid& grid_at) {
    head_at = {{left, y}, {right, y + head}};
    bar_at = {{left, y + head}, {right, y + head + bar}};
    y += head + bar + under;
    const Rect place{{left, y}, {std::max(left + 2, right), y + grid}};
    const std::int64_t cell = picture.run->cells ? (in.pool_tokens + max_cells - 1) / max_cells : in.block_tokens;
    grid_at = pool_grid(place, in.pool_tokens, cell, in.reserve_tokens);
    y += grid + between;
  };
  pool(out.reserved_head, out.reserved_bar, out.reserved);
  pool(out.paged_head, out.paged_bar, out.paged);
  out.queue = {{left, y - between + t.px(6)}, {right, y - between + t.px(6) + queue}};
  out.strip = {{area.min.x, area.max.y - strip}, area.max};
  if (tables > 0) out.tables = {{area.max.x - tables, area.min.y}, {area.max.x, area.max.y - strip - t.px(8)}};
  return out;
}

void paint_head(const Painter& p, Rect at, std::string_view title, std::string_view words, const PoolFrame* frame) {
  const auto& t = theme();
  if (at.height() <= 0) return;
  Line numbers;
  if (frame) {
    numbers.add_integer(frame->running).add(frame->running == 1 ? " runs" : " run");
    if (frame->waiting > 0) numbers.add(", ").add_integer(frame->waiting).add(frame->waiting == 1 ? " waits" : " wait");
    if (frame->host_blocks > 0) numbers.add(", ").add_integer(frame->host_blocks).add(" blocks on the host");
  }
  const float right = widgets::text_size(numbers.view(), Type::small).x;
  const float name = widgets::text_size(title, Type::small, Font::bold).x;
  if (frame) p.text({at.max.x, at.min.y}, numbers.view(), t.text, Type::small, Font::sans, Align::right);
  widgets::fit_text(p, at.min, title, at.width() - right - t.px(10), t.text, Type::small, Font::bold);
  const float room = at.width() - right - name - t.px(24);
  if (room > t.px(60)) widgets::fit_text(p, {at.min.x + name + t.px(10), at.min.y}, words, room, t.muted, Type::small);
}

/// Says what is under the pointer, and follows the request that is pressed.
void take_reserved(const HeroParts& parts, const PoolFrame& frame, View& view) {
  ImGui::SetCursorScreenPos(parts.reserved.area.min);
  const bool pressed =
      widgets::press_area("reserved pool", {parts.reserved.area.width(), parts.reserved.area.height()});
  if (!ImGui::IsItemHovered()) return;
  const std::int64_t slot = parts.reserved.slot_at(ImGui::GetMousePos());
  if (slot < 0) return;
  for (const PoolSequence& one : frame.sequences) {
    if (slot < one.first || slot >= one.first + one.count) continue;
    if (pressed) view.followed = one.request + 1;
    Line name, value;
    name.add("request ").add_integer(one.request + 1);
    value.add_integer(one.tokens).add(" tokens, ").add_integer(one.final_tokens - one.tokens).add(" to come, ");
    value.add_integer(one.count - one.final_tokens).add(" slots never filled");
    return widgets::tip(name.view(), value.view());
  }
  widgets::tip("free slots", {}, "in no reservation");
}

void take_paged(const HeroParts& parts, const Inputs& in, const Picture& picture, const PoolFrame& frame, View& view) {
  ImGui::SetCursorScreenPos(parts.paged.area.min);
  const bool pressed = widgets::press_area("paged pool", {parts.paged.area.width(), parts.paged.area.height()});
  const auto keys = widgets::play_keys();
  if (keys.steps != 0) {
    const auto& frames = picture.run->paged.frames;
    const auto now = static_cast<std::int64_t>(frame_at(picture, moment_of(picture, view)));
    const auto to = std::clamp<std::int64_t>(now + keys.steps, 0, static_cast<std::int64_t>(frames.size()) - 1);
    view.at_s = static_cast<double>(frames[static_cast<std::size_t>(to)].time_us) / 1e6;
  }
  if (keys.play) {
    view.playback.time_s = moment_of(picture, view) / picture.shown_s * play_all_s;
    widgets::start_or_stop(view.playback, play_all_s);
  }
  if (!ImGui::IsItemHovered() || picture.run->cells) return;
  const std::int64_t slot = parts.paged.slot_at(ImGui::GetMousePos()), block = slot / in.block_tokens;
  if (slot < 0) return;
  std::int64_t readers = 0, place = 0;
  const PoolSequence* reader = nullptr;
  for (const PoolSequence& one : frame.sequences)
    for (std::int64_t i = 0; i < one.count; ++i) {
      if (frame.blocks[static_cast<std::size_t>(one.first + i)] != block) continue;
      ++readers;
      place = i;
      reader = &one;
    }
  Line name, value, info;
  name.add("block ").add_integer(block);
  if (!reader) return widgets::tip(name.view(), "free");
  if (pressed) view.followed = reader->request + 1;
  value.add("request ").add_integer(reader->request + 1).add(", entry ").add_integer(place).add(" of its table");
  info.add_integer(std::min(in.block_tokens, reader->tokens - place * in.block_tokens)).add(" of ");
  info.add_integer(in.block_tokens)
      .add(" slots filled, ")
      .add_integer(readers)
      .add(readers == 1 ? " reader" : " readers");
  info.add("; press to follow it, Space plays");
  widgets::tip(name.view(), value.view(), info.view());
}

/// What the learner said that one of the pools holds, where that was asked.
void paint_share_guess(Plot& plot) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->unit != "%") return;
  const Line words = widgets::guess_words(widgets::format(guess->value, "%").view(), false);
  plot.horizontal_mark(guess->value, words.view());
}

void draw_strip(const HeroParts& parts, const Picture& picture, View& view) {
  if (parts.strip.height() <= 0) return;
  ImGui::SetCursorScreenPos(parts.strip.min);
  Plot plot("pool over time", view.strip,
            {.x = {.lo = 0, .hi = picture.shown_s, .label = "time", .unit = "s"},
             .y = {.lo = 0, .hi = 100, .label = "holds tokens", .unit = "%"},
             .size = {parts.strip.width(), parts.strip.height()},
             .legend = false,
             .ghost = false});
  plot.curves(picture.used);
  paint_share_guess(plot);
  if (widgets::veiled()) return;
  double x = moment_of(picture, view);
  plot.tag_x(x, {});
  if (plot.drag_x("drag moment", x, {.label = "", .lo = 0, .hi = picture.shown_s})) {
    view.at_s = x;
    view.playback.playing = false;
  }
}

void add_pool_table(const Painter& p, const PoolFrame& frame, const PoolFrame& reserved) {
  widgets::Record* record = p.record();
  if (!record) return;
  widgets::DataTable table{"pools", {"pool", "request", "answer", "tokens", "tokens at its end", "slots"}, {}};
  const auto add = [&](const char* name, const PoolSequence& one, std::int64_t slots) {
    table.rows.push_back({name, std::to_string(one.request + 1), std::to_string(one.answer + 1),
                          std::to_string(one.tokens), std::to_string(one.final_tokens), std::to_string(slots)});
  };
  for (const PoolSequence& one : reserved.sequences) add("reserved", one, one.count);
  for (const PoolSequence& one : frame.sequences) add("blocks", one, one.count);
  record->tables.push_back(std::move(table));
}

}  // namespace

void draw_hero(Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const Rect area = widgets::reserve(size, {16, 16});
  if (!picture.run || picture.run->paged.frames.empty() || picture.run->reserved.frames.empty()) return;
  const HeroParts parts = parts_of_hero(area, in, picture);
  if (widgets::veiled()) {
    {
      const widgets::GivenMarks given;
      const Painter p = Painter::window();
      paint_head(p, parts.reserved_head, "Reserved ahead", picture.reserved_words, nullptr);
      paint_head(p, parts.paged_head, "In blocks", picture.paged_words, nullptr);
      paint_empty_pool(p, parts.reserved, theme().line);
      paint_empty_pool(p, parts.paged, theme().line);
    }
    return draw_strip(parts, picture, view);
  }
  if (view.playback.playing) {
    widgets::advance(view.playback, play_all_s, static_cast<double>(ImGui::GetIO().DeltaTime));
    view.at_s = view.playback.time_s / play_all_s * picture.shown_s;
  }
  const std::size_t frame =
      std::min(frame_at(picture, moment_of(picture, view)), picture.run->reserved.frames.size() - 1);
  const PoolFrame &paged = picture.run->paged.frames[frame], &reserved = picture.run->reserved.frames[frame];
  const std::int32_t followed = followed_at(picture, view, frame);
  const Painter p = Painter::window();
  paint_head(p, parts.reserved_head, "Reserved ahead", picture.reserved_words, &reserved);
  paint_head(p, parts.paged_head, "In blocks", picture.paged_words, &paged);
  paint_reserved(p, parts, reserved, followed);
  paint_paged(p, parts, in, paged, picture.moments[frame], followed);
  draw_tables(parts, in, picture, view, paged, followed);
  take_reserved(parts, reserved, view);
  take_paged(parts, in, picture, paged, view);
  draw_queue(parts, in, out, picture, view, frame);
  draw_strip(parts, picture, view);
  add_pool_table(p, paged, reserved);
}

}  // namespace chapters::serving::paged_kv
