#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "chapters/serving/paged_kv/draw_parts.h"
#include "widgets/base/arrow.h"
#include "widgets/base/marks.h"
#include "widgets/base/press_area.h"
#include "widgets/number/number.h"

/// The block tables of one request: fused where its answers read the same block, parted where one was copied.
namespace chapters::serving::paged_kv {
namespace {

using models::PoolFrame, models::PoolSequence;
using widgets::Align, widgets::Font, widgets::Line, widgets::Painter, widgets::Rect, widgets::theme, widgets::Type;

constexpr std::size_t max_answers = models::paged_answers_max;

/// The answers of the request that is followed, and the rows that are drawn of their tables.
struct Tables {
  std::array<const PoolSequence*, max_answers> answers{};
  std::size_t count = 0;
  std::int64_t rows = 0;   ///< in the longest table
  std::int64_t shown = 0;  ///< drawn of these
  std::int64_t head = 0;   ///< drawn from the top; behind them a line that says how many are left out
  Rect area;
  float row_px = 0, column_px = 0, gap_px = 0;

  std::int32_t block(const PoolFrame& frame, std::size_t k, std::int64_t i) const {
    if (k >= count || i >= answers[k]->count) return -1;
    return frame.blocks[static_cast<std::size_t>(answers[k]->first + i)];
  }
  /// The row of the table that the line shows; -1: those left out.
  std::int64_t row_of(std::int64_t line) const {
    if (shown == rows) return line;
    if (line < head) return line;
    return line == head ? -1 : rows - (shown - line);
  }
  Rect place(std::int64_t line, std::size_t from, std::size_t to, float pulled) const {
    const float y = area.min.y + row_px * static_cast<float>(line), step = column_px + gap_px;
    const auto x = [&](std::size_t k) { return area.min.x + step * static_cast<float>(k) + (k > 0 ? pulled : 0); };
    return {{x(from), y}, {x(to) + column_px, y + row_px - 2}};
  }
};

Tables tables_of(const PoolFrame& frame, std::int32_t followed, Rect area) {
  const auto& t = theme();
  Tables out;
  for (const PoolSequence& one : frame.sequences)
    if (one.request == followed && out.count < max_answers) out.answers[out.count++] = &one;
  for (std::size_t k = 0; k < out.count; ++k) out.rows = std::max(out.rows, out.answers[k]->count);
  out.area = area;
  const auto room = static_cast<std::int64_t>(std::max(1.0f, area.height() / t.px(15)));
  out.shown = std::min(out.rows, room);
  out.head = out.shown < out.rows ? out.shown / 2 : out.shown;
  out.row_px = std::min(t.px(19), area.height() / static_cast<float>(std::max<std::int64_t>(1, out.shown)));
  out.gap_px = out.count > 1 ? t.px(out.count > 4 ? 6 : 16) : 0;
  const auto n = static_cast<float>(std::max<std::size_t>(1, out.count));
  out.column_px = std::max(2.0f, (area.width() - t.px(out.count > 1 ? 22.0f : 0.0f) - (n - 1) * out.gap_px) / n);
  return out;
}

/// From a row of a table to its block in the pool: up or down beside the pool, which ends at `edge`, and then along the
/// block's own row, so that it crosses no words.
void paint_table_thread(const Painter& p, ImVec2 from, float edge, ImVec2 to, ImU32 colour) {
  std::array<ImVec2, 18> points;
  const std::size_t bend = points.size() - 1;
  for (std::size_t k = 0; k < bend; ++k) {
    const float s = static_cast<float>(k) / static_cast<float>(bend - 1), ease = s * s * (3 - 2 * s);
    points[k] = {from.x + (edge - from.x) * s, from.y + (to.y - from.y) * ease};
  }
  points[bend] = to;
  p.polyline(points, colour, theme().px(1));
}

/// A stretch of a row: answers `from` to `to` that read the same block.
void paint_entry(const Painter& p, const Tables& tables, const Inputs& in, Rect r, std::int64_t row, std::size_t from,
                 std::size_t to, std::int32_t block) {
  const auto& t = theme();
  const std::int64_t filled = std::min(in.block_tokens, tables.answers[from]->tokens - row * in.block_tokens);
  const float share = static_cast<float>(filled) / static_cast<float>(in.block_tokens);
  const ImU32 hue = age_colour(0, 1);
  const bool full = filled == in.block_tokens;
  p.rect(r.min, r.max, full ? hue : widgets::with_alpha(hue, 0.25f), t.px(2));
  const float foot = std::max(2.0f, 0.2f * r.height());
  if (!full) p.rect({r.min.x, r.max.y - foot}, {r.min.x + r.width() * share, r.max.y}, hue);
  if (r.height() < t.type(Type::small)) return;
  const float y = (r.min.y + r.max.y - (full ? 0 : foot) - t.type(Type::small)) / 2;
  const ImU32 ink = full ? widgets::text_on(hue, t) : t.text;
  Line name, more;
  name.add(r.width() > t.px(78) ? "block " : "").add_integer(block);
  const float w = widgets::text_size(name.view(), Type::small).x;
  if (w + t.px(8) > r.width()) return;
  p.text({r.min.x + t.px(5), y}, name.view(), ink, Type::small);
  if (to > from)
    more.add_integer(static_cast<std::int64_t>(to - from + 1)).add(" readers");
  else if (!full)
    more.add_integer(filled).add(" of ").add_integer(in.block_tokens);
  if (more.length > 0 && widgets::text_size(more.view(), Type::small).x <= r.width() - w - t.px(18))
    p.text({r.max.x - t.px(5), y}, more.view(), ink, Type::small, Font::sans, Align::right);
}

void paint_dashed(const Painter& p, Rect r, ImU32 colour) {
  const std::array<ImVec2, 5> corners{r.min, ImVec2{r.max.x, r.min.y}, r.max, ImVec2{r.min.x, r.max.y}, r.min};
  p.dashed_polyline(corners, colour, theme().px(1.5f), theme().px(4));
}

/// The pair of blocks of which one is the other's copy: the last of the prompt, where it was not full.
void paint_copy(const Painter& p, const Tables& tables, const PoolFrame& frame, std::int64_t line, std::int64_t row,
                std::int64_t prompt, std::int64_t block_tokens, float pulled) {
  if (tables.count < 2 || prompt % block_tokens == 0 || row != prompt / block_tokens) return;
  const std::int32_t a = tables.block(frame, 0, row), b = tables.block(frame, 1, row);
  if (a < 0 || b < 0 || a == b) return;
  const auto& t = theme();
  const Rect from = tables.place(line, 0, 0, pulled), to = tables.place(line, 1, 1, pulled);
  paint_dashed(p, from, t.text);
  paint_dashed(p, to, t.text);
  const float y = (from.min.y + from.max.y) / 2;
  const std::array<ImVec2, 2> path{ImVec2{from.max.x + t.px(1), y}, ImVec2{to.min.x - t.px(1), y}};
  widgets::draw_arrow(p, path, t.text, t.px(1.5f));
}

void paint_rows(const Painter& p, const HeroParts& parts, const Tables& tables, const Inputs& in,
                const Picture& picture, const PoolFrame& frame, std::int32_t followed, float pulled) {
  const auto& t = theme();
  const std::int64_t prompt = picture.run->demand.requests[static_cast<std::size_t>(followed)].prompt_tokens;
  for (std::int64_t line = 0; line < tables.shown; ++line) {
    const std::int64_t row = tables.row_of(line);
    if (row < 0) {
      Line words;
      words.add_integer(tables.rows - tables.shown + 1).add(" more");
      const Rect r = tables.place(line, 0, 0, 0);
      p.text({r.min.x + t.px(5), r.min.y}, words.view(), t.muted, Type::small);
      continue;
    }
    for (std::size_t k = 0; k < tables.count;) {
      const std::int32_t block = tables.block(frame, k, row);
      std::size_t last = k;
      while (block >= 0 && last + 1 < tables.count && tables.block(frame, last + 1, row) == block) ++last;
      if (block >= 0) {
        const Rect r = tables.place(line, k, last, pulled);
        if (k == 0 && !picture.run->cells)
          paint_table_thread(p, {r.min.x, (r.min.y + r.max.y) / 2}, parts.paged.area.max.x + t.px(4),
                             parts.paged.centre(block * in.block_tokens), widgets::with_alpha(t.text, 0.4f));
        paint_entry(p, tables, in, r, row, k, last, block);
      }
      k = last + 1;
    }
    paint_copy(p, tables, frame, line, row, prompt, in.block_tokens, pulled);
  }
}

/// Answers pulled apart by the hand: the moment goes on to the copy that parts them, and back where they are pushed
/// together.
void take_pull(const Tables& tables, const Picture& picture, View& view) {
  const auto& t = theme();
  const float step = tables.column_px + tables.gap_px;
  ImGui::SetCursorScreenPos({tables.area.min.x + step, tables.area.min.y});
  widgets::press_area("answers after the first",
                      {tables.area.max.x - tables.area.min.x - step, std::max(1.0f, tables.area.height())});
  if (ImGui::IsItemActive() && ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    const float dx = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0).x;
    view.pulled = static_cast<double>(std::clamp(dx, 0.0f, t.px(20)));
    if (dx > t.px(12)) view.at_s = picture.split_s;
    if (dx < -t.px(12)) view.at_s = picture.before_split_s;
    if (std::abs(dx) > t.px(12)) view.playback.playing = false;
  } else {
    view.pulled = 0;
  }
  if (ImGui::IsItemHovered() && !ImGui::IsItemActive())
    widgets::tip("answers of one prompt", {}, "drag to the right: the next token splits the block that they share");
}

}  // namespace

void draw_tables(const HeroParts& parts, const Inputs& in, const Picture& picture, View& view, const PoolFrame& frame,
                 std::int32_t followed) {
  const auto& t = theme();
  if (parts.tables.width() < t.px(60) || followed < 0) return;
  const float line = t.type(Type::small) + t.px(5), x = parts.tables.min.x;
  float y = parts.tables.min.y;
  const Painter p = Painter::window();
  widgets::fit_text(p, {x, y}, picture.tables_words, parts.tables.width(), t.text, Type::body, Font::bold);
  y += t.type(Type::body) + t.px(5);
  const models::PagedRequest& r = picture.run->demand.requests[static_cast<std::size_t>(followed)];
  Line who, prompt;
  who.add("request ").add_integer(followed + 1).add(", prompt of ").add_integer(r.prompt_tokens).add(" tokens");
  widgets::fit_text(p, {x, y}, who.view(), parts.tables.width(), t.muted, Type::small);
  y += line + t.px(2);
  const Tables tables = tables_of(frame, followed, {{x, y}, parts.tables.max});
  if (tables.count == 0) return;
  paint_rows(p, parts, tables, in, picture, frame, followed, static_cast<float>(view.pulled));
  if (tables.count > 1 && followed == picture.split_request) take_pull(tables, picture, view);
}

}  // namespace chapters::serving::paged_kv
