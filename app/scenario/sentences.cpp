#include "app/scenario/sentences.h"

#include <algorithm>
#include <numeric>

#include "chapters/mechanism/registry.h"

namespace app {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string sentence_list(const std::vector<std::string>& items, std::size_t max_items) {
  std::string s;
  const std::size_t shown = std::min(items.size(), max_items);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) s += i + 1 == items.size() ? " and " : ", ";
    s += items[i];
  }
  if (shown < items.size()) s += " and " + std::to_string(items.size() - shown) + " more";
  return s;
}

std::string nearest(std::string_view word, const std::vector<std::string>& options) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& o : options)
    if (const auto d = edit_distance(word.substr(0, 64), o); d < best_distance) {
      best_distance = d;
      best = o;
    }
  return best;
}

std::string excerpt(std::string_view text, std::size_t max_bytes) {
  std::size_t n = std::min(text.size(), max_bytes);
  while (n > 0 && n < text.size() && (static_cast<unsigned char>(text[n]) & 0xC0) == 0x80) --n;
  std::string out(text.substr(0, n));
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return out;
}

std::string unknown_key(std::string_view owner, std::string_view what, std::string_view key,
                        const chapters::Fields& fields) {
  std::vector<std::string> keys;
  for (const auto& f : fields) keys.emplace_back(f.key);
  std::string s = std::string(owner) + " has no " + std::string(what) + " \"" + excerpt(key) + "\"";
  if (const auto guess = nearest(key, keys); !guess.empty()) s += ": did you mean \"" + guess + "\"";
  return s + (s.back() == '"' && s.find("did you mean") != std::string::npos ? "? " : ". ") + "It has " +
         (keys.empty() ? "none" : sentence_list(keys, 40)) + ".";
}

std::string unknown_lab(std::string_view id) {
  std::vector<std::string> ids;
  for (const auto& e : chapters::all_labs()) ids.emplace_back(e.id);
  std::string s = "There is no lab \"" + excerpt(id) + "\"";
  if (const auto guess = nearest(id, ids); !guess.empty())
    s += ": did you mean \"" + guess + "\"?";
  else
    s += ".";
  return s + " `ridgeline list` names all.";
}

}  // namespace app
