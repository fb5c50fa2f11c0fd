#include "widgets/prose/prose_parse.h"

#include <md4c.h>

#include <algorithm>

#include "widgets/prose/prose_text.h"

namespace widgets {
namespace {

constexpr std::size_t max_prose_bytes = 256 * 1024;

/// The beginning of a text, fit to be quoted in a sentence.
std::string one_line(std::string_view text) {
  constexpr std::size_t longest = 200;
  std::size_t n = std::min(text.size(), longest);
  while (n > 0 && n < text.size() && (static_cast<unsigned char>(text[n]) & 0xC0) == 0x80) --n;
  std::string out(text.substr(0, n));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return n < text.size() ? out + "\xE2\x80\xA6" : out;
}

/// Turns md4c's callbacks into the flat lists of a ProseDoc.
class Builder {
 public:
  explicit Builder(ProseDoc& doc) : d_(doc) {}

  void enter_block(MD_BLOCKTYPE type, void* detail) {
    switch (type) {
      case MD_BLOCK_QUOTE:
        close();
        ++quotes_;
        break;
      case MD_BLOCK_UL:
        close();
        lists_.push_back({0, static_cast<MD_BLOCK_UL_DETAIL*>(detail)->is_tight != 0, false});
        break;
      case MD_BLOCK_OL: {
        const auto* ol = static_cast<MD_BLOCK_OL_DETAIL*>(detail);
        close();
        lists_.push_back({ol->start, ol->is_tight != 0, true});
        break;
      }
      case MD_BLOCK_LI: {
        close();
        List& list = lists_.back();
        marker_ = list.ordered ? std::to_string(list.next++) + "." : "•";
        list.first_of_item = true;
        break;
      }
      case MD_BLOCK_HR:
        open(ProseBlock::Kind::rule);
        close();
        break;
      case MD_BLOCK_H:
        open(ProseBlock::Kind::heading).level =
            static_cast<std::uint8_t>(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level);
        break;
      case MD_BLOCK_CODE:
        open(ProseBlock::Kind::code);
        break;
      case MD_BLOCK_P:
        open(ProseBlock::Kind::paragraph);
        break;
      case MD_BLOCK_TABLE:
        open(ProseBlock::Kind::table).columns = static_cast<MD_BLOCK_TABLE_DETAIL*>(detail)->col_count;
        d_.blocks.back().first_cell = size32(d_.cells);
        break;
      case MD_BLOCK_TH:
      case MD_BLOCK_TD: {
        const MD_ALIGN a = static_cast<MD_BLOCK_TD_DETAIL*>(detail)->align;
        d_.cells.push_back({size32(d_.runs), size32(d_.runs),
                            a == MD_ALIGN_RIGHT    ? Align::right
                            : a == MD_ALIGN_CENTER ? Align::center
                                                   : Align::left});
        bold_ += type == MD_BLOCK_TH ? 1 : 0;
        break;
      }
      default:
        break;
    }
  }

  void leave_block(MD_BLOCKTYPE type) {
    switch (type) {
      case MD_BLOCK_QUOTE:
        close();
        --quotes_;
        break;
      case MD_BLOCK_UL:
      case MD_BLOCK_OL:
        close();
        lists_.pop_back();
        break;
      case MD_BLOCK_LI:
        if (!marker_.empty()) open(ProseBlock::Kind::paragraph);  // an empty item still shows its mark
        close();
        break;
      case MD_BLOCK_H:
      case MD_BLOCK_CODE:
      case MD_BLOCK_P:
        close();
        break;
      case MD_BLOCK_TABLE:
        d_.blocks.back().cell_end = size32(d_.cells);
        close();
        break;
      case MD_BLOCK_TH:
        --bold_;
        [[fallthrough]];
      case MD_BLOCK_TD:
        d_.cells.back().run_end = size32(d_.runs);
        break;
      default:
        break;
    }
  }

  void enter_span(MD_SPANTYPE type, void* detail) {
    switch (type) {
      case MD_SPAN_EM:
      case MD_SPAN_STRONG:
        ++bold_;
        break;  // the three faces have no italic: emphasis is bold too
      case MD_SPAN_CODE:
        ++code_;
        break;
      case MD_SPAN_A: {
        const MD_ATTRIBUTE& href = static_cast<MD_SPAN_A_DETAIL*>(detail)->href;
        link_ = static_cast<std::int32_t>(d_.links.size());
        d_.links.push_back({std::string(href.text ? href.text : "", href.size), {}});
        link_text_ = d_.text.size();
        break;
      }
      case MD_SPAN_LATEXMATH:
      case MD_SPAN_LATEXMATH_DISPLAY:
        math_first_ = math_last_ = nullptr;
        break;
      default:
        break;
    }
  }

  void leave_span(MD_SPANTYPE type) {
    switch (type) {
      case MD_SPAN_EM:
      case MD_SPAN_STRONG:
        --bold_;
        break;
      case MD_SPAN_CODE:
        --code_;
        break;
      case MD_SPAN_A: {
        ProseLink& link = d_.links.back();
        link.label = d_.text.substr(std::min(link_text_, d_.text.size()));
        if (link.label.empty()) link.label = link.target;
        link_ = -1;
        break;
      }
      case MD_SPAN_LATEXMATH:
        math(false);
        break;
      case MD_SPAN_LATEXMATH_DISPLAY:
        math(true);
        break;
      default:
        break;
    }
  }

  void text(MD_TEXTTYPE type, std::string_view s) {
    if (d_.blocks.empty() || !open_)
      open(ProseBlock::Kind::paragraph);  // items of tight lists come without a paragraph
    switch (type) {
      case MD_TEXT_BR:
        d_.runs.push_back({.kind = ProseRun::Kind::line_break});
        break;
      case MD_TEXT_SOFTBR:
        plain(" ");
        break;
      case MD_TEXT_NULLCHAR:
        plain("\xEF\xBF\xBD");
        break;
      case MD_TEXT_ENTITY:
        plain(decode_entity(s));
        break;
      case MD_TEXT_CODE:
        code_ > 0 ? with_values(s) : plain(s);  // a span shows the value; a block is a program and keeps its braces
        break;
      case MD_TEXT_LATEXMATH:
        if (!inside_source(s)) break;  // a line break within the formula
        if (!math_first_) math_first_ = s.data();
        math_last_ = s.data() + s.size();
        break;
      default:
        with_values(s);
        break;
    }
  }

  void finish() { close(); }

 private:
  struct List {
    unsigned next = 0;
    bool tight = false, ordered = false, first_of_item = false;
  };
  ProseDoc& d_;
  std::vector<List> lists_;
  std::string marker_;
  std::uint32_t quotes_ = 0;
  int bold_ = 0, code_ = 0;
  std::int32_t link_ = -1;
  std::size_t link_text_ = 0;
  bool open_ = false;
  const char *math_first_ = nullptr, *math_last_ = nullptr;

  template <class T>
  static std::uint32_t size32(const T& list) {
    return static_cast<std::uint32_t>(list.size());
  }
  bool inside_source(std::string_view s) const {
    return !s.empty() && s.data() >= d_.source.data() && s.data() + s.size() <= d_.source.data() + d_.source.size();
  }

  ProseBlock& open(ProseBlock::Kind kind) {
    close();
    ProseBlock block;
    block.kind = kind;
    block.indent = size32(lists_);
    block.quotes = quotes_;
    block.marker.swap(marker_);
    block.tight = !lists_.empty() && lists_.back().tight;
    block.first_run = block.run_end = size32(d_.runs);
    d_.blocks.push_back(std::move(block));
    open_ = true;
    return d_.blocks.back();
  }
  void close() {
    if (open_) d_.blocks.back().run_end = size32(d_.runs);
    open_ = false;
  }

  ProseRun styled(ProseRun::Kind kind) const {
    ProseRun run;
    run.kind = kind;
    run.bold = bold_ > 0;
    run.code = code_ > 0;
    run.link = link_;
    return run;
  }
  void plain(std::string_view s) {
    if (s.empty()) return;
    ProseRun run = styled(ProseRun::Kind::text);
    run.begin = size32(d_.text);
    for (const char c : s) {
      if (c == '\t')
        d_.text += "    ";
      else if (c != '\r')
        d_.text += c;
    }
    run.end = size32(d_.text);
    d_.runs.push_back(run);
  }
  void with_values(std::string_view s) {
    std::size_t from = 0;
    for (std::size_t i = s.find('{'); i != std::string_view::npos; i = s.find('{', i + 1)) {
      const std::size_t key = live_key_length(s.substr(i + 1));
      if (key == 0 || i + 1 + key >= s.size() || s[i + 1 + key] != '}') continue;
      plain(s.substr(from, i - from));
      ProseRun run = styled(ProseRun::Kind::value);
      run.index = d_.values.slot(s.substr(i + 1, key));
      d_.runs.push_back(run);
      use(s.substr(i, key + 2), run.index, false);
      from = i + key + 2;
      i = from - 1;
    }
    plain(s.substr(from));
  }
  void use(std::string_view s, std::uint32_t slot, bool in_formula) {
    if (!inside_source(s)) return;
    const auto begin = static_cast<std::uint32_t>(s.data() - d_.source.data());
    d_.uses.push_back({begin, begin + size32(s), slot, in_formula});
  }

  /// md4c drops backslashes before punctuation, so the markup is taken from the source between the dollar signs.
  void math(bool display) {
    if (!math_first_) return;
    const char *first = math_first_, *last = math_last_;
    const char* const end = d_.source.data() + d_.source.size();
    while (first > d_.source.data() && first[-1] != '$') --first;
    while (last < end && *last != '$') ++last;
    const std::string_view markup(first, static_cast<std::size_t>(last - first));
    const bool digit_after = last + 1 < end && last[1] >= '0' && last[1] <= '9';
    if (!display && (markup.front() == ' ' || markup.back() == ' ' || digit_after)) {  // "$2 and $3": money
      plain("$");
      with_values(markup);
      plain("$");
      return;
    }
    ProseFormula f;
    f.display = display;
    f.formula = parse_formula(markup);
    f.begin = size32(d_.text);
    (d_.text += display ? "$$" : "$").append(markup) += display ? "$$" : "$";
    f.end = size32(d_.text);
    if (!f.formula.error.empty()) d_.problems.push_back(f.formula.error + " The formula is: " + one_line(markup));
    for (const std::string& key : f.formula.values.keys) uses_in(markup, key);
    ProseRun run = styled(ProseRun::Kind::formula);
    run.index = size32(d_.formulas);
    d_.formulas.push_back(std::move(f));
    d_.runs.push_back(run);
  }
  void uses_in(std::string_view markup, const std::string& key) {
    const std::uint32_t slot = d_.values.slot(key);
    for (const std::string& written : {"\\val{" + key + "}", "{{" + key + "}}"})
      for (std::size_t i = markup.find(written); i != std::string_view::npos; i = markup.find(written, i + 1))
        use(markup.substr(i, written.size()), slot, true);
  }
};

Builder& builder(void* user) { return *static_cast<Builder*>(user); }

}  // namespace

bool ProseDoc::refresh(const ValueSource& from) {
  bool changed = values.refresh(from);
  for (ProseFormula& f : formulas) changed |= f.formula.values.refresh(from);
  return changed;
}

ProseDoc parse_prose(std::string_view markdown) {
  ProseDoc doc;
  if (markdown.size() > max_prose_bytes) {
    std::size_t end = max_prose_bytes;
    while (end > 0 && (static_cast<unsigned char>(markdown[end]) & 0xC0) == 0x80) --end;
    markdown = markdown.substr(0, end);
    doc.problems.push_back("The text is longer than 256 KiB and is cut there; split it.");
  }
  std::size_t bad = 0;
  doc.source = valid_utf8(markdown, bad);
  if (bad < markdown.size())
    doc.problems.push_back("Byte " + std::to_string(bad + 1) + " of the text is not UTF-8; save the text as UTF-8.");

  Builder build(doc);
  MD_PARSER parser{};
  parser.flags = MD_FLAG_TABLES | MD_FLAG_LATEXMATHSPANS | MD_FLAG_NOHTML | MD_FLAG_NOINDENTEDCODEBLOCKS;
  parser.enter_block = [](MD_BLOCKTYPE t, void* detail, void* user) { return builder(user).enter_block(t, detail), 0; };
  parser.leave_block = [](MD_BLOCKTYPE t, void*, void* user) { return builder(user).leave_block(t), 0; };
  parser.enter_span = [](MD_SPANTYPE t, void* detail, void* user) { return builder(user).enter_span(t, detail), 0; };
  parser.leave_span = [](MD_SPANTYPE t, void*, void* user) { return builder(user).leave_span(t), 0; };
  parser.text = [](MD_TEXTTYPE t, const MD_CHAR* s, MD_SIZE n, void* user) { return builder(user).text(t, {s, n}), 0; };
  if (md_parse(doc.source.data(), static_cast<MD_SIZE>(doc.source.size()), &parser, &build) != 0)
    doc.problems.push_back("The text could not be read as Markdown to its end.");
  build.finish();
  std::sort(doc.uses.begin(), doc.uses.end(), [](const ProseUse& a, const ProseUse& b) { return a.begin < b.begin; });
  return doc;
}

}  // namespace widgets
