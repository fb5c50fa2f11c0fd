#include "app/platform/quoted_text.h"

#include <algorithm>

#include "widgets/prose/prose_text.h"

namespace app {

std::string printable(std::string_view text) {
  std::size_t first_bad = 0;
  std::string out = widgets::valid_utf8(text, first_bad);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return out;
}

std::string whole_sentence(std::string_view text) {
  std::string out = printable(text);
  while (!out.empty() && out.back() == ' ') out.pop_back();
  if (!out.empty() && std::string_view(".!?").find(out.back()) == std::string_view::npos) out += '.';
  return out;
}

std::string path_text(const std::filesystem::path& path) {
  constexpr std::size_t max_bytes = 80, head_bytes = 30, gap_bytes = 3;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  const std::string whole = printable(path.string());
  if (whole.size() <= max_bytes) return whole;
  std::size_t head = head_bytes, tail = whole.size() - (max_bytes - head_bytes - gap_bytes);
  while (head > 0 && continues(whole[head])) --head;
  while (tail < whole.size() && continues(whole[tail])) ++tail;
  return whole.substr(0, head) + "..." + whole.substr(tail);
}

}  // namespace app
