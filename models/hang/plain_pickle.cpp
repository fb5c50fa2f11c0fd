#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "models/hang/plain_tree.h"

namespace models::hang {
namespace {

using Kind = PlainNode::Kind;

/// The words for an opcode that would name or call code; empty for others.
std::string_view calls_code(unsigned char op) {
  switch (op) {
    case 'c':
    case 0x93:
      return "names a class or a function";
    case 'R':
    case 'i':
    case 'o':
    case 0x81:
    case 0x92:
      return "calls one";
    case 'b':
      return "sets the state of an object";
    case 'P':
    case 'Q':
      return "asks for an object from outside";
    case 0x82:
    case 0x83:
    case 0x84:
      return "names a registered extension";
    default:
      return {};
  }
}

/// The machine of a pickle as far as plain values need it: a stack, marks and a memo.
class PickleMachine {
 public:
  explicit PickleMachine(std::string_view bytes) : bytes_(bytes) {}

  Result<PlainTree> run() {
    using Read = Result<PlainTree>;
    while (fault_.empty()) {
      at_ = next_;
      const auto op = byte();
      if (!op) break;
      if (*op == '.') {
        if (stack_.size() != 1 || !marks_.empty()) return Read::fail(where("the values do not come out as one"));
        tree_.root = stack_.back();
        return Read::ok(std::move(tree_));
      }
      step(*op);
    }
    return Read::fail(fault_.empty() ? where("it ends before its end mark; copy the whole file") : fault_);
  }

 private:
  std::string where(std::string_view what) const {
    return "The pickle is not read: at byte " + std::to_string(at_) + " " + std::string(what) + ".";
  }
  void fail(std::string_view what) {
    if (fault_.empty()) fault_ = where(what);
  }
  std::optional<unsigned char> byte() {
    if (next_ >= bytes_.size()) return std::nullopt;
    return static_cast<unsigned char>(bytes_[next_++]);
  }
  /// `n` bytes as an unsigned number, least first.
  std::uint64_t number(std::size_t n) {
    std::uint64_t out = 0;
    if (bytes_.size() - next_ < n) {
      fail("a number is cut off; copy the whole file");
      next_ = bytes_.size();
      return 0;
    }
    for (std::size_t i = 0; i < n; ++i)
      out |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[next_ + i])) << (8 * i);
    next_ += n;
    return out;
  }
  std::string_view take(std::uint64_t n) {
    if (n > bytes_.size() - next_) {
      fail("a text is longer than the file; copy the whole file");
      return {};
    }
    const std::string_view out = bytes_.substr(next_, static_cast<std::size_t>(n));
    next_ += static_cast<std::size_t>(n);
    return out;
  }

  std::int32_t add(PlainNode node) {
    if (tree_.nodes.size() >= max_plain_nodes) {
      fail("there are more than 4,000,000 values; dump with fewer records or without stacks");
      return -1;
    }
    tree_.nodes.push_back(std::move(node));
    return static_cast<std::int32_t>(tree_.nodes.size() - 1);
  }
  void push(PlainNode node) {
    if (const std::int32_t at = add(std::move(node)); at >= 0) stack_.push_back(at);
  }
  void push_kind(Kind kind) { push(PlainNode{kind, 0, 0, {}, {}}); }
  void push_integer(std::int64_t value, Kind kind = Kind::integer) { push(PlainNode{kind, value, 0, {}, {}}); }
  void push_text(std::string_view text) { push(PlainNode{Kind::text, 0, 0, std::string(text), {}}); }

  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
  /// Takes the last mark away and gives where its values begin on the stack.
  std::size_t take_mark() {
    if (marks_.empty()) {
      fail("a mark is missing");
      return stack_.size();
    }
    const std::size_t from = marks_.back();
    marks_.pop_back();
    return from;
  }
  bool has(std::size_t n) {
    if (stack_.size() >= floor() + n) return true;
    fail("a value is missing");
    return false;
  }

  /// Puts the values from `from` on into the container below them.
  void put_into(std::size_t from, Kind kind) {
    if (!fault_.empty()) return;
    if (from == 0 || from > stack_.size() || tree_.at(stack_[from - 1]).kind != kind ||
        (kind == Kind::dictionary && (stack_.size() - from) % 2 != 0)) {
      fail("values are put where they cannot stand");
      return;
    }
    std::vector<std::int32_t>& items = tree_.nodes[static_cast<std::size_t>(stack_[from - 1])].items;
    items.insert(items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(from), stack_.end());
    stack_.resize(from);
  }
  /// Makes a list, or a dictionary, of the values from `from` on.
  void make_of(std::size_t from, Kind kind = Kind::list) {
    if (!fault_.empty()) return;
    PlainNode node{kind, 0, 0, {}, {}};
    node.items.assign(stack_.begin() + static_cast<std::ptrdiff_t>(from), stack_.end());
    if (kind == Kind::dictionary && node.items.size() % 2 != 0) return fail("a key has no value");
    stack_.resize(from);
    push(std::move(node));
  }
  void make_of_last(std::size_t n) {
    if (has(n)) make_of(stack_.size() - n);
  }

  void remember(std::uint64_t key) {
    if (!has(1)) return;
    // The memo of a writer counts up, so a key beyond the bytes read is not its own.
    if (key > bytes_.size()) return fail("the memo is asked to hold more than the file");
    if (key >= memo_.size()) memo_.resize(static_cast<std::size_t>(key) + 1, -1);
    memo_[static_cast<std::size_t>(key)] = stack_.back();
  }
  void recall(std::uint64_t key) {
    if (key >= memo_.size() || memo_[static_cast<std::size_t>(key)] < 0)
      return fail("the memo does not hold what is asked of it");
    stack_.push_back(memo_[static_cast<std::size_t>(key)]);
  }

  /// A whole number of up to eight bytes in two's complement; a longer one is no count and no time.
  void push_long(std::uint64_t size) {
    if (size > 8) return fail("a whole number has more than eight bytes");
    std::uint64_t bits = number(static_cast<std::size_t>(size));
    if (size > 0 && size < 8 && (bits >> (8 * size - 1) & 1u) != 0) bits |= ~std::uint64_t{0} << (8 * size);
    push_integer(static_cast<std::int64_t>(bits));
  }
  void push_real() {
    std::uint64_t bits = 0;
    for (const char c : take(8)) bits = bits << 8 | static_cast<unsigned char>(c);
    push(PlainNode{Kind::real, 0, std::bit_cast<double>(bits), {}, {}});
  }

  void step(unsigned char op) {
    if (const std::string_view code = calls_code(op); !code.empty())
      return fail("it " + std::string(code) +
                  ", which would run code. A dump of plain values is read; write this one as JSON");
    if (!scalar(op) && !container(op) && !memo(op))
      fail("stands an opcode that plain values do not need; write the dump as JSON");
  }

  bool scalar(unsigned char op) {
    switch (op) {
      case 0x80:
        if (const std::uint64_t protocol = number(1); protocol < 2 || protocol > 5)
          fail("stands a protocol that is not 2 to 5");
        return true;
      case 0x95:  // a frame, which says nothing about values
        number(8);
        return true;
      case 'N':
        push_kind(Kind::none);
        return true;
      case 0x88:
      case 0x89:
        push_integer(op == 0x88 ? 1 : 0, Kind::boolean);
        return true;
      case 'K':
        push_integer(static_cast<std::int64_t>(number(1)));
        return true;
      case 'M':
        push_integer(static_cast<std::int64_t>(number(2)));
        return true;
      case 'J':
        push_integer(static_cast<std::int32_t>(static_cast<std::uint32_t>(number(4))));
        return true;
      case 0x8a:
        push_long(number(1));
        return true;
      case 0x8b:
        push_long(number(4));
        return true;
      case 'G':
        push_real();
        return true;
      case 0x8c:
        push_text(take(number(1)));
        return true;
      case 'X':
        push_text(take(number(4)));
        return true;
      case 0x8d:
        push_text(take(number(8)));
        return true;
      default:
        return false;
    }
  }

  bool container(unsigned char op) {
    switch (op) {
      case '(':
        if (marks_.size() >= static_cast<std::size_t>(max_plain_depth))
          fail("values nest deeper than 64 levels");
        else
          marks_.push_back(stack_.size());
        return true;
      case '}':
        push_kind(Kind::dictionary);
        return true;
      case ']':
      case ')':
        push_kind(Kind::list);
        return true;
      case 'l':
      case 't':
        make_of(take_mark());
        return true;
      case 'd':
        make_of(take_mark(), Kind::dictionary);
        return true;
      case 0x85:
      case 0x86:
      case 0x87:
        make_of_last(op - std::size_t{0x84});
        return true;
      case 'a':
        if (has(2)) put_into(stack_.size() - 1, Kind::list);
        return true;
      case 'e':
        put_into(take_mark(), Kind::list);
        return true;
      case 's':
        if (has(3)) put_into(stack_.size() - 2, Kind::dictionary);
        return true;
      case 'u':
        put_into(take_mark(), Kind::dictionary);
        return true;
      default:
        return false;
    }
  }

  bool memo(unsigned char op) {
    switch (op) {
      case 'q':
        remember(number(1));
        return true;
      case 'r':
        remember(number(4));
        return true;
      case 0x94:
        remember(memo_.size());
        return true;
      case 'h':
        recall(number(1));
        return true;
      case 'j':
        recall(number(4));
        return true;
      case '0':
        if (has(1)) stack_.pop_back();
        return true;
      default:
        return false;
    }
  }

  std::string_view bytes_;
  std::size_t next_ = 0, at_ = 0;
  PlainTree tree_;
  std::vector<std::int32_t> stack_, memo_;
  std::vector<std::size_t> marks_;
  std::string fault_;
};

}  // namespace

bool begins_as_pickle(std::string_view bytes) {
  return bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5;
}

Result<PlainTree> read_plain_pickle(std::string_view bytes) {
  if (bytes.size() > max_plain_bytes)
    return Result<PlainTree>::fail("The pickle is larger than 64 MiB: dump with fewer records.");
  return PickleMachine(bytes).run();
}

}  // namespace models::hang
