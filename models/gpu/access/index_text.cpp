#include <algorithm>

#include "models/base/printable.h"
#include "models/gpu/access/index_parts.h"

namespace models::gpu {
namespace {

constexpr std::size_t definitions_most = 32;

std::string quoted_word(const IndexToken& t) { return "\"" + printable(t.text, 24) + "\" at " + index_place(t.at); }

/// Reads statement after statement of a pasted text.
class IndexText {
 public:
  IndexText(std::string_view text, std::span<const NamedValue> constants);
  Result<IndexExpression> read();

 private:
  using Tokens = std::span<const IndexToken>;
  struct Declared {
    std::string array;
    std::vector<std::int64_t> sizes;  ///< elements in each bracket; 0: not said
  };
  struct Guard {
    int condition = -1;  ///< node
    int depth = 0;       ///< braces around what it guards; 0: it holds to the end
  };

  bool statement(Tokens tokens, bool closed_by_semicolon);
  bool guard(Tokens& rest, bool semicolon);
  bool definition(Tokens tokens, std::size_t equals);
  bool accesses(Tokens tokens);
  bool access(Tokens tokens, std::size_t open, std::size_t& close);
  bool declaration(Tokens tokens);
  const std::vector<std::int64_t>* sizes_of(std::string_view array) const;
  bool take_index(int root, Tokens tokens, std::string array);
  bool refuse(std::string sentence);
  int condition_of_all(int root, std::size_t at);

  std::string_view text_;
  IndexExpression out_;
  std::vector<IndexDefinition> own_;
  std::vector<Declared> declared_;
  std::vector<Guard> guards_;
  int statement_guard_ = -1;  ///< node
  int braces_ = 0;
  std::string index_letters_;  ///< the text of the access that was taken
  std::string error_;
};

IndexText::IndexText(std::string_view text, std::span<const NamedValue> constants) : text_(text) {
  out_.text = std::string(text);
  for (const NamedValue& c : constants) own_.push_back({c.name, -1, c.value});
}

bool IndexText::refuse(std::string sentence) {
  if (error_.empty()) error_ = std::move(sentence);
  return false;
}

std::size_t symbol_in(std::span<const IndexToken> tokens, std::string_view symbol) {
  const auto found = std::find_if(tokens.begin(), tokens.end(), [&](const IndexToken& t) {
    return t.kind == IndexTokenKind::symbol && t.text == symbol;
  });
  return static_cast<std::size_t>(found - tokens.begin());
}

/// The token that closes the bracket at `open`; the size where none does.
std::size_t closing(std::span<const IndexToken> tokens, std::size_t open) {
  const bool round = tokens[open].text == "(";
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].kind != IndexTokenKind::symbol) continue;
    if (tokens[i].text == (round ? "(" : "[")) ++depth;
    if (tokens[i].text == (round ? ")" : "]") && --depth == 0) return i;
  }
  return tokens.size();
}

/// "if (i < n)" in front of a statement, with or without an opened brace behind it, or "if (i >= n) return".
bool IndexText::guard(Tokens& rest, bool brace) {
  const std::size_t at = rest[0].at;
  if (rest.size() < 2 || rest[1].text != "(") return refuse("The if at " + index_place(at) + " has no ( behind it.");
  const std::size_t close = closing(rest, 1);
  if (close >= rest.size()) return refuse("The ( at " + index_place(rest[1].at) + " is not closed.");
  IndexParser parser(out_, own_);
  int condition = parser.parse(rest.subspan(2, close - 2), rest[close].at);
  if (condition < 0) return refuse(parser.error());
  rest = rest.subspan(close + 1);
  if (statement_guard_ >= 0) condition = parser.node(IndexOp::both, at, statement_guard_, condition);
  statement_guard_ = -1;
  const bool leaves = !rest.empty() && rest[0].text == "return";
  if (leaves) condition = parser.node(IndexOp::is_not, at, condition);
  if (condition < 0) return refuse(parser.error());
  if (leaves) {
    rest = {};
    guards_.push_back({condition, braces_});
  } else if (rest.empty() && brace) {
    guards_.push_back({condition, braces_ + 1});
  } else {
    statement_guard_ = condition;
  }
  return true;
}

bool IndexText::definition(Tokens tokens, std::size_t equals) {
  if (equals == 0) return refuse("The = at " + index_place(tokens[0].at) + " has no name before it.");
  const IndexToken& name = tokens[equals - 1];
  if (name.kind != IndexTokenKind::word || is_type_word(name.text) || name.text == "off")
    return refuse("Before the = at " + index_place(tokens[equals].at) + " a name is expected, as in N = 64;.");
  for (std::size_t i = 0; i + 1 < equals; ++i)
    if (!is_type_word(tokens[i].text))
      return refuse("In front of " + quoted_word(name) + " only a type may stand, not " + quoted_word(tokens[i]) + ".");
  if (statement_guard_ >= 0)
    return refuse("The name " + quoted_word(name) + " is set under an if: write it as name = condition ? a : b.");
  for (const IndexDefinition& d : own_)
    if (d.number >= 0 && d.name == name.text)
      return refuse("The name " + quoted_word(name) + " is given a second value: use another name.");
  if (out_.definitions.size() >= definitions_most)
    return refuse("There are more than " + std::to_string(definitions_most) + " names of your own: write fewer.");
  IndexParser parser(out_, own_);
  const int root = parser.parse(tokens.subspan(equals + 1), tokens.back().at + tokens.back().text.size());
  if (root < 0) return refuse(parser.error());
  out_.definitions.push_back(root);
  own_.push_back({std::string(name.text), static_cast<int>(out_.definitions.size()) - 1, 0});
  return true;
}

/// The index is off where a condition around it does not hold.
int IndexText::condition_of_all(int root, std::size_t at) {
  IndexParser parser(out_, own_);
  const auto put = [&](int condition) {
    if (root < 0 || condition < 0) return;
    const int off = parser.node(IndexOp::off, at);
    root = off < 0 ? -1 : parser.node(IndexOp::choose, at, condition, root, off);
  };
  for (const Guard& g : guards_) put(g.condition);
  put(statement_guard_);
  return root;
}

bool IndexText::take_index(int root, Tokens tokens, std::string array) {
  std::string letters;
  for (const IndexToken& t : tokens) letters += std::string(t.text) + " ";
  if (out_.root >= 0) {
    if (letters == index_letters_) return true;
    return refuse("There are two different indices, the second at " + index_place(tokens[0].at) +
                  ": keep the one whose cost you want.");
  }
  out_.root = condition_of_all(root, tokens[0].at);
  if (out_.root < 0) return refuse("The index has too many parts: write it shorter.");
  out_.array = std::move(array);
  index_letters_ = std::move(letters);
  return true;
}

const std::vector<std::int64_t>* IndexText::sizes_of(std::string_view array) const {
  for (const Declared& d : declared_)
    if (d.array == array) return &d.sizes;
  return nullptr;
}

/// "__shared__ float tile[32][33]": how the brackets of an access are to be put together.
bool IndexText::declaration(Tokens tokens) {
  const std::size_t first = symbol_in(tokens, "[");
  if (first == 0 || first >= tokens.size() || tokens[first - 1].kind != IndexTokenKind::word)
    return refuse("The array at " + index_place(tokens[0].at) + " has no size: declare it as float tile[32][33].");
  Declared out{std::string(tokens[first - 1].text), {}};
  for (std::size_t open = first; open < tokens.size();) {
    const std::size_t close = tokens[open].text == "[" ? closing(tokens, open) : tokens.size();
    if (close >= tokens.size()) return refuse("The array at " + index_place(tokens[first - 1].at) + " is not closed.");
    std::int64_t size = 0;
    if (close > open + 1 || open > first) {
      IndexParser parser(out_, own_);
      const int root = parser.parse(tokens.subspan(open + 1, close - open - 1), tokens[close].at);
      if (root < 0) return refuse(parser.error());
      IndexExpression alone = out_;
      alone.root = root;
      const auto value = alone.at({});
      if (!value || !value->has_value() || **value < 1)
        return refuse("The size at " + index_place(tokens[open].at) + " is no whole number above 0.");
      size = **value;
    }
    out.sizes.push_back(size);
    open = close + 1;
  }
  declared_.push_back(std::move(out));
  return true;
}

/// The index of tile[a][b] is a * 33 + b where tile was declared with [32][33]. `close` becomes the last bracket.
bool IndexText::access(Tokens tokens, std::size_t open, std::size_t& close) {
  const std::size_t begin = open;
  const bool named = open > 0 && tokens[open - 1].kind == IndexTokenKind::word;
  const std::string array = named ? std::string(tokens[open - 1].text) : std::string();
  const std::vector<std::int64_t>* sizes = sizes_of(array);
  int root = -1;
  for (std::size_t bracket = 0;; ++bracket) {
    const std::size_t at = tokens[open].at;
    close = closing(tokens, open);
    if (close >= tokens.size())
      return refuse("The [ at " + index_place(at) + " is not closed: add ] behind the index.");
    const Tokens inside = tokens.subspan(open + 1, close - open - 1);
    const std::size_t inner = symbol_in(inside, "[");
    if (inner < inside.size()) {
      return refuse("The index at " + index_place(inside[0].at) + " is itself read from memory (the [ at " +
                    index_place(inside[inner].at) + "): give the lanes' byte addresses instead.");
    }
    IndexParser parser(out_, own_);
    int part = parser.parse(inside, tokens[close].at);
    if (part >= 0 && bracket > 0) {
      const int size = parser.node(IndexOp::number, at, -1, -1, -1, (*sizes)[bracket]);
      const int rows = size < 0 ? -1 : parser.node(IndexOp::multiply, at, root, size);
      part = rows < 0 ? -1 : parser.node(IndexOp::add, at, rows, part);
    }
    if (part < 0) return refuse(parser.error());
    root = part;
    const bool more = close + 1 < tokens.size() && tokens[close + 1].text == "[";
    if (sizes ? more != (bracket + 1 < sizes->size()) : more) {
      return refuse("The brackets at " + index_place(tokens[begin].at) +
                    " need a declaration with as many, as in __shared__ float tile[32][33];.");
    }
    if (!more) break;
    open = close + 1;
  }
  return take_index(root, tokens.subspan(begin, close + 1 - begin), array);
}

bool IndexText::accesses(Tokens tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != IndexTokenKind::symbol || tokens[i].text != "[") continue;
    std::size_t close = i;
    if (!access(tokens, i, close)) return false;
    i = close;
  }
  return true;
}

bool IndexText::statement(Tokens tokens, bool brace) {
  static constexpr std::string_view kernel_words[] = {"__global__", "__device__", "void", "template", "#"};
  static constexpr std::string_view loop_words[] = {"for", "while", "do", "switch", "else"};
  while (!tokens.empty() && tokens[0].text == "if")
    if (!guard(tokens, brace)) return false;
  if (tokens.empty()) return true;
  const std::string_view first = tokens[0].text;
  if (std::find(std::begin(kernel_words), std::end(kernel_words), first) != std::end(kernel_words))
    return refuse("At " + index_place(tokens[0].at) + " a whole kernel begins: keep the line with the access.");
  if (std::find(std::begin(loop_words), std::end(loop_words), first) != std::end(loop_words)) {
    return refuse("The " + quoted_word(tokens[0]) +
                  " is not followed here: keep the line with the access and give its names values.");
  }
  if (first == "__shared__") return declaration(tokens);
  if (first == "extern" || first == "__syncthreads") return true;
  if (symbol_in(tokens, "[") < tokens.size()) return accesses(tokens);
  for (const IndexToken& t : tokens) {
    if (t.kind == IndexTokenKind::symbol && t.text.size() > 1 &&
        (t.text == "++" || t.text == "--" ||
         (t.text.back() == '=' && t.text != "<=" && t.text != ">=" && t.text != "==" && t.text != "!=")))
      return refuse("The " + quoted_word(t) + " changes a name: give each name one value with =.");
  }
  const std::size_t equals = symbol_in(tokens, "=");
  if (equals < tokens.size()) return definition(tokens, equals);
  IndexParser parser(out_, own_);
  const int root = parser.parse(tokens, tokens.back().at + tokens.back().text.size());
  return root < 0 ? refuse(parser.error()) : take_index(root, tokens, {});
}

Result<IndexExpression> IndexText::read() {
  using Out = Result<IndexExpression>;
  const auto tokens = index_tokens(text_);
  if (!tokens) return Out::fail(tokens.error);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    const IndexToken& t = (*tokens)[i];
    if (t.kind != IndexTokenKind::end && t.kind != IndexTokenKind::closed) continue;
    // "if (i < n)" at the end of a line: the statement is in the next.
    if (t.new_line && (*tokens)[begin].text == "if" && begin + 1 < i &&
        closing(Tokens(*tokens).subspan(0, i), begin + 1) == i - 1)
      continue;
    std::vector<IndexToken> whole;
    for (std::size_t k = begin; k < i; ++k)
      if ((*tokens)[k].kind != IndexTokenKind::end) whole.push_back((*tokens)[k]);
    statement_guard_ = -1;
    if (!whole.empty() && !statement(whole, t.text == "{")) return Out::fail(error_);
    if (t.text == "{") ++braces_;
    if (t.text == "}") {
      std::erase_if(guards_, [&](const Guard& g) { return g.depth >= braces_ && g.depth > 0; });
      braces_ = std::max(0, braces_ - 1);
    }
    begin = i + 1;
  }
  if (out_.root < 0 && !out_.definitions.empty()) out_.root = out_.definitions.back();
  if (out_.root < 0) return Out::fail("There is no index here: write one, as in 2 * tid + 1.");
  return Out::ok(std::move(out_));
}

}  // namespace

Result<IndexExpression> read_index(std::string_view text, std::span<const NamedValue> constants) {
  return IndexText(text, constants).read();
}

}  // namespace models::gpu
