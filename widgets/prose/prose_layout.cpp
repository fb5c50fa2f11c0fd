#include "widgets/prose/prose_layout.h"

#include <algorithm>
#include <cmath>

#include "widgets/prose/prose_flow.h"

namespace widgets {
namespace {

constexpr std::uint32_t max_indent = 8, max_quotes = 6;  // deeper nesting is drawn at this depth

class Page {
 public:
  Page(const ProseDoc& doc, float width) : d_(doc), flow_(doc, out_), width_(width), body_(theme().type(Type::body)) {}

  ProseLayout run() {
    float y = 0;
    for (std::size_t i = 0; i < d_.blocks.size(); ++i) {
      const ProseBlock& block = d_.blocks[i];
      const float before = i == 0 ? 0 : gap(d_.blocks[i - 1], block);
      const std::uint32_t quotes = std::min(block.quotes, max_quotes);
      const float step = 1.6f * body_, narrowest = std::min(width_, 6.0f * body_);
      float left =
          static_cast<float>(quotes) * 1.0f * body_ + static_cast<float>(std::min(block.indent, max_indent)) * step;
      left = std::min(left, width_ - narrowest);
      const float top = y + before;
      out_.blocks.push_back({top, out_.items.size(), out_.links.size()});
      y = top + place(block, {left, top}, width_ - left);
      if (!block.marker.empty()) marker(i, {left, top});
      for (std::uint32_t q = 0; q < quotes; ++q) {
        const bool joined = i > 0 && std::min(d_.blocks[i - 1].quotes, max_quotes) > q;
        const float from = joined ? top - before : top;
        add({.kind = ProseItem::Kind::bar,
             .at = {static_cast<float>(q) * body_, from},
             .size = {0.2f * body_, y - from}});
      }
    }
    out_.height = y;
    for (const ProseItem& item : out_.items) out_.width = std::max(out_.width, item.at.x + item.size.x);
    return std::move(out_);
  }

 private:
  const ProseDoc& d_;
  ProseLayout out_;
  ProseFlow flow_;
  float width_, body_;

  void add(const ProseItem& item) { out_.items.push_back(item); }

  float gap(const ProseBlock& last, const ProseBlock& here) const {
    if (here.kind == ProseBlock::Kind::heading) return (here.level <= 2 ? 1.3f : 1.0f) * body_;
    if (last.kind == ProseBlock::Kind::heading) return 0.4f * body_;
    return here.tight && last.indent > 0 ? 0.2f * body_ : 0.75f * body_;
  }

  float place(const ProseBlock& block, ImVec2 at, float width) {
    switch (block.kind) {
      case ProseBlock::Kind::paragraph:
        return flow_.place(block.first_run, block.run_end, at, {.width = width}).height;
      case ProseBlock::Kind::heading: {
        const FlowStyle style{
            .width = width,
            .type = block.level == 1 ? Type::title : Type::body,
            .bold = true,
            .muted = block.level > 2,
        };
        return flow_.place(block.first_run, block.run_end, at, style).height;
      }
      case ProseBlock::Kind::rule:
        add({.kind = ProseItem::Kind::rule,
             .at = {at.x, at.y + 0.5f * body_},
             .size = {width, std::max(1.0f, theme().px(1))}});
        return body_;
      case ProseBlock::Kind::code:
        return code(block, at, width);
      case ProseBlock::Kind::table:
        return table(block, at, width);
    }
    return 0;
  }

  void marker(std::size_t index, ImVec2 at) {
    const ProseBlock& block = d_.blocks[index];
    const float right = at.x - 0.5f * body_, width = text_size(block.marker).x;
    add({
        .kind = ProseItem::Kind::marker,
        .muted = true,
        .at = {std::max(0.0f, right - width), at.y + ProseFlow::leading(Type::body) / 2},
        .size = {width, body_},
        .index = static_cast<std::uint32_t>(index),
    });
  }

  /// Code keeps its lines: they are cut at the edge of the card by its clip when painted, never wrapped.
  float code(const ProseBlock& block, ImVec2 at, float width) {
    const float pad = 0.7f * body_, line_height = 1.35f * theme().type(Type::small);
    const std::size_t card = out_.items.size();
    add({.kind = ProseItem::Kind::card, .at = at, .size = {}});
    float y = at.y + pad;
    const std::uint32_t begin = block.first_run < block.run_end ? d_.runs[block.first_run].begin : 0;
    const std::uint32_t end = block.first_run < block.run_end ? d_.runs[block.run_end - 1].end : 0;
    for (std::uint32_t from = begin; from < end;) {
      const std::size_t newline = d_.text.find('\n', from);
      const std::uint32_t to = newline < end ? static_cast<std::uint32_t>(newline) : end;
      if (to > from) {
        // A long line continues below, so that nothing is hidden and nothing overlaps.
        std::uint32_t piece = from;
        while (piece < to) {
          const std::uint32_t fits = flow_.fitting(piece, to, width - 2 * pad, Type::small, Font::mono);
          const float w = text_size(d_.shown(piece, fits), Type::small, Font::mono).x;
          add({
              .type = Type::small,
              .font = Font::mono,
              .at = {at.x + pad, y},
              .size = {w, theme().type(Type::small)},
              .begin = piece,
              .end = fits,
          });
          piece = fits;
          if (piece < to) y += line_height;
        }
      }
      y += line_height;
      from = to + 1;
    }
    const float height = y - at.y + pad;
    out_.items[card].size = {width, height};
    return height;
  }

  float table(const ProseBlock& block, ImVec2 at, float width) {
    const std::uint32_t columns = block.columns;
    if (columns == 0 || block.cell_end <= block.first_cell) return 0;
    const float pad = 0.6f * body_;
    std::vector<float> natural(columns, body_), least(columns, body_), widths(columns);
    for (std::uint32_t c = block.first_cell; c < block.cell_end; ++c) {
      const FlowSize size = flow_.measure(d_.cells[c].first_run, d_.cells[c].run_end);
      const std::uint32_t column = (c - block.first_cell) % columns;
      natural[column] = std::max(natural[column], size.width);
      least[column] = std::max(least[column], size.longest_word);
    }
    share(natural, least, widths, width - pad * static_cast<float>(2 * columns));
    float total = 0;
    for (const float w : widths) total += w + 2 * pad;
    float y = at.y;
    for (std::uint32_t row = block.first_cell; row + columns <= block.cell_end; row += columns) {
      float x = at.x, height = 0;
      const std::size_t card = out_.items.size();
      if (row == block.first_cell) add({.kind = ProseItem::Kind::card, .at = {at.x, y}, .size = {}});
      for (std::uint32_t k = 0; k < columns; ++k) {
        const ProseCell& cell = d_.cells[row + k];
        const FlowStyle style{.width = widths[k], .align = cell.align};
        height = std::max(height, flow_.place(cell.first_run, cell.run_end, {x + pad, y + 0.2f * body_}, style).height);
        x += widths[k] + 2 * pad;
      }
      height = std::max(height, ProseFlow::line_height(Type::body)) + 0.4f * body_;
      if (row == block.first_cell) out_.items[card].size = {total, height};
      y += height;
      add({.kind = ProseItem::Kind::rule, .at = {at.x, y - 1}, .size = {total, std::max(1.0f, theme().px(1))}});
    }
    return y - at.y;
  }

  /// Column widths: a column keeps its natural width while that is under an even share of the room left; the wide ones
  /// share the rest evenly. With less room than the longest words ask for, all shrink alike.
  static void share(const std::vector<float>& natural, const std::vector<float>& least, std::vector<float>& widths,
                    float room) {
    float least_sum = 0;
    for (const float w : least) least_sum += w;
    room = std::max(room, 1.0f);
    if (least_sum >= room) {
      for (std::size_t i = 0; i < least.size(); ++i) widths[i] = least[i] * room / least_sum;
      return;
    }
    std::vector<bool> settled(natural.size(), false);
    float left = room;
    std::size_t open = natural.size();
    for (bool again = true; again && open > 0;) {
      again = false;
      const float even = left / static_cast<float>(open);
      for (std::size_t i = 0; i < natural.size(); ++i) {
        const bool wide = least[i] > even;
        if (settled[i] || (natural[i] > even && !wide)) continue;
        widths[i] = wide ? least[i] : natural[i];
        settled[i] = again = true;
        left -= widths[i];
        --open;
        break;  // the even share has changed
      }
    }
    for (std::size_t i = 0; i < natural.size(); ++i)
      if (!settled[i]) widths[i] = left / static_cast<float>(open);
  }
};

}  // namespace

float prose_max_width() { return 76.0f * text_size("0").x; }

ProseLayout layout_prose(const ProseDoc& doc, float width) { return Page(doc, std::max(width, 1.0f)).run(); }

ProseLayout layout_prose_columns(const ProseDoc& doc, float width) {
  const float one = std::min(width, prose_max_width()), gap = theme().px(40);
  if (width < theme().px(1000)) return layout_prose(doc, one);
  const float column = std::min(prose_max_width(), (width - gap) / 2);
  ProseLayout laid = layout_prose(doc, column);
  constexpr float lines_worth_parting = 9;
  if (laid.height < lines_worth_parting * ProseFlow::line_height(Type::body)) return layout_prose(doc, one);
  // The part that leaves the higher of both columns lowest.
  std::size_t best = 0;
  float best_height = laid.height;
  for (std::size_t i = 1; i < laid.blocks.size(); ++i) {
    const ProseBlock &here = doc.blocks[i], &before = doc.blocks[i - 1];
    // What ends with a colon says what comes next.
    const bool leads = before.first_run < before.run_end && doc.runs[before.run_end - 1].kind == ProseRun::Kind::text &&
                       doc.shown(doc.runs[before.run_end - 1].begin, doc.runs[before.run_end - 1].end).ends_with(':');
    if (leads || before.kind == ProseBlock::Kind::heading || (here.quotes > 0 && before.quotes > 0)) continue;
    const float higher = std::max(laid.blocks[i].top, laid.height - laid.blocks[i].top);
    if (higher >= best_height) continue;
    best = i;
    best_height = higher;
  }
  if (best == 0) return layout_prose(doc, one);
  const ProseLayout::Block& part = laid.blocks[best];
  const float dx = column + gap, dy = part.top;
  for (std::size_t i = part.first_item; i < laid.items.size(); ++i) {
    laid.items[i].at.x += dx;
    laid.items[i].at.y -= dy;
  }
  for (std::size_t i = part.first_link; i < laid.links.size(); ++i) {
    laid.links[i].at.x += dx;
    laid.links[i].at.y -= dy;
  }
  for (std::size_t i = best; i < laid.blocks.size(); ++i) laid.blocks[i].top -= dy;
  laid.width = dx + column;
  laid.height = 0;
  for (const ProseItem& item : laid.items) laid.height = std::max(laid.height, item.at.y + item.size.y);
  return laid;
}

}  // namespace widgets
