#include "widgets/stage/sentence.h"

#include <algorithm>

#include "widgets/base/lit_figure.h"

namespace widgets {
namespace {

/// Walks the words of a sentence: a word is what stands between spaces, with its figures and words in pieces.
struct SentenceWalk {
  std::string_view rest;
  bool figure = false;

  bool done() const { return rest.empty(); }
  /// The next piece of one kind within the word; `ends_word` says that a space or the end follows it.
  std::string_view piece(bool& is_figure, bool& ends_word) {
    while (!rest.empty() && rest.front() == '`') {
      figure = !figure;
      rest.remove_prefix(1);
    }
    is_figure = figure;
    const std::size_t end = std::min(rest.find_first_of(figure ? "`" : "` "), rest.size());
    const std::string_view out = rest.substr(0, end);
    rest.remove_prefix(end);
    std::size_t after = 0;
    while (after < rest.size() && rest[after] == '`') ++after;
    ends_word = after == rest.size() || rest[after] == ' ';
    if (ends_word) {
      while (!rest.empty() && (rest.front() == '`' || rest.front() == ' ')) {
        if (rest.front() == '`') figure = !figure;
        rest.remove_prefix(1);
        if (figure) break;  // the next figure begins
      }
    }
    return out;
  }
};

Font font_for(const SentenceStyle& style, bool figure) { return figure ? Font::mono : style.font; }

/// Width of the word that begins here.
float word_width(SentenceWalk walk, const SentenceStyle& style) {
  float width = 0;
  for (bool ends = false; !ends && !walk.done();) {
    bool figure = false;
    const std::string_view piece = walk.piece(figure, ends);
    width += text_size(piece, style.type, font_for(style, figure)).x;
    if (piece.empty()) break;
  }
  return width;
}

/// Words of one kind that follow each other in a line, drawn as one text.
struct SentenceRun {
  std::string_view words;
  float x = 0;
  bool figure = false;
};

/// A figure of the sentence that the pointer rests on is underlined, and lit in the picture.
void light_when_pointed_at(const Painter& painter, ImVec2 min, ImVec2 max, std::string_view figure,
                           const SentenceStyle& style) {
  if (!ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(min, max)) return;
  light_figure({}, {&figure, 1});
  const float y = max.y + theme().px(2);
  painter.line({min.x, y}, {max.x, y}, style.figure_colour, theme().px(1.5f));
}

int walk_sentence(const Painter* painter, ImVec2 at, std::string_view text, float width, const SentenceStyle& style) {
  const Theme& t = theme();
  const float space = text_size(" ", style.type, style.font).x, line = t.type(style.type) * 1.35f;
  SentenceWalk walk{text};
  SentenceRun run;
  float x = 0;
  int lines = text.empty() ? 0 : 1;
  const auto flush = [&] {
    const ImVec2 from{at.x + run.x, at.y + static_cast<float>(lines - 1) * line};
    if (painter && !run.words.empty()) {
      const float end = from.x + painter->text(from, run.words, run.figure ? style.figure_colour : style.colour,
                                               style.type, font_for(style, run.figure));
      if (run.figure) light_when_pointed_at(*painter, from, {end, from.y + t.type(style.type)}, run.words, style);
    }
    run.words = {};
  };
  while (!walk.done()) {
    const float word = word_width(walk, style);
    if (x > 0 && x + word > width) {
      flush();
      x = 0;
      ++lines;
    }
    for (bool ends = false; !ends && !walk.done();) {
      bool figure = false;
      const std::string_view piece = walk.piece(figure, ends);
      if (piece.empty()) continue;
      // A piece goes on with the run when it follows it after one space at the most.
      const auto gap = run.words.empty() ? -1 : piece.data() - (run.words.data() + run.words.size());
      if (!run.words.empty() && run.figure == figure && gap >= 0 && gap <= 1) {
        run.words = {run.words.data(), static_cast<std::size_t>(piece.data() + piece.size() - run.words.data())};
      } else {
        flush();
        run = {piece, x, figure};
      }
      x += text_size(piece, style.type, font_for(style, figure)).x;
    }
    x += space;
  }
  flush();
  return lines;
}

}  // namespace

int sentence_lines(std::string_view text, float width, const SentenceStyle& style) {
  return walk_sentence(nullptr, {}, text, width, style);
}

float sentence_height(std::string_view text, float width, const SentenceStyle& style) {
  return static_cast<float>(sentence_lines(text, width, style)) * theme().type(style.type) * 1.35f;
}

float draw_sentence(const Painter& painter, ImVec2 at, std::string_view text, float width, const SentenceStyle& style) {
  return static_cast<float>(walk_sentence(&painter, at, text, width, style)) * theme().type(style.type) * 1.35f;
}

}  // namespace widgets
