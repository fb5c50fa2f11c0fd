#include <algorithm>
#include <cmath>
#include <string_view>

#include "chapters/training/packing/lab.h"
#include "widgets/base/guess.h"
#include "widgets/base/marks.h"
#include "widgets/base/painter.h"
#include "widgets/base/parts.h"
#include "widgets/number/number.h"

namespace chapters::training::packing {
namespace {

using widgets::Font, widgets::Painter, widgets::Rect, widgets::Type;

/// Rows of tokens under a line of words, in screen pixels.
struct RowBlock {
  ImVec2 at{};
  float width = 1, pitch = 1, height = 1;
  double row_tokens = 1;
  float x(double token) const { return at.x + width * static_cast<float>(token / row_tokens); }
  float y(double row) const { return at.y + pitch * static_cast<float>(row); }
  Rect place(double row, double from, double tokens) const {
    return {{x(from), y(row)}, {x(from + tokens), y(row) + height}};
  }
};

/// The padding to the right of the documents of a row.
void paint_row(const Painter& p, const RowBlock& block, std::size_t row, double room) {
  const auto& t = widgets::theme();
  const Rect r = block.place(static_cast<double>(row), 0, room);
  p.rect(r.min, r.max, widgets::with_alpha(t.muted, 0.30f));
}

/// All text has one hue; the documents of the row whose mask is shown stand out, in three tones as its triangles have.
ImU32 tone_of(std::uint32_t document, bool shown) {
  const float alpha = shown ? 1.0f - 0.13f * static_cast<float>(document % 3) : 0.42f;
  return widgets::with_alpha(widgets::theme().series_at(0), alpha);
}

void paint_document(const Painter& p, const Rect& r, std::uint32_t document, bool shown) {
  const auto& t = widgets::theme();
  const float gap = r.width() > t.px(3) ? 1.0f : 0.0f;
  if (shown) p.rect(r.min, {r.max.x - gap, r.max.y}, t.background);
  p.rect(r.min, {r.max.x - gap, r.max.y}, tone_of(document, shown));
}

/// Where a document is cut and goes on in the next row.
void paint_cuts(const Painter& p, const RowBlock& block, const models::Packing& packing, std::size_t placed) {
  const auto& t = widgets::theme();
  for (std::size_t i = 1; i < placed; ++i) {
    const models::PackedPiece &a = packing.pieces[i - 1], &b = packing.pieces[i];
    if (a.document != b.document || a.row == b.row) continue;
    const Rect end = block.place(a.row, a.offset + a.length, 0), begin = block.place(b.row, b.offset, 0);
    p.rect({end.min.x - t.px(1), end.min.y}, {end.min.x + t.px(3), end.max.y}, t.bad);
    p.rect({begin.min.x - t.px(3), begin.min.y}, {begin.min.x + t.px(1), begin.max.y}, t.bad);
  }
}

/// As many rows as the learner said.
void paint_guess(const Painter& p, const RowBlock& block, const Rect& area) {
  const widgets::ShownGuess* const guess = widgets::shown_guess();
  if (!guess || guess->output != "rows" || !(guess->value > 0)) return;
  const auto& t = widgets::theme();
  const float wanted = block.y(guess->value) - (block.pitch - block.height) / 2, y = std::min(wanted, area.max.y);
  p.dashed_line({block.at.x - t.px(6), y}, {block.at.x + block.width + t.px(6), y}, t.accent, t.px(2), t.px(5));
  const widgets::Line words = widgets::guess_words(widgets::format(guess->value, "", 9), y < wanted);
  const float high = t.type(Type::small) + t.px(4);
  widgets::paint_guess_words(p, {block.at.x + t.px(6), y + high > area.max.y ? y - high : y + t.px(4)}, words.view());
}

/// A line after the rows that the best packing of whole documents needs.
void paint_optimum(const Painter& p, const RowBlock& block, double rows) {
  const auto& t = widgets::theme();
  const float y = block.y(rows) - (block.pitch - block.height) / 2;
  p.dashed_line({block.at.x - t.px(6), y}, {block.at.x + block.width + t.px(6), y}, t.accent, t.px(2), t.px(5));
  widgets::Line words;
  words.add(widgets::format(rows, "", 9)).add(rows == 1 ? " row would do" : " rows would do");
  const ImVec2 size = widgets::text_size(words.view(), Type::small);
  if (block.height < size.y + t.px(4) || size.x + t.px(12) > block.width) return;
  p.text({block.at.x + block.width - size.x - t.px(6), y + (block.pitch - size.y) / 2}, words.view(), t.text,
         Type::small);
}

void paint_head(const Painter& p, const RowBlock& block, std::string_view name, std::string_view words) {
  const auto& t = widgets::theme();
  const float y = block.at.y - t.type(Type::small) * 2 - t.px(9);
  widgets::fit_text(p, {block.at.x, y}, name, block.width, t.text, Type::small, Font::bold);
  widgets::fit_text(p, {block.at.x, y + t.type(Type::small) + t.px(3)}, words, block.width, t.muted, Type::small);
}

/// Rows that padding has and the packing does not.
void paint_saved(const Painter& p, const RowBlock& block, std::size_t rows, std::size_t padded_rows) {
  const auto& t = widgets::theme();
  if (rows >= padded_rows) return;
  const float top = block.y(static_cast<double>(rows)) + t.px(3),
              bottom = block.y(static_cast<double>(padded_rows)) - (block.pitch - block.height);
  if (bottom - top < t.px(10)) return;
  const ImVec2 corners[] = {{block.at.x, top},
                            {block.at.x + block.width, top},
                            {block.at.x + block.width, bottom},
                            {block.at.x, bottom},
                            {block.at.x, top}};
  p.dashed_polyline(corners, t.line, 1, t.px(4));
  widgets::Line words;
  words.add(widgets::format(static_cast<double>(padded_rows - rows), "", 9))
      .add(padded_rows - rows == 1 ? " row fewer to compute" : " rows fewer to compute");
  const ImVec2 size = widgets::text_size(words.view(), Type::small);
  if (bottom - top > size.y + t.px(6) && size.x < block.width)
    p.text({block.at.x + block.width / 2, (top + bottom - size.y) / 2}, words.view(), t.muted, Type::small, Font::sans,
           widgets::Align::center);
}

struct BatchPlan {
  RowBlock padded, packed;
};

BatchPlan plan_of(const Inputs& in, const Run& run, Rect area) {
  const auto& t = widgets::theme();
  const float head = t.type(Type::small) * 2 + t.px(12), gap = t.px(28);
  const float rows = static_cast<float>(std::max<std::size_t>(1, run.padded.row_room.size()));
  BatchPlan plan;
  plan.padded.width = plan.packed.width = std::max(1.0f, (area.width() - gap) / 2);
  plan.padded.pitch = plan.packed.pitch = std::min(t.px(44), (area.height() - head) / rows);
  const float pitch = plan.padded.pitch;
  plan.padded.height = plan.packed.height = pitch > t.px(4) ? pitch - t.px(1.5f) : pitch;
  plan.padded.at = {area.min.x, area.min.y + head};
  plan.packed.at = {area.min.x + plan.padded.width + gap, area.min.y + head};
  plan.padded.row_tokens = plan.packed.row_tokens = static_cast<double>(in.sequence);
  return plan;
}

void show_tip(const Picture& picture, const BatchPlan& plan) {
  const Run& run = *picture.run;
  const ImVec2 mouse = ImGui::GetMousePos();
  for (const bool packed : {false, true}) {
    const RowBlock& block = packed ? plan.packed : plan.padded;
    const auto row = static_cast<std::int64_t>(std::floor((mouse.y - block.at.y) / block.pitch));
    const double token = static_cast<double>((mouse.x - block.at.x) / block.width) * block.row_tokens;
    if (row < 0 || token < 0 || token >= block.row_tokens) continue;
    const models::Packing& packing = packed ? run.packing : run.padded;
    if (row >= static_cast<std::int64_t>(packing.row_room.size())) continue;
    const auto r = static_cast<std::size_t>(row);
    widgets::Line name, value;
    for (const models::PackedPiece& piece : packing.pieces)
      if (piece.row == r && token >= piece.offset && token < piece.offset + piece.length) {
        name.add("document ").add_integer(piece.document + 1);
        value.add(widgets::format(piece.length, "tokens", 5));
        break;
      }
    if (name.length == 0) {
      name.add(token < packing.row_room[r] ? "padding" : "not computed");
      value.add("row ").add_integer(row + 1);
    }
    widgets::tip(name.view(), value.view(),
                 packed ? std::string_view(picture.row_words[r]) : "a row for each document");
    return;
  }
}

/// What a question gives: a row for each document, as long as a row is. What lies in them is asked.
void paint_given_rows(const BatchPlan& plan, const models::Packing& padded) {
  const widgets::GivenMarks given;
  const Painter on_veil = Painter::window();  // one made before it records nothing
  paint_head(on_veil, plan.padded, "Padding: a row for each document", "");
  for (std::size_t r = 0; r < padded.row_room.size(); ++r) {
    const Rect row = plan.padded.place(static_cast<double>(r), 0, padded.row_room[r]);
    on_veil.frame(row.min, row.max, widgets::theme().muted, 1);
  }
}

void paint_heads(const Painter& p, const BatchPlan& plan, const Outputs& out, const Picture& picture) {
  widgets::Line padded;
  padded.add(widgets::format(static_cast<double>(out.padded_rows), "", 9))
      .add(out.padded_rows == 1 ? " row, " : " rows, ")
      .add(widgets::format(out.padded_useful_share, "%"))
      .add(" useful; grey is padding");
  paint_head(p, plan.padded, "Padding: a row for each document", padded.view());
  paint_head(p, plan.packed, picture.policy_name, picture.packed_words);
}

/// The rows of both, the documents of the padded one, and the first `placed` pieces of the packing. What has moved
/// stays at the left, so that both rectangles compare at the end.
void paint_documents(const Painter& p, const BatchPlan& plan, const Picture& picture, std::size_t row,
                     std::size_t placed) {
  const Run& run = *picture.run;
  for (std::size_t r = 0; r < run.padded.row_room.size(); ++r) paint_row(p, plan.padded, r, run.padded.row_room[r]);
  for (std::size_t r = 0; r < run.packing.row_room.size(); ++r) paint_row(p, plan.packed, r, run.packing.row_room[r]);
  for (const models::PackedPiece& d : run.padded.pieces)
    paint_document(p, plan.padded.place(d.row, 0, d.length), d.document, false);
  for (const std::uint32_t i : picture.by_row[row]) {
    const std::uint32_t d = run.packing.pieces[i].document;  // its row of the padded batch has the same number
    paint_document(p, plan.padded.place(d, 0, run.lengths[d]), d, true);
  }
  for (std::size_t i = 0; i < placed; ++i) {
    const models::PackedPiece& d = run.packing.pieces[i];
    paint_document(p, plan.packed.place(d.row, d.offset, d.length), d.document, d.row == row);
  }
  paint_cuts(p, plan.packed, run.packing, placed);
}

/// The piece that is on its way, at `share` of it.
void paint_moving(const Painter& p, const BatchPlan& plan, const models::PackedPiece& d, float share) {
  const Rect from = plan.padded.place(d.document, 0, d.length), to = plan.packed.place(d.row, d.offset, d.length);
  const ImVec2 at{from.min.x + (to.min.x - from.min.x) * share, from.min.y + (to.min.y - from.min.y) * share};
  paint_document(p, {at, {at.x + from.width(), at.y + from.height()}}, d.document, true);
}

/// A click on a row of the packing shows its mask.
void choose_row(const BatchPlan& plan, const Outputs& out, View& view) {
  const ImVec2 mouse = ImGui::GetMousePos();
  const auto hit = static_cast<std::int64_t>(std::floor((mouse.y - plan.packed.at.y) / plan.packed.pitch));
  if (mouse.x >= plan.packed.at.x && hit >= 0 && hit < out.rows) view.row = std::min<std::int64_t>(hit + 1, 4096);
}

void keep_packing(const models::Packing& packing, widgets::Record& record) {
  widgets::DataTable table{"packing", {"document", "row", "offset", "tokens"}, {}};
  for (const models::PackedPiece& d : packing.pieces)
    table.rows.push_back({std::to_string(d.document + 1), std::to_string(d.row + 1), std::to_string(d.offset),
                          std::to_string(d.length)});
  record.tables.push_back(std::move(table));
}

}  // namespace

void draw_batch(const Inputs& in, const Outputs& out, const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const Rect area = widgets::canvas("batch", size, {16, 16});
  const bool hovered = ImGui::IsItemHovered(), clicked = ImGui::IsItemClicked();
  const Painter p = Painter::window();
  const Run& run = *picture.run;
  const BatchPlan plan = plan_of(in, run, area);
  const auto pieces = static_cast<double>(run.packing.pieces.size());
  const double placed = std::clamp(view.placed, 0.0, pieces);
  const auto whole = static_cast<std::size_t>(placed);

  if (widgets::veiled()) return paint_given_rows(plan, run.padded);
  const std::size_t row = shown_row(picture, view);
  paint_heads(p, plan, out, picture);
  paint_documents(p, plan, picture, row, whole);
  widgets::drew("rows");
  if (whole < run.packing.pieces.size()) {
    paint_moving(p, plan, run.packing.pieces[whole], static_cast<float>(placed - static_cast<double>(whole)));
  } else {
    paint_saved(p, plan.packed, run.packing.row_room.size(), run.padded.row_room.size());
    if (picture.shows_optimum) paint_optimum(p, plan.packed, out.optimum_rows);
  }
  paint_guess(p, plan.packed, area);
  if (plan.packed.pitch > t.px(5)) {
    const Rect r = plan.packed.place(static_cast<double>(row), 0, static_cast<double>(in.sequence));
    p.frame({r.min.x - t.px(2), r.min.y - t.px(1)}, {r.max.x + t.px(2), r.max.y + t.px(1)}, t.accent, t.px(1.5f));
  }
  if (clicked) choose_row(plan, out, view);
  if (hovered) show_tip(picture, plan);
  if (widgets::Record* record = p.record()) keep_packing(run.packing, *record);
}

void draw_mask(const Inputs& in, const Picture& picture, const View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const Rect area = widgets::canvas("mask", size, {16, 16});
  if (picture.by_row.empty()) return;
  const Run& run = *picture.run;
  const Painter p = Painter::window();
  const float line = t.type(Type::small), head = 2 * line + t.px(12);
  const std::size_t row = shown_row(picture, view);
  const double room = run.packing.row_room[row];
  const float side = std::min(area.width(), area.height() - head - line - t.px(8));
  if (side < t.px(40)) return;
  const ImVec2 at{area.min.x, area.min.y + head};
  widgets::Line name;
  name.add("Who attends to whom, row ").add_integer(static_cast<std::int64_t>(row) + 1);
  const float y = at.y - line * 2 - t.px(9);
  widgets::fit_text(p, {at.x, y}, name.view(), area.width(), t.text, Type::small, Font::bold);
  const auto px = [&](double token) { return side * static_cast<float>(token / room); };
  p.rect(at, {at.x + side, at.y + side}, widgets::with_alpha(t.muted, 0.12f));
  // Without a mask a row is one triangle; what lies between documents is hatched.
  const bool masked = in.document_mask && in.policy >= models::PackingPolicy::next_fit;
  const double used = picture.row_tokens[row];
  const double all = masked ? used : room;
  if (!masked) {
    const ImVec2 whole[] = {at, {at.x + px(all), at.y + px(all)}, {at.x, at.y + px(all)}};
    p.polygon(whole, widgets::with_alpha(t.warning, 0.55f));
  } else {
    const ImVec2 whole[] = {at, {at.x + px(used), at.y + px(used)}, {at.x, at.y + px(used)}};
    p.polygon(whole, widgets::with_alpha(t.muted, 0.22f));
  }
  for (const std::uint32_t i : picture.by_row[row]) {
    const models::PackedPiece& d = run.packing.pieces[i];
    const float from = px(d.offset), to = px(d.offset + d.length);
    const ImVec2 own[] = {{at.x + from, at.y + from}, {at.x + to, at.y + to}, {at.x + from, at.y + to}};
    p.polygon(own, tone_of(d.document, true));
  }
  p.frame(at, {at.x + side, at.y + side}, t.line, 1);
  widgets::drew("mask");
  widgets::Line words;
  words.add(widgets::format(picture.row_pairs[row], "%")).add(" of its pairs are in documents");
  widgets::fit_text(p, {at.x, y + line + t.px(3)}, words.view(), area.width(), t.muted, Type::small);
  widgets::fit_text(
      p, {at.x, at.y + side + t.px(5)},
      masked ? std::string_view("grey: other documents, skipped") : std::string_view("the rest: computed for nothing"),
      area.width(), t.muted, Type::small);
  // In one line where that has room, else in two.
  float below = at.y + side + t.px(5) + line + t.px(4);
  const auto say = [&](std::string_view said) {
    if (below + line <= area.max.y) widgets::fit_text(p, {area.min.x, below}, said, area.width(), t.muted, Type::small);
    below += line + t.px(4);
  };
  constexpr std::string_view both = "down: the token that reads; across: what it reads";
  if (widgets::text_size(both, Type::small).x <= area.width()) {
    say(both);
    return;
  }
  say("down: the token that reads");
  say("across: what it reads");
}

}  // namespace chapters::training::packing
