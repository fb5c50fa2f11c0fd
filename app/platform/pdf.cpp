#include "app/platform/pdf.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <vector>

#include "app/platform/type_metrics.h"

namespace app {
namespace {

using widgets::Stroke;

/// Adobe's published widths of Helvetica, in thousandths, from the space to the tilde.
constexpr std::array<std::int16_t, 95> helvetica{
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

constexpr double points_per_px = 0.75;

/// The next character of UTF-8, 0xFFFD where it is broken; at least one byte is taken.
std::uint32_t next_character(std::string_view& s) {
  const auto byte = [&](std::size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  const unsigned b = byte(0);
  const std::size_t length = b < 0x80 ? 1 : b >= 0xF0 ? 4 : b >= 0xE0 ? 3 : b >= 0xC2 ? 2 : 1;
  std::uint32_t c = length == 1 ? b : b & (0x7Fu >> length);
  bool good = length > 1 || b < 0x80;
  for (std::size_t i = 1; i < length; ++i) {
    good = good && (byte(i) & 0xC0u) == 0x80;
    c = c << 6 | (byte(i) & 0x3Fu);
  }
  s.remove_prefix(std::min(good ? length : 1, s.size()));
  return good ? c : 0xFFFD;
}

/// In Windows-1252; '?' for what it has not.
unsigned char win_ansi(std::uint32_t c) {
  if ((c >= 0x20 && c < 0x7F) || (c >= 0xA0 && c <= 0xFF)) return static_cast<unsigned char>(c);
  struct Row {
    std::uint32_t character;
    unsigned char code;
  };
  constexpr Row rows[] = {{0x20AC, 0x80}, {0x2026, 0x85}, {0x2018, 0x91}, {0x2019, 0x92}, {0x201C, 0x93},
                          {0x201D, 0x94}, {0x2022, 0x95}, {0x2013, 0x96}, {0x2014, 0x97}, {0x2212, 0x2D},
                          {0x03BC, 0xB5}, {0x202F, 0x20}, {0x2009, 0x20}};
  for (const Row& r : rows)
    if (r.character == c) return r.code;
  return '?';
}

void pdf_number(std::string& out, double value) {
  std::array<char, 48> chars;
  const double rounded = std::round(value * 1000) / 1000;
  const auto end = std::to_chars(chars.data(), chars.data() + chars.size(), rounded == 0 ? 0.0 : rounded,
                                 std::chars_format::fixed, 3)
                       .ptr;
  out.append(chars.data(), end);
  out += ' ';
}

/// A text between brackets, in Windows-1252.
std::string literal(std::string_view utf8) {
  std::string out = "(";
  while (!utf8.empty()) {
    const unsigned char c = win_ansi(next_character(utf8));
    if (c == '(' || c == ')' || c == '\\') out += '\\';
    out += static_cast<char>(c);
  }
  return out + ")";
}

void pdf_colour(std::string& out, ImU32 c, bool fill) {
  for (const int shift : {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT})
    pdf_number(out, static_cast<double>((c >> shift) & 0xff) / 255);
  out += fill ? "rg\n" : "RG\n";
}
bool is_seen(ImU32 c) { return ((c >> IM_COL32_A_SHIFT) & 0xff) != 0; }

/// What one page paints, in points from its lower left.
class PageWriter {
 public:
  explicit PageWriter(const widgets::Record& r) : record_(r) {
    for (const Stroke& s : r.strokes) add(s);
  }
  std::string out;

 private:
  double x(ImVec2 p) const { return static_cast<double>(p.x - record_.min.x) * points_per_px; }
  double y(ImVec2 p) const { return static_cast<double>(record_.max.y - p.y) * points_per_px; }
  void point(ImVec2 p, const char* operation) {
    pdf_number(out, x(p));
    pdf_number(out, y(p));
    out += operation;
  }
  void finish(const Stroke& s, bool closed) {
    const bool fill = is_seen(s.fill), line = is_seen(s.stroke);
    out += closed && line && fill ? "b\n" : closed && line ? "s\n" : line ? "S\n" : fill ? "f\n" : "n\n";
  }
  void add(const Stroke& s) {
    if (s.points.empty()) return;
    if (s.kind == Stroke::Kind::text) return add_text(s);
    if (s.kind == Stroke::Kind::clip_push || s.kind == Stroke::Kind::clip_pop || s.kind == Stroke::Kind::circle) return;
    if (is_seen(s.fill)) pdf_colour(out, s.fill, true);
    if (is_seen(s.stroke)) {
      pdf_colour(out, s.stroke, false);
      pdf_number(out, static_cast<double>(s.width) * points_per_px);
      out += "w\n";
    }
    if (s.kind == Stroke::Kind::rect) {
      if (s.points.size() < 2) return;
      const ImVec2 low{s.points[0].x, s.points[1].y};
      pdf_number(out, x(low));
      pdf_number(out, y(low));
      pdf_number(out, x(s.points[1]) - x(s.points[0]));
      pdf_number(out, y(s.points[0]) - y(s.points[1]));
      out += "re\n";
      return finish(s, true);
    }
    point(s.points[0], "m\n");
    for (std::size_t i = 1; i < s.points.size(); ++i) point(s.points[i], "l\n");
    finish(s, s.closed || s.kind == Stroke::Kind::polygon);
  }
  void add_text(const Stroke& s) {
    const double size = static_cast<double>(s.size);
    pdf_colour(out, s.fill, true);
    out += "BT\n";
    out += s.font == widgets::Font::bold ? "/F2 " : s.font == widgets::Font::mono ? "/F3 " : "/F1 ";
    pdf_number(out, size * inter_metrics.em_per_size * points_per_px);
    out += "Tf\n";
    pdf_number(out, x(s.points[0]));
    pdf_number(out, y(s.points[0]) - size * inter_metrics.ascent_per_size * points_per_px);
    out += "Td\n" + literal(s.text) + " Tj\nET\n";
  }

  const widgets::Record& record_;
};

/// Objects one after the other, and where each begins.
class Objects {
 public:
  std::string out = "%PDF-1.4\n%\xE2\xE3\xCF\xD3\n";
  void add(const std::string& body) {
    at_.push_back(out.size());
    out += std::to_string(at_.size()) + " 0 obj\n" + body + "\nendobj\n";
  }
  std::string finish(std::size_t info) {
    const std::size_t table = out.size();
    out += "xref\n0 " + std::to_string(at_.size() + 1) + "\n0000000000 65535 f \n";
    for (const std::size_t at : at_) {
      const std::string digits = std::to_string(at);
      out += std::string(10 - std::min<std::size_t>(10, digits.size()), '0') + digits + " 00000 n \n";
    }
    out += "trailer\n<< /Size " + std::to_string(at_.size() + 1) + " /Root 1 0 R /Info " + std::to_string(info) +
           " 0 R >>\nstartxref\n" + std::to_string(table) + "\n%%EOF\n";
    return std::move(out);
  }

 private:
  std::vector<std::size_t> at_;
};

}  // namespace

double helvetica_width(std::string_view utf8) {
  double thousandths = 0;
  while (!utf8.empty()) {
    const unsigned char c = win_ansi(next_character(utf8));
    thousandths += c >= 0x20 && c < 0x7F ? helvetica[c - 0x20u] : c == 0xB7 ? 278 : 584;
  }
  return thousandths / 1000;
}

std::string to_pdf(std::span<const widgets::Record> pages, std::string_view title) {
  Objects objects;
  constexpr std::size_t first_page = 6;  // after catalog, pages and three faces; each page has its content behind it
  std::string kids;
  for (std::size_t i = 0; i < pages.size(); ++i) kids += std::to_string(first_page + 2 * i) + " 0 R ";
  objects.add("<< /Type /Catalog /Pages 2 0 R >>");
  objects.add("<< /Type /Pages /Kids [" + kids + "] /Count " + std::to_string(pages.size()) + " >>");
  for (const char* face : {"Helvetica", "Helvetica-Bold", "Courier"})
    objects.add("<< /Type /Font /Subtype /Type1 /BaseFont /" + std::string(face) + " /Encoding /WinAnsiEncoding >>");
  for (std::size_t i = 0; i < pages.size(); ++i) {
    std::string box;
    pdf_number(box, static_cast<double>(pages[i].max.x - pages[i].min.x) * points_per_px);
    pdf_number(box, static_cast<double>(pages[i].max.y - pages[i].min.y) * points_per_px);
    objects.add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 " + box +
                "] /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >> /Contents " +
                std::to_string(first_page + 2 * i + 1) + " 0 R >>");
    const std::string content = PageWriter(pages[i]).out;
    objects.add("<< /Length " + std::to_string(content.size()) + " >>\nstream\n" + content + "endstream");
  }
  objects.add("<< /Title " + literal(title) + " /Producer (Ridgeline) >>");
  return objects.finish(first_page + 2 * pages.size());
}

}  // namespace app
