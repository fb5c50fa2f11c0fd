#include "widgets/prose/prose_flow.h"

#include <algorithm>
#include <cmath>

#include "widgets/prose/prose_glue.h"

namespace widgets {
namespace {

bool white(char c) { return c == ' ' || c == '\n'; }

bool same_style(const ProseItem& a, const ProseItem& b) {
  return a.kind == ProseItem::Kind::text && b.kind == ProseItem::Kind::text && a.font == b.font && a.type == b.type &&
         a.link == b.link;
}

}  // namespace

std::uint32_t ProseFlow::fitting(std::uint32_t begin, std::uint32_t end, float width, Type type, Font font) const {
  const char* const from = d_.text.data() + begin;
  const char* rest = from;
  font_of(font)->CalcTextSizeA(theme().type(type), std::max(width, 1.0f), 0.0f, from, d_.text.data() + end, &rest);
  auto fits = static_cast<std::uint32_t>(rest - d_.text.data());
  if (fits > begin) return fits;
  fits = begin + 1;  // not even one character fits: take it all the same, so that there is progress
  while (fits < end && (static_cast<unsigned char>(d_.text[fits]) & 0xC0) == 0x80) ++fits;
  return fits;
}

void ProseFlow::cut_text(const ProseRun& run, const FlowStyle& style, float& space) {
  ProseItem item;
  item.type = style.type;
  item.font = run.code ? Font::mono : run.bold || style.bold ? Font::bold : Font::sans;
  item.muted = style.muted;
  item.link = run.link;
  const float gap = text_size(" ", item.type, item.font).x, size = theme().type(item.type);
  for (std::uint32_t i = run.begin; i < run.end;) {
    if (white(d_.text[i])) {
      space = gap;
      ++i;
      continue;
    }
    std::uint32_t end = i;
    while (end < run.end && !white(d_.text[end])) ++end;
    item.begin = i;
    item.end = end;
    item.size = {text_size(d_.shown(i, end), item.type, item.font).x, size};
    pieces_.push_back({.item = item, .space = space, .code = run.code});
    space = 0;
    i = end;
  }
}

/// A value may be a whole command or a list: it is broken at its spaces as the words around it are.
void ProseFlow::cut_long_value(const ProseRun& run, const FlowStyle& style, float& space) {
  const std::string& now = d_.values.texts[run.index];
  ProseItem item;
  item.kind = ProseItem::Kind::value;
  item.type = style.type;
  item.font = Font::mono;
  item.index = run.index;
  item.link = run.link;
  const float gap = text_size(" ", item.type, item.font).x, size = theme().type(item.type);
  for (std::size_t i = 0; i < now.size();) {
    if (white(now[i])) {
      space = gap;
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < now.size() && !white(now[end])) ++end;
    item.begin = static_cast<std::uint32_t>(i);
    item.end = static_cast<std::uint32_t>(end);
    item.size = {text_size(std::string_view(now).substr(i, end - i), item.type, item.font).x, size};
    pieces_.push_back({.item = item, .space = space, .code = run.code});
    space = 0;
    i = end;
  }
}

std::string_view ProseFlow::text_of(const Piece& piece) const {
  if (piece.item.kind == ProseItem::Kind::text) return d_.shown(piece.item.begin, piece.item.end);
  if (piece.item.kind == ProseItem::Kind::value)
    return std::string_view(d_.values.texts[piece.item.index])
        .substr(piece.item.begin, piece.item.end - piece.item.begin);
  return {};
}

/// A number stays with its unit, and a sign of relation with what stands before and after it.
void ProseFlow::glue() {
  for (std::size_t i = 1; i < pieces_.size(); ++i) {
    Piece& here = pieces_[i];
    const Piece& last = pieces_[i - 1];
    if (here.space <= 0 || here.own_line || last.own_line || here.code || last.code) continue;
    const bool formula = here.item.kind == ProseItem::Kind::formula;
    const std::string_view a = text_of(last), b = text_of(here);
    if (prose_relation(a))
      here.glued = formula || here.item.kind == ProseItem::Kind::value || prose_number(b) || b.size() <= 6;
    else if (prose_relation(b))
      here.glued = last.item.kind != ProseItem::Kind::text || a.size() <= 6;
    else
      here.glued = prose_ends_in_digit(a) && prose_unit(b);
  }
}

ProseFlow::Piece ProseFlow::formula_piece(const ProseRun& run, const FlowStyle& style) {
  const ProseFormula& f = d_.formulas[run.index];
  Piece piece;
  piece.item.type = style.type;
  piece.item.link = run.link;
  if (!f.formula.error.empty()) {  // shown as written, in the colour of a warning
    piece.item.kind = ProseItem::Kind::unknown;
    piece.item.font = Font::mono;
    piece.item.begin = f.begin;
    piece.item.end = f.end;
    piece.item.size = {text_size(d_.shown(f.begin, f.end), style.type, Font::mono).x, theme().type(style.type)};
    return piece;
  }
  FormulaLayout laid = layout_formula(f.formula, {.type = style.type, .display = f.display, .max_width = style.width});
  piece.item.kind = ProseItem::Kind::formula;
  piece.item.index = static_cast<std::uint32_t>(out_.formulas.size());
  piece.item.size = {laid.width, laid.ascent + laid.descent};
  piece.ascent = laid.ascent;
  piece.descent = laid.descent;
  piece.own_line = f.display;
  out_.formulas.push_back(std::move(laid));
  return piece;
}

void ProseFlow::cut(std::uint32_t first_run, std::uint32_t run_end, const FlowStyle& style) {
  pieces_.clear();
  float space = 0;
  bool new_line = false;
  for (std::uint32_t r = first_run; r < run_end; ++r) {
    const ProseRun& run = d_.runs[r];
    const std::size_t before = pieces_.size();
    switch (run.kind) {
      case ProseRun::Kind::line_break:
        new_line = true;
        continue;
      case ProseRun::Kind::text:
        cut_text(run, style, space);
        break;
      case ProseRun::Kind::formula:
        pieces_.push_back(formula_piece(run, style));
        pieces_.back().space = space;
        space = 0;
        break;
      case ProseRun::Kind::value: {
        Piece piece;
        const std::string& now = d_.values.texts[run.index];
        const bool sentence =
            now.find(' ') != now.rfind(' ') && text_size(now, style.type, Font::mono).x > 0.5f * style.width;
        if ((run.code && !now.empty()) || sentence) {
          cut_long_value(run, style, space);
          break;
        }
        piece.item.kind = now.empty() ? ProseItem::Kind::unknown : ProseItem::Kind::value;
        piece.item.type = style.type;
        piece.item.font = Font::mono;
        piece.item.index = run.index;
        piece.item.link = run.link;
        piece.item.end = static_cast<std::uint32_t>(now.size());
        const float width = now.empty() ? text_size(d_.values.keys[run.index], style.type, Font::mono).x +
                                              text_size("{}", style.type, Font::mono).x
                                        : text_size(now, style.type, Font::mono).x;
        piece.item.size = {width, theme().type(style.type)};
        piece.space = space;
        space = 0;
        pieces_.push_back(piece);
        break;
      }
    }
    if (new_line && pieces_.size() > before) {
      pieces_[before].new_line = true;
      new_line = false;
    }
  }
  glue();
}

/// Splits words that are wider than a whole line between characters.
void ProseFlow::break_wide(float width) {
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    Piece& piece = pieces_[i];
    if (piece.item.kind != ProseItem::Kind::text || piece.item.size.x <= width) continue;
    const std::uint32_t at = fitting(piece.item.begin, piece.item.end, width, piece.item.type, piece.item.font);
    if (at >= piece.item.end) continue;
    Piece rest = piece;
    rest.item.begin = piece.item.end = at;
    rest.new_line = true;
    rest.space = 0;
    piece.item.size.x = text_size(d_.shown(piece.item.begin, at), piece.item.type, piece.item.font).x;
    rest.item.size.x -= piece.item.size.x;  // advances add up; measuring the rest anew would be quadratic
    pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(i) + 1, rest);
  }
}

FlowSize ProseFlow::place(std::uint32_t first_run, std::uint32_t run_end, ImVec2 at, const FlowStyle& style) {
  cut(first_run, run_end, style);
  break_wide(style.width);
  FlowSize size;
  float y = at.y, pen = 0;
  std::size_t line_first = 0;
  for (std::size_t i = 0; i < pieces_.size();) {
    // A word is a piece and all that stands against it: "(" + value + ")" must not be torn apart.
    std::size_t end = i + 1;
    float word = pieces_[i].item.size.x;
    while (end < pieces_.size() && (pieces_[end].space <= 0 || pieces_[end].glued) && !pieces_[end].new_line &&
           !pieces_[end].own_line && !pieces_[end - 1].own_line) {
      word += pieces_[end].space + pieces_[end].item.size.x;
      ++end;
    }
    if (word > style.width) {
      end = i + 1;  // too wide together: a tear is better than running over the edge
      word = pieces_[i].item.size.x;
    }
    size.longest_word = std::max(size.longest_word, word);
    const float space = i > line_first ? pieces_[i].space : 0;
    const bool alone = pieces_[i].own_line || (i > line_first && pieces_[i - 1].own_line);
    if (i > line_first && (alone || pieces_[i].new_line || pen + space + word > style.width)) {
      y += line(line_first, i, {at.x, y}, style, size);
      line_first = i;
      pen = word;
    } else {
      pen += space + word;
    }
    i = end;
  }
  if (line_first < pieces_.size()) y += line(line_first, pieces_.size(), {at.x, y}, style, size);
  size.height = y - at.y;
  return size;
}

float ProseFlow::line(std::size_t first, std::size_t end, ImVec2 at, const FlowStyle& style, FlowSize& size) {
  const float type = theme().type(style.type), half = leading(style.type) / 2, air = 0.15f * type;
  float width = 0, ascent = half + baseline_of(style.type), descent = half + type - baseline_of(style.type);
  for (std::size_t i = first; i < end; ++i) {
    const Piece& piece = pieces_[i];
    width += (i > first ? piece.space : 0) + piece.item.size.x;
    if (piece.item.kind != ProseItem::Kind::formula) continue;
    const float extra = piece.own_line ? 0.5f * type : air;
    ascent = std::max(ascent, piece.ascent + extra);
    descent = std::max(descent, piece.descent + extra);
  }
  size.width = std::max(size.width, width);
  std::size_t chip_at = 0;  // of the code that the line ends with so far
  float x = at.x;
  if (pieces_[first].own_line)
    x += std::max(0.0f, std::min(1.6f * type, style.width - width));
  else if (style.align == Align::right)
    x += std::max(0.0f, style.width - width);
  else if (style.align == Align::center)
    x += std::max(0.0f, (style.width - width) / 2);
  for (std::size_t i = first; i < end; ++i) {
    Piece& piece = pieces_[i];
    const float space = i > first ? piece.space : 0;
    x += space;
    ProseItem item = piece.item;
    const float rise = item.kind == ProseItem::Kind::formula ? piece.ascent : baseline_of(item.type, item.font);
    item.at = {x, at.y + ascent - rise};
    if (piece.code) {
      ProseItem chip{.kind = ProseItem::Kind::card,
                     .at = {x - 0.15f * type, at.y + ascent - 0.85f * type},
                     .size = {item.size.x + 0.3f * type, 1.15f * type}};
      if (i > first && pieces_[i - 1].code) {
        ProseItem& begun = out_.items[chip_at];
        begun.size.x = x + item.size.x + 0.15f * type - begun.at.x;
      } else {
        chip_at = out_.items.size();
        out_.items.push_back(chip);
      }
    }
    if (item.link >= 0) {
      ProseLinkBox* last = out_.links.empty() ? nullptr : &out_.links.back();
      if (last && i > first && last->link == item.link)
        last->size.x = x + item.size.x - last->at.x;
      else
        out_.links.push_back({{x, at.y}, {item.size.x, ascent + descent}, item.link});
    }
    // Neighbours in one style that are also neighbours in the text become one item.
    const bool continues = i > first && !out_.items.empty() && same_style(out_.items.back(), item);
    if (continues && (space <= 0 ? out_.items.back().end == item.begin : out_.items.back().end + 1 == item.begin)) {
      out_.items.back().end = item.end;
      out_.items.back().size.x = x + item.size.x - out_.items.back().at.x;
    } else {
      out_.items.push_back(item);
    }
    x += item.size.x;
  }
  return ascent + descent;
}

FlowSize ProseFlow::measure(std::uint32_t first_run, std::uint32_t run_end) {
  const std::size_t items = out_.items.size(), links = out_.links.size(), formulas = out_.formulas.size();
  const FlowSize size = place(first_run, run_end, {0, 0}, {});
  out_.items.resize(items);
  out_.links.resize(links);
  out_.formulas.resize(formulas);
  return size;
}

}  // namespace widgets
