#include <optional>

#include "models/base/printable.h"
#include "models/gpu/layout/cute_layout.h"

// What people type: shapes, strides, coordinates and tilers.
namespace models::gpu {
namespace {

/// A tree of numbers and underscores; all that is written here is one.
struct NumberTree {
  std::int64_t number = 0;
  bool kept = false, nested = false;
  std::vector<NumberTree> parts{};
};

class LayoutReader {
 public:
  explicit LayoutReader(std::string_view text) : text_(text) {}

  std::optional<NumberTree> tree(bool underscores, int depth = 0) {
    skip_blanks();
    if (peek() == '(') return nested(underscores, depth);
    if (underscores && peek() == '_' && !digit(at_ + 1)) {
      ++at_;
      return counted(NumberTree{.kept = true});
    }
    return number();
  }
  bool take(char c) {
    skip_blanks();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool ended() {
    skip_blanks();
    return at_ >= text_.size();
  }
  char next() {
    skip_blanks();
    return peek();
  }
  /// A `_` that is no part of a number is next, and is taken.
  bool take_underscore() { return next() == '_' && !digit(at_ + 1) && take('_'); }
  std::string error() const { return error_; }
  std::nullopt_t fail(std::string what) {
    if (!error_.empty()) return std::nullopt;
    const std::string found =
        at_ >= text_.size() ? "the text ends" : '"' + printable(text_.substr(at_), 8) + "\" stands";
    error_ = "At character " + std::to_string(at_ + 1) + " " + found + ": " + std::move(what) + ".";
    return std::nullopt;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  int leaves_ = 0;
  std::string error_;

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool digit(std::size_t i) const { return i < text_.size() && text_[i] >= '0' && text_[i] <= '9'; }
  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }
  std::optional<NumberTree> counted(NumberTree leaf) {
    if (++leaves_ > 2 * max_layout_leaves) {
      return fail("there are too many numbers; write at most " + std::to_string(max_layout_leaves) + " modes");
    }
    return leaf;
  }
  std::optional<NumberTree> number() {
    if (peek() == '_') ++at_;
    if (!digit(at_)) return fail("write a whole number or an opening bracket there");
    std::int64_t value = 0;
    while (digit(at_)) {
      value = value * 10 + (text_[at_] - '0');
      if (value > max_layout_number) return fail("the number is beyond 2^53; write a smaller one");
      ++at_;
    }
    return counted(NumberTree{.number = value});
  }
  std::optional<NumberTree> nested(bool underscores, int depth) {
    if (depth >= max_layout_depth) {
      return fail("brackets are nested deeper than " + std::to_string(max_layout_depth) + "; flatten some");
    }
    ++at_;
    NumberTree out{.nested = true};
    while (true) {
      auto part = tree(underscores, depth + 1);
      if (!part) return std::nullopt;
      out.parts.push_back(std::move(*part));
      if (take(',')) continue;
      if (take(')')) return out;
      return fail("write a comma or a closing bracket there");
    }
  }
};

/// The reason why shape and stride are not nested alike, empty where they are.
std::string join_trees(const NumberTree& shape, const NumberTree* stride, CuteLayout& out) {
  out.nested = shape.nested;
  if (!shape.nested) {
    if (stride != nullptr && stride->nested)
      return "A stride is nested where the shape is " + std::to_string(shape.number);
    if (shape.number < 1) return "An extent of the shape is 0";
    out.shape = shape.number;
    out.stride = stride != nullptr ? stride->number : 0;
    return {};
  }
  if (stride != nullptr && (!stride->nested || stride->parts.size() != shape.parts.size())) {
    const std::size_t given = stride->nested ? stride->parts.size() : 1;
    return "The stride has " + std::to_string(given) + (given == 1 ? " entry" : " entries") + " where the shape has " +
           std::to_string(shape.parts.size());
  }
  for (std::size_t i = 0; i < shape.parts.size(); ++i) {
    out.modes.emplace_back();
    auto why = join_trees(shape.parts[i], stride != nullptr ? &stride->parts[i] : nullptr, out.modes.back());
    if (!why.empty()) return why;
  }
  return {};
}

void make_compact(CuteLayout& layout, std::int64_t& next) {
  if (!layout.nested) {
    layout.stride = next;
    next = saturating_mul(next, layout.shape);
  }
  for (auto& mode : layout.modes) make_compact(mode, next);
}

Result<CuteLayout> read_layout(LayoutReader& reader, bool strides) {
  using Made = Result<CuteLayout>;
  const auto shape = reader.tree(false);
  if (!shape) return Made::fail(reader.error());
  std::optional<NumberTree> stride;
  if (strides && reader.take(':')) {
    stride = reader.tree(false);
    if (!stride) return Made::fail(reader.error());
  }
  CuteLayout out;
  if (const auto why = join_trees(*shape, stride ? &*stride : nullptr, out); !why.empty()) {
    return Made::fail(why + ": nest shape and stride alike, with extents of 1 or more.");
  }
  std::int64_t next = 1;
  if (strides && !stride) make_compact(out, next);
  if (out.size() > max_layout_number || out.cosize() > max_layout_number) {
    return Made::fail("The layout has more than 2^53 elements or places: write smaller numbers.");
  }
  return Made::ok(std::move(out));
}

template <class T>
Result<T> all_read(LayoutReader& reader, Result<T> read) {
  if (!read || reader.ended()) return read;
  (void)reader.fail("nothing is expected there; a layout is written ((4,2),8):((1,32),4)");
  return Result<T>::fail(reader.error());
}

CuteCoordinate as_coordinate(const NumberTree& tree) {
  CuteCoordinate out{.at = tree.number, .kept = tree.kept, .nested = tree.nested};
  for (const auto& part : tree.parts) out.modes.push_back(as_coordinate(part));
  return out;
}

Result<CuteTiler> read_tiler(LayoutReader& reader, int depth) {
  using Made = Result<CuteTiler>;
  CuteTiler out;
  if (reader.take('[')) {
    out.list = true;
    if (depth >= max_layout_depth) {
      (void)reader.fail("lists are nested deeper than " + std::to_string(max_layout_depth) + "; flatten some");
      return Made::fail(reader.error());
    }
    while (true) {
      auto part = read_tiler(reader, depth + 1);
      if (!part) return part;
      out.parts.push_back(std::move(*part));
      if (out.parts.size() > std::size_t{max_layout_leaves}) {
        (void)reader.fail("the list is too long; write at most " + std::to_string(max_layout_leaves) + " tilers");
        return Made::fail(reader.error());
      }
      if (reader.take(',')) continue;
      if (reader.take(']')) return Made::ok(std::move(out));
      (void)reader.fail("write a comma or a closing square bracket there");
      return Made::fail(reader.error());
    }
  }
  if (depth > 0 && reader.take_underscore()) {
    out.kept = true;
    return Made::ok(std::move(out));
  }
  auto layout = read_layout(reader, true);
  if (!layout) return Made::fail(layout.error);
  out.layout = std::move(*layout);
  return Made::ok(std::move(out));
}

std::string write_tree(const CuteLayout& layout, bool strides) {
  if (!layout.nested) return std::to_string(strides ? layout.stride : layout.shape);
  std::string out = "(";
  for (std::size_t i = 0; i < layout.modes.size(); ++i)
    out += (i == 0 ? "" : ",") + write_tree(layout.modes[i], strides);
  return out + ")";
}

}  // namespace

Result<CuteLayout> parse_layout(std::string_view text) {
  LayoutReader reader(text);
  return all_read(reader, read_layout(reader, true));
}
Result<CuteLayout> parse_shape(std::string_view text) {
  LayoutReader reader(text);
  return all_read(reader, read_layout(reader, false));
}
Result<CuteCoordinate> parse_coordinate(std::string_view text) {
  LayoutReader reader(text);
  const auto tree = reader.tree(true);
  if (!tree) return Result<CuteCoordinate>::fail(reader.error());
  return all_read(reader, Result<CuteCoordinate>::ok(as_coordinate(*tree)));
}
Result<CuteTiler> parse_tiler(std::string_view text) {
  LayoutReader reader(text);
  return all_read(reader, read_tiler(reader, 0));
}

std::string text_of(const CuteLayout& layout) { return write_tree(layout, false) + ":" + write_tree(layout, true); }
std::string shape_text(const CuteLayout& layout) { return write_tree(layout, false); }
std::string text_of(const CuteCoordinate& coordinate) {
  if (coordinate.kept) return "_";
  if (!coordinate.nested) return std::to_string(coordinate.at);
  std::string out = "(";
  for (std::size_t i = 0; i < coordinate.modes.size(); ++i) out += (i == 0 ? "" : ",") + text_of(coordinate.modes[i]);
  return out + ")";
}

}  // namespace models::gpu
