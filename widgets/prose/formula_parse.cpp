#include <algorithm>

#include "widgets/prose/formula.h"
#include "widgets/prose/formula_symbols.h"
#include "widgets/prose/prose_text.h"

namespace widgets {
namespace {

using Kind = FormulaNode::Kind;
using Air = FormulaNode::Air;

constexpr std::size_t max_formula_bytes = 4096;
constexpr int max_depth = 24;

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool digit(char c) { return c >= '0' && c <= '9'; }
bool space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Parser {
 public:
  Parser(std::string_view source, Formula& out) : s_(source), out_(out) {}

  void run() {
    const std::uint32_t root = row(0);
    if (failed()) return;
    if (at_ < s_.size())
      return fail(at_, "there is a '" + std::string(s_.substr(at_, word_length())) + "' that nothing opened");
    out_.root = root;
  }

  void fail(std::size_t at, const std::string& what) {
    if (failed()) return;
    out_.error = "Formula, position " + std::to_string(at + 1) + ": " + what + ".";
    for (char& c : out_.error)
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';  // what it quotes may hold line breaks; a sentence does not
    out_.error_at = at;
  }

 private:
  std::string_view s_;
  Formula& out_;
  std::size_t at_ = 0;
  int depth_ = 0;

  bool failed() const { return !out_.error.empty(); }
  std::string_view rest() const { return s_.substr(std::min(at_, s_.size())); }
  /// Length of what stands here as a reader sees it: a command with its backslash, or one character.
  std::size_t word_length() const {
    std::size_t n = 1;
    if (s_[at_] == '\\') {
      while (at_ + n < s_.size() && letter(s_[at_ + n])) ++n;
      return std::min(std::max<std::size_t>(n, 2), s_.size() - at_);
    }
    return std::max<std::size_t>(utf8_length(rest()), 1);
  }
  bool skip_space() {
    const std::size_t from = at_;
    while (at_ < s_.size() && space(s_[at_])) ++at_;
    return at_ > from;
  }
  std::uint32_t add(FormulaNode node) {
    out_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(out_.nodes.size() - 1);
  }
  std::uint32_t symbol(std::string_view text, Air air = Air::ordinary) {
    FormulaNode n;
    n.kind = Kind::symbol;
    n.air = air;
    n.text = text;
    return add(std::move(n));
  }
  /// A quantity is slanted, words and functions are upright: "e" is not "exp", and "T" is not a word.
  std::uint32_t variable(std::string_view text) {
    const std::uint32_t node = symbol(text);
    out_.nodes[node].variable = true;
    return node;
  }
  std::uint32_t with_children(Kind kind, std::vector<std::uint32_t> children, std::string text = {}) {
    FormulaNode n;
    n.kind = kind;
    n.children = std::move(children);
    n.text = std::move(text);
    return add(std::move(n));
  }

  const FormulaDelimiter* delimiter(bool opens) {
    std::size_t from = at_;
    for (const std::string_view side : {std::string_view("\\left"), std::string_view("\\right")})
      if (rest().starts_with(side) && at_ + side.size() < s_.size() && !letter(s_[at_ + side.size()]))
        from = at_ + side.size();
    while (from < s_.size() && from > at_ && space(s_[from])) ++from;
    for (const FormulaDelimiter& d : formula_delimiters) {
      if (d.opens != opens || !s_.substr(from).starts_with(d.written)) continue;
      const std::size_t end = from + d.written.size();
      if (d.written[0] == '\\' && end < s_.size() && letter(s_[end])) continue;
      delimiter_end_ = end;
      return &d;
    }
    return nullptr;
  }
  std::size_t delimiter_end_ = 0;

  /// A row up to `closer` ('}' of a group, ')' for any closing delimiter, 0 for the end of the source), which stays
  /// unread.
  std::uint32_t row(char closer) {
    if (++depth_ > max_depth) {
      fail(at_, "it nests deeper than " + std::to_string(max_depth) + " levels");
      return FormulaNode::none;
    }
    std::vector<std::uint32_t> children;
    while (!failed()) {
      const bool spaced = skip_space();
      if (at_ >= s_.size() || s_[at_] == '}') break;
      if (delimiter(false)) {
        if (closer != ')')
          fail(at_, "there is a '" + std::string(s_.substr(at_, word_length())) + "' that nothing opened");
        break;
      }
      const std::uint32_t node = scripted();
      if (failed()) break;
      out_.nodes[node].after_space = spaced;
      children.push_back(node);
    }
    --depth_;
    return with_children(Kind::row, std::move(children));
  }

  std::uint32_t scripted() {
    const std::uint32_t base = atom();
    std::uint32_t scripts[2] = {FormulaNode::none, FormulaNode::none};
    while (!failed()) {
      const std::size_t before = at_;
      skip_space();
      if (at_ >= s_.size() || (s_[at_] != '_' && s_[at_] != '^')) {
        at_ = before;
        break;
      }
      const char mark = s_[at_];
      std::uint32_t& which = scripts[mark == '_' ? 0 : 1];
      if (which != FormulaNode::none)
        fail(at_, std::string("a second '") + mark + "' follows the same symbol; join both in one group");
      ++at_;
      if (!failed()) which = script(mark);
    }
    if (scripts[0] == FormulaNode::none && scripts[1] == FormulaNode::none) return base;
    if (failed()) return base;
    const Air air = out_.nodes[base].air;
    const std::uint32_t node = with_children(Kind::scripts, {base, scripts[0], scripts[1]});
    out_.nodes[node].air = air;
    return node;
  }

  /// What stands after '_' or '^': a group, a whole number, one letter, a command or a value.
  std::uint32_t script(char mark) {
    skip_space();
    const char c = at_ < s_.size() ? s_[at_] : '\0';
    if (c != '{' && c != '\\' && !letter(c) && !digit(c) && static_cast<unsigned char>(c) < 0x80) {
      fail(at_, std::string("'") + mark + "' needs a letter, a number or a group in braces after it, as in x" + mark +
                    "{2}");
      return FormulaNode::none;
    }
    if (letter(c)) {
      // A lone T above stands for "transposed", which is no quantity.
      const std::string_view one = s_.substr(at_++, 1);
      return mark == '^' && c == 'T' ? symbol(one) : variable(one);
    }
    return atom();
  }

  std::uint32_t group(const std::string& owner) {
    skip_space();
    if (value_length() > 0) return atom();
    if (at_ >= s_.size() || s_[at_] != '{') {
      fail(at_, owner);
      return FormulaNode::none;
    }
    const std::size_t open = at_++;
    const std::uint32_t inside = row('}');
    if (failed()) return inside;
    if (at_ >= s_.size()) fail(open, "this '{' is never closed");
    ++at_;
    return inside;
  }

  /// Raw words in braces after a command.
  std::string_view words(const std::string& owner) {
    skip_space();
    const std::size_t end = at_ < s_.size() && s_[at_] == '{' ? s_.find('}', at_) : std::string_view::npos;
    if (end == std::string_view::npos) {
      fail(at_, owner);
      return {};
    }
    const std::string_view text = s_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return text;
  }

  std::size_t value_length() const {
    if (!rest().starts_with("{{")) return 0;
    const std::size_t key = live_key_length(rest().substr(2));
    return key > 0 && rest().substr(2 + key).starts_with("}}") ? key : 0;
  }
  std::uint32_t value(std::string_view key) {
    FormulaNode n;
    n.kind = Kind::value;
    n.slot = out_.values.slot(key);
    return add(std::move(n));
  }

  std::uint32_t atom() {
    if (const std::size_t key = value_length(); key > 0) {
      const std::uint32_t node = value(rest().substr(2, key));
      at_ += key + 4;
      return node;
    }
    if (const FormulaDelimiter* open = delimiter(true)) return fence(*open);
    const char c = s_[at_];
    if (c == '{') return group("a group is expected here");
    if (c == '\\') return command();
    if (c == '^' || c == '_') {
      fail(at_, std::string("'") + c + "' has no symbol before it");
      return FormulaNode::none;
    }
    const std::size_t from = at_;
    if (letter(c)) {
      while (at_ < s_.size() && letter(s_[at_])) ++at_;
      return at_ - from == 1 ? variable(s_.substr(from, 1)) : symbol(s_.substr(from, at_ - from));
    }
    if (digit(c)) {
      while (at_ < s_.size() &&
             (digit(s_[at_]) || ((s_[at_] == '.' || s_[at_] == ',') && at_ + 1 < s_.size() && digit(s_[at_ + 1]))))
        ++at_;
      return symbol(s_.substr(from, at_ - from));
    }
    const std::size_t n = utf8_length(rest());
    if (n == 0 || static_cast<unsigned char>(c) < 0x20) {
      fail(at_, "a byte here is not UTF-8 text");
      return FormulaNode::none;
    }
    at_ += n;
    switch (c) {
      case '+':
        return symbol("+", Air::binary);
      case '-':
        return symbol("−", Air::binary);
      case '*':
        return symbol("×", Air::binary);
      case '/':
        return symbol("/", Air::binary);
      case '=':
      case '<':
      case '>':
        return symbol(s_.substr(from, 1), Air::relation);
      case ',':
      case ';':
        return symbol(s_.substr(from, 1), Air::punctuation);
      default:
        return symbol(s_.substr(from, n));
    }
  }

  std::uint32_t fence(const FormulaDelimiter& open) {
    const std::size_t from = at_;
    at_ = delimiter_end_;
    const std::uint32_t inside = row(')');
    if (failed()) return inside;
    const FormulaDelimiter* close = at_ < s_.size() ? delimiter(false) : nullptr;
    if (!close) {
      fail(from, "this '" + std::string(open.written) + "' is never closed");
      return inside;
    }
    at_ = delimiter_end_;
    return with_children(Kind::fence, {inside}, {open.letter, close->letter});
  }

  std::uint32_t command() {
    const std::size_t from = at_, n = word_length();
    const std::string_view name = s_.substr(at_ + 1, n - 1);
    at_ += n;
    if (name == "frac") {
      const std::string help = "\\frac needs two groups in braces, as in \\frac{a}{b}";
      const std::uint32_t numerator = group(help);
      const std::uint32_t denominator = failed() ? numerator : group(help);
      return with_children(Kind::fraction, {numerator, denominator});
    }
    if (name == "sqrt") return with_children(Kind::root, {group("\\sqrt needs a group in braces, as in \\sqrt{x}")});
    if (name == "text" || name == "mathrm" || name == "operatorname")
      return symbol(words("\\" + std::string(name) + " needs words in braces, as in \\text{bytes}"));
    if (name == "val") {
      const std::string help = "\\val needs a key in braces, as in \\val{total_bytes}";
      const std::string_view key = words(help);
      if (!failed() && (key.empty() || live_key_length(key) != key.size())) fail(from, help);
      return failed() ? FormulaNode::none : value(key);
    }
    for (const FormulaSpace& known : formula_spaces)
      if (known.name == name) {
        FormulaNode node;
        node.kind = Kind::space;
        node.em = known.em;
        return add(std::move(node));
      }
    for (const FormulaCommand& known : formula_commands)
      if (known.name == name) {
        const bool greek = known.text[0] == '\xCE' || known.text[0] == '\xCF';
        return greek && known.name[0] >= 'a' ? variable(known.text) : symbol(known.text, known.air);
      }
    fail(from, name.empty()
                   ? std::string("a '\\' stands alone at the end")
                   : "\\" + std::string(name) + " is not a command; write \\text{" + std::string(name) + "} for words");
    return FormulaNode::none;
  }
};

}  // namespace

Formula parse_formula(std::string_view source) {
  Formula formula;
  Parser parser(source, formula);
  if (source.size() > max_formula_bytes)
    parser.fail(max_formula_bytes, "it is longer than 4,096 bytes; split it");
  else
    parser.run();
  if (!formula.error.empty()) {
    const std::size_t at = formula.error_at;
    std::string error = std::move(formula.error);
    formula = Formula{};
    formula.error = std::move(error);
    formula.error_at = at;
  }
  return formula;
}

}  // namespace widgets
