#include "widgets/base/lit_figure.h"

#include <algorithm>
#include <array>

#include "widgets/base/figure_meaning.h"

namespace widgets {
namespace {

struct LitWords {
  std::array<char, 48> chars{};
  std::size_t length = 0;
  std::string_view view() const { return {chars.data(), length}; }
  bool take(std::string_view s) {
    length = s.size() < chars.size() ? s.copy(chars.data(), chars.size()) : 0;
    return length > 0;
  }
};

LitWords lit_key, pointed_at;
std::array<LitWords, 3> lit_as;
std::size_t lit_ways = 0;
int lit_frame = -2, lit_scopes = 0, pointed_frame = -2;

bool is_recent(int frame) {
  const int age = ImGui::GetFrameCount() - frame;
  return age == 0 || age == 1;
}
bool is_lit_now() { return is_recent(lit_frame); }

void take_lit(std::string_view output, std::span<const std::string_view> words) {
  lit_frame = ImGui::GetFrameCount();
  lit_key.take(output);
  lit_ways = 0;
  for (const std::string_view way : words)
    if (lit_ways < lit_as.size() && lit_as[lit_ways].take(way)) ++lit_ways;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) > 127;
}

}  // namespace

void light_figure(std::string_view output, std::span<const std::string_view> words) {
  take_lit(output, words);
  // An output's figure that is lit in the frame of a pointed one is the same; in a later one the pointer has moved on.
  if (!output.empty() && pointed_frame != lit_frame) pointed_frame = -2;
  if (output.empty() && !words.empty() && pointed_at.take(words.front())) pointed_frame = lit_frame;
}

void light_meanings(std::span<const FigureMeaning> meanings) {
  if (!is_recent(pointed_frame)) return;
  for (const FigureMeaning& m : meanings) {
    if (m.words != pointed_at.view()) continue;
    const std::string_view ways[] = {m.drawn.empty() ? std::string_view(m.words) : m.drawn, m.words};
    return take_lit(m.output, ways);
  }
}

bool output_lit(std::string_view output) { return !output.empty() && is_lit_now() && output == lit_key.view(); }

std::string_view lit_words() { return is_lit_now() && lit_ways > 0 ? lit_as[0].view() : std::string_view(); }

std::size_t find_figure(std::string_view text, std::string_view figure) {
  if (std::count_if(figure.begin(), figure.end(), is_digit) < 2) return std::string_view::npos;
  const bool bare = std::none_of(figure.begin(), figure.end(), is_letter) && figure.find('%') == std::string_view::npos;
  if (bare && text == figure) return 0;
  for (std::size_t at = text.find(figure); at != std::string_view::npos; at = text.find(figure, at + 1)) {
    const char before = at > 0 ? text[at - 1] : ' ';
    const std::size_t end = at + figure.size();
    const char after = end < text.size() ? text[end] : ' ', next = end + 1 < text.size() ? text[end + 1] : ' ';
    const bool begins = !is_digit(before) && before != '.' && before != ',' && !is_letter(before) && before != '-';
    if (bare && !text.substr(end).starts_with("\xC3\x97")) continue;  // of what, is not said
    const bool ends =
        bare || (!is_digit(after) && !is_letter(after) && after != '/' && !(after == '.' && is_digit(next)));
    if (begins && ends) return at;
  }
  return std::string_view::npos;
}

LitTexts::LitTexts() { ++lit_scopes; }
LitTexts::~LitTexts() { --lit_scopes; }

void paint_light(const Painter& painter, ImVec2 min, ImVec2 max) {
  const Theme& t = theme();
  const float out = t.px(3);
  painter.rect({min.x - out, min.y - out}, {max.x + out, max.y + out}, with_alpha(t.accent, 0.25f), t.px(4));
  painter.frame({min.x - out, min.y - out}, {max.x + out, max.y + out}, t.accent, t.px(1.5f), t.px(4));
}

void light_text(const Painter& painter, ImVec2 at, std::string_view text, float size_px, Font font) {
  if (lit_scopes == 0 || lit_ways == 0 || !is_lit_now()) return;
  for (std::size_t i = 0; i < lit_ways; ++i) {
    const std::string_view figure = lit_as[i].view();
    const std::size_t from = find_figure(text, figure);
    if (from == std::string_view::npos) continue;
    const float x = at.x + (from > 0 ? text_size_at(text.substr(0, from), size_px, font).x : 0.0f);
    return paint_light(painter, {x, at.y}, {x + text_size_at(figure, size_px, font).x, at.y + size_px});
  }
}

}  // namespace widgets
