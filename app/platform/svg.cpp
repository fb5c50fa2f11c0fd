#include "app/platform/svg.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "app/platform/type_metrics.h"

namespace app {
namespace {

using widgets::Stroke;

/// Pixels with two decimals and no trailing zeros, independent of the locale.
void number(std::string& out, double value) {
  std::array<char, 48> chars;
  const double rounded = std::round(value * 100.0) / 100.0;
  const auto end = std::to_chars(chars.data(), chars.data() + chars.size(), rounded == 0 ? 0.0 : rounded,
                                 std::chars_format::fixed, 2)
                       .ptr;
  std::string_view text(chars.data(), static_cast<std::size_t>(end - chars.data()));
  if (text.find('.') != std::string_view::npos) {
    text = text.substr(0, text.find_last_not_of('0') + 1);
    if (!text.empty() && text.back() == '.') text.remove_suffix(1);
  }
  out += text;
}

void attribute(std::string& out, std::string_view name, double value) {
  out += ' ';
  out += name;
  out += "=\"";
  number(out, value);
  out += '"';
}

std::uint32_t channel(ImU32 colour, int shift) { return (colour >> shift) & 0xff; }
bool seen(ImU32 colour) { return channel(colour, IM_COL32_A_SHIFT) != 0; }

/// fill="#56b4e9" fill-opacity="0.5"
void paint(std::string& out, std::string_view what, ImU32 colour) {
  out += ' ';
  out += what;
  if (!seen(colour)) {
    out += "=\"none\"";
    return;
  }
  out += "=\"#";
  for (const int shift : {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT}) {
    const std::uint32_t c = channel(colour, shift);
    out += "0123456789abcdef"[c >> 4];
    out += "0123456789abcdef"[c & 15];
  }
  out += '"';
  if (const std::uint32_t alpha = channel(colour, IM_COL32_A_SHIFT); alpha != 255)
    attribute(out, std::string(what) + "-opacity", alpha / 255.0);
}

/// Length of the well-formed UTF-8 character at the start, 0 when it is not one (Unicode 15, table 3-7).
std::size_t utf8_length(std::string_view s) {
  const auto byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned b = byte(0), c = byte(1);
  if (b < 0x80) return 1;
  if (b >= 0xC2 && b <= 0xDF) return tail(1) ? 2 : 0;
  if (b >= 0xE0 && b <= 0xEF) {
    const bool overlong = b == 0xE0 && c < 0xA0, surrogate = b == 0xED && c > 0x9F;
    const bool not_a_character = b == 0xEF && c == 0xBF && byte(2) >= 0xBE;  // U+FFFE and U+FFFF: no XML character
    return tail(1) && tail(2) && !overlong && !surrogate && !not_a_character ? 3 : 0;
  }
  if (b >= 0xF0 && b <= 0xF4) {
    const bool overlong = b == 0xF0 && c < 0x90, beyond = b == 0xF4 && c > 0x8F;
    return tail(1) && tail(2) && tail(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

void escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text.front();
    const bool control = length == 1 && static_cast<unsigned char>(c) < 0x20 && c != '\t';
    if (length == 0 || control)
      out += "\xEF\xBF\xBD";
    else if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

struct Writer {
  ImVec2 origin;
  std::string out;
  int clips = 0, open_clips = 0;

  double x(ImVec2 p) const { return static_cast<double>(p.x) - static_cast<double>(origin.x); }
  double y(ImVec2 p) const { return static_cast<double>(p.y) - static_cast<double>(origin.y); }

  void stroke_attributes(const Stroke& s) {
    paint(out, "stroke", s.stroke);
    if (!seen(s.stroke)) return;
    attribute(out, "stroke-width", static_cast<double>(s.width));
    if (s.dash > 0) attribute(out, "stroke-dasharray", static_cast<double>(s.dash));
  }

  void rect_shape(ImVec2 min, ImVec2 max, double inset, double rounding) {
    out += "<rect";
    attribute(out, "x", x(min) + inset);
    attribute(out, "y", y(min) + inset);
    attribute(out, "width", std::max(0.0, x(max) - x(min) - 2 * inset));
    attribute(out, "height", std::max(0.0, y(max) - y(min) - 2 * inset));
    if (rounding > 0) attribute(out, "rx", rounding);
  }

  void poly(const Stroke& s, std::string_view tag) {
    out += '<';
    out += tag;
    out += " points=\"";
    for (std::size_t i = 0; i < s.points.size(); ++i) {
      if (i) out += ' ';
      number(out, x(s.points[i]));
      out += ',';
      number(out, y(s.points[i]));
    }
    out += '"';
    paint(out, "fill", s.kind == Stroke::Kind::polygon ? s.fill : 0);
    stroke_attributes(s);
    if (s.kind == Stroke::Kind::polyline) out += " stroke-linejoin=\"round\"";
    out += "/>\n";
  }

  void text(const Stroke& s) {
    const bool mono = s.font == widgets::Font::mono;
    const TypeMetrics& metrics = mono ? jetbrains_mono_metrics : inter_metrics;
    const double size = static_cast<double>(s.size);
    // Dear ImGui puts the baseline on a whole pixel: the ascent, rounded up.
    double baseline = y(s.points[0]) + std::ceil(metrics.ascent_per_size * size);
    std::string_view rest = s.text;
    const bool one_line = rest.find('\n') == std::string_view::npos;
    while (true) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      if (!line.empty()) {
        out += "<text";
        attribute(out, "x", x(s.points[0]));
        attribute(out, "y", baseline);
        // The width measured on screen holds the layout together where the font is another one.
        if (one_line && s.points.size() > 1 && s.points[1].x > 0) {
          attribute(out, "textLength", static_cast<double>(s.points[1].x));
          out += " lengthAdjust=\"spacingAndGlyphs\"";
        }
        out += mono ? " font-family=\"'JetBrains Mono', 'DejaVu Sans Mono', Consolas, monospace\""
                    : " font-family=\"Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif\"";
        attribute(out, "font-size", metrics.em_per_size * size);
        if (s.font == widgets::Font::italic) out += " font-style=\"italic\"";
        if (s.font == widgets::Font::bold) out += " font-weight=\"600\"";
        paint(out, "fill", s.fill);
        if (s.rotation != 0) {
          out += " transform=\"rotate(";
          number(out, static_cast<double>(s.rotation));
          out += ' ';
          number(out, x(s.pivot));
          out += ' ';
          number(out, y(s.pivot));
          out += ")\"";
        }
        out += " xml:space=\"preserve\">";
        escaped(out, line);
        out += "</text>\n";
      }
      if (line.size() == rest.size()) return;
      rest.remove_prefix(line.size() + 1);
      baseline += size;
    }
  }

  void clip(const Stroke& s) {
    const std::string id = "c" + std::to_string(++clips);
    out += "<clipPath id=\"" + id + "\">";
    rect_shape(s.points[0], s.points[1], 0, 0);
    out += "/></clipPath><g clip-path=\"url(#" + id + ")\">\n";
    ++open_clips;
  }

  void unclip() {
    if (open_clips == 0) return;
    out += "</g>\n";
    --open_clips;
  }

  void add(const Stroke& s) {
    const std::size_t needed = s.kind == Stroke::Kind::polyline || s.kind == Stroke::Kind::rect ||
                                       s.kind == Stroke::Kind::circle || s.kind == Stroke::Kind::clip_push
                                   ? 2
                               : s.kind == Stroke::Kind::polygon ? 3
                               : s.kind == Stroke::Kind::text    ? 1
                                                                 : 0;
    bool drawable = s.points.size() >= needed;
    for (const ImVec2& p : s.points) drawable = drawable && std::isfinite(p.x) && std::isfinite(p.y);
    if (!drawable) {
      // A clip that cannot be drawn still has its end to come.
      if (s.kind == Stroke::Kind::clip_push) {
        out += "<g>\n";
        ++open_clips;
      }
      return;
    }
    switch (s.kind) {
      case Stroke::Kind::polyline:
        return poly(s, s.closed ? "polygon" : "polyline");
      case Stroke::Kind::polygon:
        return poly(s, "polygon");
      case Stroke::Kind::rect:
        // Dear ImGui draws a frame along the centres of its outermost pixels.
        rect_shape(s.points[0], s.points[1], seen(s.stroke) ? 0.5 : 0.0, static_cast<double>(s.rounding));
        paint(out, "fill", s.fill);
        stroke_attributes(s);
        out += "/>\n";
        return;
      case Stroke::Kind::circle:
        out += "<circle";
        attribute(out, "cx", x(s.points[0]));
        attribute(out, "cy", y(s.points[0]));
        attribute(out, "r", std::max(0.0, static_cast<double>(s.points[1].x) - (seen(s.stroke) ? 0.5 : 0.0)));
        paint(out, "fill", s.fill);
        stroke_attributes(s);
        out += "/>\n";
        return;
      case Stroke::Kind::text:
        return text(s);
      case Stroke::Kind::clip_push:
        return clip(s);
      case Stroke::Kind::clip_pop:
        return unclip();
    }
  }
};

}  // namespace

std::string to_svg(const widgets::Record& record, ImU32 background) {
  Writer writer{.origin = record.min, .out = {}};
  const double width = std::max(1.0, writer.x(record.max)), height = std::max(1.0, writer.y(record.max));
  std::string& out = writer.out;
  out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"";
  attribute(out, "width", width);
  attribute(out, "height", height);
  out += " viewBox=\"0 0 ";
  number(out, width);
  out += ' ';
  number(out, height);
  out += "\">\n";
  if (seen(background)) {
    writer.rect_shape(record.min, record.max, 0, 0);
    paint(out, "fill", background);
    out += "/>\n";
  }
  for (const Stroke& stroke : record.strokes) writer.add(stroke);
  while (writer.open_clips > 0) writer.unclip();
  out += "</svg>\n";
  return out;
}

}  // namespace app
