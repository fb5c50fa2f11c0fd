#include <charconv>

#include "models/base/printable.h"
#include "models/gpu/access/index_parts.h"
#include "models/gpu/access/swizzle.h"

namespace models::gpu {
namespace {

constexpr std::size_t nodes_most = 512;

struct BinaryOp {
  std::string_view symbol;
  int level;  ///< higher binds tighter
  IndexOp op;
};
constexpr BinaryOp binary_ops[] = {{"||", 1, IndexOp::either},        {"&&", 2, IndexOp::both},
                                   {"|", 3, IndexOp::bit_or},         {"^", 4, IndexOp::bit_xor},
                                   {"&", 5, IndexOp::bit_and},        {"==", 6, IndexOp::equal},
                                   {"!=", 6, IndexOp::not_equal},     {"<", 7, IndexOp::less},
                                   {"<=", 7, IndexOp::less_equal},    {">", 7, IndexOp::greater},
                                   {">=", 7, IndexOp::greater_equal}, {"<<", 8, IndexOp::shift_left},
                                   {">>", 8, IndexOp::shift_right},   {"+", 9, IndexOp::add},
                                   {"-", 9, IndexOp::subtract},       {"*", 10, IndexOp::multiply},
                                   {"/", 10, IndexOp::divide},        {"%", 10, IndexOp::remainder}};

struct KernelName {
  std::string_view word;
  ThreadName name;
};
constexpr KernelName kernel_names[] = {{"threadIdx.x", ThreadName::col},   {"threadIdx.y", ThreadName::row},
                                       {"blockIdx.x", ThreadName::block},  {"blockDim.x", ThreadName::width},
                                       {"blockDim.y", ThreadName::height}, {"lane_id", ThreadName::lane},
                                       {"laneid", ThreadName::lane},       {"laneId", ThreadName::lane},
                                       {"warp_id", ThreadName::warp},      {"warpId", ThreadName::warp}};

std::optional<ThreadName> known_name(std::string_view word) {
  for (int i = 0; i < thread_name_count; ++i)
    if (thread_name(static_cast<ThreadName>(i)) == word) return static_cast<ThreadName>(i);
  for (const KernelName& k : kernel_names)
    if (k.word == word) return k.name;
  return std::nullopt;
}

}  // namespace

std::string_view thread_name(ThreadName name) {
  static constexpr std::string_view names[] = {"tid", "lane", "warp", "block", "row", "col", "width", "height"};
  static_assert(std::size(names) == thread_name_count);
  return names[static_cast<std::size_t>(name)];
}

int IndexParser::parse(std::span<const IndexToken> tokens, std::size_t text_end) {
  tokens_ = tokens;
  next_ = 0;
  depth_ = 0;
  text_end_ = text_end;
  if (tokens.empty()) return refuse("An index is missing at " + index_place(text_end) + ".");
  const int root = choice();
  if (root >= 0 && next_ < tokens_.size()) {
    return refuse("At " + index_place(place()) + " \"" + printable(seen(), 20) +
                  "\" is left over: an operator is missing before it.");
  }
  return root;
}

int IndexParser::node(IndexOp op, std::size_t at, int first, int second, int third, std::int64_t value) {
  if (into_.nodes.size() >= nodes_most) return refuse("The index has too many parts: write it shorter.");
  into_.nodes.push_back({op, static_cast<std::int16_t>(first), static_cast<std::int16_t>(second),
                         static_cast<std::int16_t>(third), static_cast<std::uint16_t>(at), value});
  return static_cast<int>(into_.nodes.size()) - 1;
}

int IndexParser::refuse(std::string sentence) {
  if (error_.empty()) error_ = std::move(sentence);
  return -1;
}
bool IndexParser::is(std::string_view symbol) const {
  return next_ < tokens_.size() && tokens_[next_].kind == IndexTokenKind::symbol && tokens_[next_].text == symbol;
}
bool IndexParser::take(std::string_view symbol) {
  const bool there = is(symbol);
  next_ += there ? 1 : 0;
  return there;
}
std::size_t IndexParser::place() const { return next_ < tokens_.size() ? tokens_[next_].at : text_end_; }
std::string_view IndexParser::seen() const { return next_ < tokens_.size() ? tokens_[next_].text : std::string_view(); }

int IndexParser::choice() {
  if (++depth_ > index_depth_most) {
    return refuse("At " + index_place(place()) + " more than " + std::to_string(index_depth_most) +
                  " brackets stand inside each other: write it flatter.");
  }
  int out = binary(1);
  if (out >= 0 && is("?")) {
    const std::size_t at = place();
    ++next_;
    const int yes = choice();
    if (yes < 0) return -1;
    if (!take(":"))
      return refuse("The ? at " + index_place(at) + " has no : at " + index_place(place()) + ": write a ? b : c.");
    const int no = choice();
    out = no < 0 ? -1 : node(IndexOp::choose, at, out, yes, no);
  }
  --depth_;
  return out;
}

int IndexParser::binary(int least) {
  int left = unary();
  while (left >= 0) {
    const BinaryOp* found = nullptr;
    for (const BinaryOp& b : binary_ops)
      if (is(b.symbol) && b.level >= least) found = &b;
    if (!found) break;
    const std::size_t at = place();
    ++next_;
    const int right = binary(found->level + 1);
    left = right < 0 ? -1 : node(found->op, at, left, right);
  }
  return left;
}

/// Skips "(int)" and "(unsigned long)" where a value follows.
bool IndexParser::skip_cast() {
  std::size_t i = next_ + 1;
  while (i < tokens_.size() && tokens_[i].kind == IndexTokenKind::word && is_type_word(tokens_[i].text)) ++i;
  if (i == next_ + 1 || i >= tokens_.size() || tokens_[i].text != ")") return false;
  next_ = i + 1;
  return true;
}

int IndexParser::unary() {
  const std::size_t at = place();
  if (is("(") && skip_cast()) {
    if (++depth_ > index_depth_most) return refuse("At " + index_place(at) + " there are too many casts.");
    const int out = unary();
    --depth_;
    return out;
  }
  const IndexOp op = is("-") ? IndexOp::negate : is("~") ? IndexOp::invert : IndexOp::is_not;
  const bool plus = is("+");
  if (!plus && !is("-") && !is("~") && !is("!")) return primary();
  ++next_;
  if (++depth_ > index_depth_most) return refuse("At " + index_place(at) + " there are too many signs.");
  const int inner = unary();
  --depth_;
  if (inner < 0 || plus) return inner;
  IndexNode& n = into_.nodes[static_cast<std::size_t>(inner)];
  if (op == IndexOp::negate && n.op == IndexOp::number) {
    n.value = -n.value;  // A number that was read is not negative, or was made so by a sign.
    return inner;
  }
  return node(op, at, inner);
}

int IndexParser::primary() {
  if (next_ >= tokens_.size()) return refuse("A value is missing at " + index_place(text_end_) + ".");
  const IndexToken& t = tokens_[next_];
  if (t.kind == IndexTokenKind::number) return number();
  if (t.kind == IndexTokenKind::word) return name();
  if (is("(")) return bracketed();
  if (is("[")) return refuse("The [ at " + index_place(t.at) + " has no array before it.");
  return refuse("At " + index_place(t.at) + " a value is expected, not \"" + printable(t.text, 8) + "\".");
}

int IndexParser::bracketed() {
  const std::size_t at = place();
  ++next_;
  const int out = choice();
  if (out < 0) return -1;
  if (!take(")")) return refuse("The ( at " + index_place(at) + " is not closed at " + index_place(place()) + ".");
  return out;
}

int IndexParser::number() {
  const IndexToken& t = tokens_[next_++];
  std::string_view digits = t.text;
  int base = 10;
  if (digits.substr(0, 2) == "0x" || digits.substr(0, 2) == "0X") {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.substr(0, 2) == "0b" || digits.substr(0, 2) == "0B") {
    base = 2;
    digits.remove_prefix(2);
  }
  const std::string_view suffixes = "uUlL";
  while (!digits.empty() && suffixes.find(digits.back()) != std::string_view::npos) digits.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  const std::string quoted = "\"" + printable(t.text, 24) + "\" at " + index_place(t.at);
  if (failed == std::errc::result_out_of_range) return refuse("The number " + quoted + " does not fit in 64 bits.");
  if (failed != std::errc() || end != digits.data() + digits.size())
    return refuse("An index is made of whole numbers, and " + quoted + " is none.");
  return node(IndexOp::number, t.at, -1, -1, -1, value);
}

int IndexParser::name() {
  const IndexToken& t = tokens_[next_++];
  for (std::size_t i = own_.size(); i-- > 0;) {
    if (own_[i].name != t.text) continue;
    if (own_[i].number < 0) return node(IndexOp::number, t.at, -1, -1, -1, own_[i].value);
    const IndexNode& root =
        into_.nodes[static_cast<std::size_t>(into_.definitions[static_cast<std::size_t>(own_[i].number)])];
    if (root.op == IndexOp::number) return node(IndexOp::number, t.at, -1, -1, -1, root.value);
    return node(IndexOp::defined, t.at, -1, -1, -1, own_[i].number);
  }
  if (t.text == "off") return node(IndexOp::off, t.at);
  if (t.text == "warpSize") return node(IndexOp::number, t.at, -1, -1, -1, warp_lanes);
  if (const auto known = known_name(t.text)) {
    into_.names |= 1U << static_cast<unsigned>(*known);
    return node(IndexOp::name, t.at, -1, -1, -1, static_cast<std::int64_t>(*known));
  }
  if (is("(")) return call(t.text, t.at);
  const std::string quoted = "\"" + printable(t.text, 24) + "\" at " + index_place(t.at);
  if (is_type_word(t.text)) return refuse("The type " + quoted + " stands where a value is expected.");
  return refuse("The name " + quoted + " is not known: give it a value first, as in " + printable(t.text, 24) +
                " = 64; or use tid, lane, warp, block, row, col.");
}

int IndexParser::call(std::string_view function, std::size_t at) {
  const std::size_t count = function == "min" || function == "max" ? 2 : function == "swizzle" ? 4 : 0;
  if (count == 0) {
    return refuse("The function \"" + printable(function, 24) + "\" at " + index_place(at) +
                  " is not known: only min, max and swizzle(B, M, S, a) are.");
  }
  ++next_;
  std::array<int, 4> values{-1, -1, -1, -1};
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && !take(",")) {
      return refuse(std::string(function) + " at " + index_place(at) + " has " + std::to_string(count) +
                    " values between commas; at " + index_place(place()) + " one is missing.");
    }
    values[i] = choice();
    if (values[i] < 0) return -1;
  }
  if (!take(")"))
    return refuse(std::string(function) + " at " + index_place(at) + " is not closed at " + index_place(place()) + ".");
  if (function == "min") return node(IndexOp::minimum, at, values[0], values[1]);
  if (function == "max") return node(IndexOp::maximum, at, values[0], values[1]);
  return swizzle_of(values, at);
}

int IndexParser::swizzle_of(std::span<const int> values, std::size_t at) {
  std::array<std::int64_t, 3> v{};
  for (std::size_t i = 0; i < 3; ++i) {
    const IndexNode& n = into_.nodes[static_cast<std::size_t>(values[i])];
    if (n.op != IndexOp::number || n.value < -62 || n.value > 62)
      return refuse("swizzle(B, M, S, a) at " + index_place(at) + " needs three small numbers before a.");
    v[i] = n.value;
  }
  const Swizzle s{.bits = static_cast<int>(v[0]), .base = static_cast<int>(v[1]), .shift = static_cast<int>(v[2])};
  if (!s.admissible()) {
    return refuse("swizzle at " + index_place(at) +
                  " is none: B and M are 0 or more, and S is at least as large as B.");
  }
  const std::int64_t packed = v[0] | (v[1] << 8) | ((v[2] + 64) << 16);
  return node(IndexOp::swizzle, at, values[3], -1, -1, packed);
}

}  // namespace models::gpu
