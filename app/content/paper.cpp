#include "app/content/paper.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "app/platform/file.h"
#include "app/platform/pdf.h"
#include "app/platform/svg.h"
#include "widgets/base/theme_paper.h"

namespace app {
namespace {

constexpr float paper_width = 794, paper_height = 1123, paper_margin = 42;
constexpr float largest_type = 15, smallest_type = 8;
using widgets::paper_head, widgets::paper_ink, widgets::paper_rule;

struct Words {
  std::string text;
  bool bold = false;
};
struct Block {
  enum class Kind : unsigned char { heading, paragraph, item, table } kind = Kind::paragraph;
  int level = 1;
  std::vector<Words> words;
  std::vector<std::vector<std::string>> rows;  ///< the first are the heads
  std::vector<char> right;                     ///< columns whose cells end at the right
};

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
  return s;
}

/// Text with **bold** parts; backticks are dropped.
std::vector<Words> words_of(std::string_view text) {
  std::vector<Words> all;
  bool bold = false;
  std::string part;
  const auto end = [&] {
    if (!part.empty()) all.push_back({std::exchange(part, {}), bold});
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("**")) {
      end();
      bold = !bold;
      ++i;
    } else if (text[i] != '`') {
      part += text[i];
    }
  }
  end();
  return all;
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  std::string cell;
  line.remove_prefix(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += line[++i];
    } else if (line[i] == '|') {
      cells.emplace_back(trimmed(cell));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  if (!trimmed(cell).empty()) cells.emplace_back(trimmed(cell));
  return cells;
}

bool is_separator(const std::vector<std::string>& cells) {
  return !cells.empty() && std::all_of(cells.begin(), cells.end(), [](const std::string& c) {
    return c.size() >= 3 && c.find_first_not_of(":-") == std::string::npos;
  });
}

void add_row(std::string_view line, bool begins, std::vector<Block>& blocks) {
  if (begins) blocks.push_back({.kind = Block::Kind::table, .words = {}, .rows = {}, .right = {}});
  Block& table = blocks.back();
  std::vector<std::string> cells = cells_of(line);
  if (!is_separator(cells)) {
    table.rows.push_back(std::move(cells));
    return;
  }
  for (const std::string& c : cells) table.right.push_back(c.ends_with(':') ? 1 : 0);
}

/// The parts of the document between its rules.
std::vector<std::vector<Block>> parts_of(std::string_view markdown) {
  std::vector<std::vector<Block>> parts(1);
  bool table = false, paragraph = false;
  while (!markdown.empty()) {
    const std::size_t end = std::min(markdown.find('\n'), markdown.size());
    const std::string_view line = trimmed(markdown.substr(0, end));
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
    const bool was_table = std::exchange(table, line.starts_with('|'));
    const bool was_paragraph = std::exchange(paragraph, false);
    std::vector<Block>& blocks = parts.back();
    if (line.empty()) continue;
    if (table) {
      add_row(line, !was_table, blocks);
    } else if (line == "---") {
      if (!blocks.empty()) parts.emplace_back();
    } else if (line.starts_with('#')) {
      const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
      blocks.push_back({.kind = Block::Kind::heading,
                        .level = static_cast<int>(level),
                        .words = {{std::string(trimmed(line.substr(level))), true}},
                        .rows = {},
                        .right = {}});
    } else if (line.starts_with("- ")) {
      blocks.push_back({.kind = Block::Kind::item, .words = words_of(line.substr(2)), .rows = {}, .right = {}});
    } else if (was_paragraph) {
      for (Words& w : words_of(" " + std::string(line))) blocks.back().words.push_back(std::move(w));
      paragraph = true;
    } else {
      blocks.push_back({.kind = Block::Kind::paragraph, .words = words_of(line), .rows = {}, .right = {}});
      paragraph = true;
    }
  }
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

/// Pixels of a text whose line is `size` high. Inter is a tenth wider than Helvetica, bold faces a little more.
float width_of(std::string_view text, float size, bool bold) {
  return static_cast<float>(helvetica_width(text) * static_cast<double>(size) * 0.826 * (bold ? 1.17 : 1.10));
}

/// Sets blocks downwards; a page that is full is followed by another.
class Setter {
 public:
  explicit Setter(float type) : type_(type) { begin_page(); }

  void set(const Block& block) {
    if (block.kind == Block::Kind::table) return set_table(block);
    const bool heading = block.kind == Block::Kind::heading;
    const float size = heading ? type_ * (block.level == 1 ? 1.7f : 1.2f) : type_;
    if (heading && y_ > paper_margin) y_ += 0.5f * type_;
    // A heading does not stand alone at a page's end.
    need(heading ? size + 3 * type_ : size);
    const float indent = block.kind == Block::Kind::item ? 1.2f * type_ : 0;
    if (indent > 0) put("\xE2\x80\xA2", paper_margin + 0.3f * type_, size, false, paper_ink);
    flow(block.words, paper_margin + indent, paper_width - paper_margin, size);
    y_ += 0.35f * type_;
  }
  std::vector<widgets::Record> take() { return std::move(pages_); }
  std::size_t pages() const { return pages_.size(); }

 private:
  void begin_page() {
    widgets::Record& page = pages_.emplace_back();
    page.min = {0, 0};
    page.max = {paper_width, paper_height};
    y_ = paper_margin;
  }
  void need(float height) {
    if (y_ + height > paper_height - paper_margin && y_ > paper_margin) begin_page();
  }
  void put(std::string_view text, float x, float size, bool bold, ImU32 colour) {
    put_at(text, {x, y_}, size, bold, colour);
  }
  void put_at(std::string_view text, ImVec2 at, float size, bool bold, ImU32 colour) {
    widgets::Stroke stroke{.kind = widgets::Stroke::Kind::text,
                           .points = {at},
                           .fill = colour,
                           .size = size,
                           .font = bold ? widgets::Font::bold : widgets::Font::sans,
                           .text = std::string(text)};
    pages_.back().strokes.push_back(std::move(stroke));
  }
  void line(float y, ImU32 colour, float width) {
    widgets::Stroke stroke{.kind = widgets::Stroke::Kind::polyline,
                           .points = {{paper_margin, y}, {paper_width - paper_margin, y}},
                           .stroke = colour,
                           .width = width,
                           .text = {}};
    pages_.back().strokes.push_back(std::move(stroke));
  }

  /// Words from `left` on, on as many lines as they need.
  void flow(const std::vector<Words>& words, float left, float right, float size) {
    float x = left;
    for (const Words& part : words) {
      std::string run;
      const auto flush = [&] {
        if (run.empty()) return;
        put(run, x, size, part.bold, paper_ink);
        x += width_of(run, size, part.bold);
        run.clear();
      };
      std::string_view rest = part.text;
      while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(' ', rest.front() == ' ' ? 1 : 0), rest.size());
        const std::string_view word = rest.substr(0, end);
        if (x + width_of(run + std::string(word), size, part.bold) > right && (x > left || !run.empty())) {
          flush();
          y_ += 1.15f * size;
          need(size);
          x = left;
          run = trimmed(word);
        } else {
          run += word;
        }
        rest.remove_prefix(end);
      }
      flush();
    }
    y_ += 1.15f * size;
  }

  /// The lines of a cell; a word that is wider than the column is split.
  std::vector<std::string> lines_of(std::string_view text, float width, bool bold) const {
    std::vector<std::string> lines(1);
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(' '), text.size());
      std::string word(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      const std::string joined = lines.back().empty() ? word : lines.back() + " " + word;
      if (width_of(joined, type_, bold) <= width) {
        lines.back() = joined;
        continue;
      }
      if (!lines.back().empty()) lines.emplace_back();
      // A word that is wider than the column goes on in the next line, whole characters at a time.
      float wide = 0;
      std::string piece;
      for (std::size_t at = 0; at < word.size();) {
        std::size_t next = at + 1;
        while (next < word.size() && (static_cast<unsigned char>(word[next]) & 0xC0u) == 0x80u) ++next;
        const float letter = width_of(std::string_view(word).substr(at, next - at), type_, bold);
        if (wide + letter > width && !piece.empty()) {
          lines.back() = std::exchange(piece, {});
          lines.emplace_back();
          wide = 0;
        }
        piece.append(word, at, next - at);
        wide += letter;
        at = next;
      }
      lines.back() = piece;
    }
    return lines;
  }

  /// Widths of the columns: as wide as their cells, the widest ones less where all have no room.
  std::vector<float> widths_of(const Block& table, std::size_t columns, float gap) const {
    std::vector<float> natural(columns, 0);
    for (std::size_t r = 0; r < table.rows.size(); ++r)
      for (std::size_t c = 0; c < table.rows[r].size() && c < columns; ++c)
        natural[c] = std::max(natural[c], width_of(table.rows[r][c], type_, r == 0 || c == 0) + 1);
    const float room = paper_width - 2 * paper_margin - gap * static_cast<float>(columns - 1);
    float most = room;
    const auto sum = [&](float limit) {
      float all = 0;
      for (const float w : natural) all += std::min(w, limit);
      return all;
    };
    if (sum(most) > room) {
      float low = 4, high = room;
      for (int i = 0; i < 40; ++i) {
        most = (low + high) / 2;
        (sum(most) > room ? high : low) = most;
      }
      most = low;
    }
    for (float& w : natural) w = std::min(w, most);
    // What is left over goes to all alike, so that numbers stand apart.
    const float left = std::max(0.0f, room - sum(room)) / static_cast<float>(columns);
    for (float& w : natural) w += std::min(left, 3 * type_);
    return natural;
  }

  void set_table(const Block& table) {
    std::size_t columns = 1;
    for (const auto& row : table.rows) columns = std::max(columns, row.size());
    const float gap = 0.8f * type_;
    const std::vector<float> widths = widths_of(table, columns, gap);
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      std::vector<std::vector<std::string>> cells;
      std::size_t most = 1;
      for (std::size_t c = 0; c < table.rows[r].size(); ++c) {
        cells.push_back(lines_of(table.rows[r][c], widths[c], r == 0 || c == 0));
        most = std::max(most, cells.back().size());
      }
      const float step = 1.1f * type_, height = static_cast<float>(most) * step;
      need(height + (r == 0 ? 2 * step : 0));
      float x = paper_margin;
      for (std::size_t c = 0; c < cells.size(); ++c) {
        const bool bold = r == 0 || c == 0, right = c < table.right.size() && table.right[c] != 0;
        for (std::size_t i = 0; i < cells[c].size(); ++i) {
          if (cells[c][i].empty()) continue;
          const float shift = right ? widths[c] - width_of(cells[c][i], type_, bold) : 0;
          put_at(cells[c][i], {x + shift, y_ + static_cast<float>(i) * step}, type_, bold,
                 r == 0 ? paper_head : paper_ink);
        }
        x += widths[c] + gap;
      }
      y_ += height + 0.15f * type_;
      line(y_, r == 0 ? paper_head : paper_rule, r == 0 ? 1.0f : 0.5f);
      y_ += 0.1f * type_;
    }
    y_ += 0.6f * type_;
  }

  float type_;
  float y_ = paper_margin;
  std::vector<widgets::Record> pages_;
};

std::vector<widgets::Record> set_part(const std::vector<Block>& part, float type) {
  Setter setter(type);
  for (const Block& block : part) setter.set(block);
  return setter.take();
}

}  // namespace

std::vector<widgets::Record> paper_pages(std::string_view markdown) {
  std::vector<widgets::Record> pages;
  for (const auto& part : parts_of(markdown)) {
    float type = largest_type;
    std::vector<widgets::Record> set = set_part(part, type);
    while (set.size() > 1 && type > smallest_type) {
      type -= 0.5f;
      set = set_part(part, type);
    }
    for (widgets::Record& page : set) pages.push_back(std::move(page));
  }
  return pages;
}

std::string paper_title(std::string_view markdown) {
  for (const auto& part : parts_of(markdown))
    for (const Block& block : part)
      if (block.kind == Block::Kind::heading && !block.words.empty()) return block.words.front().text;
  return "Page";
}

models::Result<std::vector<std::string>> write_document(const std::string& path, std::string_view document) {
  using Written = models::Result<std::vector<std::string>>;
  const std::filesystem::path file(path);
  std::vector<std::string> names;
  const auto put = [&](const std::filesystem::path& to, std::string_view bytes) {
    const models::Status written = write_file(to, bytes);
    if (written) names.push_back(to.string());
    return written;
  };
  if (file.extension() == ".svg") {
    const std::vector<widgets::Record> pages = paper_pages(document);
    for (std::size_t i = 0; i < pages.size(); ++i) {
      std::filesystem::path to = file;
      to.replace_filename(file.stem().string() + "-" + std::to_string(i + 1) + ".svg");
      if (const auto written = put(to, to_svg(pages[i], IM_COL32_WHITE)); !written) return Written::fail(written.error);
    }
    return Written::ok(std::move(names));
  }
  const auto written = file.extension() == ".pdf" ? put(file, to_pdf(paper_pages(document), paper_title(document)))
                                                  : put(file, document);
  if (!written) return Written::fail(written.error);
  return Written::ok(std::move(names));
}

}  // namespace app
