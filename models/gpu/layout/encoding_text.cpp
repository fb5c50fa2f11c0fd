#include "models/gpu/layout/encoding_text.h"

#include "models/base/printable.h"

namespace models::gpu {
namespace {

constexpr int max_encoding_depth = 6;
constexpr std::size_t max_encoding_parts = 32;

class EncodingReader {
 public:
  explicit EncodingReader(std::string_view text) : text_(text) {}

  bool node(EncodingText& out, int depth) {
    if (depth > max_encoding_depth) return false;
    if (peek() == '{') return parts(out, '}', depth);
    if (digit()) return number(out);
    while (letter() || (digit() && !out.name.empty())) out.name += text_[at_++];
    if (out.name.empty() || out.name.size() > 40) return false;
    if (out.name == "true" || out.name == "false") {
      out.number = out.name == "true" ? 1 : 0;
      out.name.clear();
      return true;
    }
    return peek() == '(' && parts(out, ')', depth);
  }
  bool ended() const { return at_ == text_.size(); }
  std::size_t place() const { return at_ + 1; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool digit() const { return peek() >= '0' && peek() <= '9'; }
  bool letter() const { return (peek() >= 'a' && peek() <= 'z') || (peek() >= 'A' && peek() <= 'Z'); }
  bool number(EncodingText& out) {
    for (; digit(); ++at_) {
      out.number = out.number * 10 + (peek() - '0');
      if (out.number > 1 << 16) return false;
    }
    return true;
  }
  bool parts(EncodingText& out, char end, int depth) {
    ++at_;
    if (peek() == end) return ++at_ > 0;
    while (out.parts.size() < max_encoding_parts) {
      if (!node(out.parts.emplace_back(), depth + 1)) return false;
      const char next = peek();
      if (next != ',' && next != end) return false;
      ++at_;
      if (next == end) return true;
    }
    return false;
  }
};

}  // namespace

std::vector<std::int64_t> EncodingText::list(std::size_t i, std::size_t count, std::int64_t filler) const {
  std::vector<std::int64_t> out(count, filler);
  if (i >= parts.size()) return out;
  for (std::size_t k = 0; k < std::min(count, parts[i].parts.size()); ++k) out[k] = parts[i].parts[k].number;
  return out;
}

Result<EncodingText> read_encoding(std::string_view text) {
  EncodingReader reader(text);
  EncodingText out;
  if (reader.node(out, 0) && reader.ended() && !out.name.empty()) return Result<EncodingText>::ok(std::move(out));
  return Result<EncodingText>::fail("The encoding \"" + printable(text) + "\" does not read at character " +
                                    std::to_string(reader.place()) +
                                    ": write it as blocked({1,4},{8,4},{4,1},{1,1},{1,1},{1,0},{1,0}).");
}

}  // namespace models::gpu
