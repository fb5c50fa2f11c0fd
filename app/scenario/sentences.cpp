#include "app/scenario/sentences.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "app/platform/quoted_text.h"
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

std::string lower_case(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return out;
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

std::vector<std::string> nearest_few(std::string_view word, const std::vector<std::string>& options,
                                     std::size_t max_items) {
  constexpr std::size_t most_bytes = 64, least_part = 3;
  const std::string typed = lower_case(word.substr(0, most_bytes));
  const std::size_t far = std::max<std::size_t>(2, typed.size() / 3) + 1;
  struct Near {
    std::size_t edits, longer, at;
  };
  std::vector<Near> found;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string option = lower_case(std::string_view(options[i]).substr(0, 2 * most_bytes));
    const bool part = typed.size() >= least_part && option.find(typed) != std::string::npos;
    const std::size_t edits = std::min(edit_distance(typed, option), part ? std::size_t{0} : far);
    if (edits < far) found.push_back({edits, std::max(option.size(), typed.size()) - typed.size(), i});
  }
  std::sort(found.begin(), found.end(), [](const Near& a, const Near& b) {
    return std::tie(a.edits, a.longer, a.at) < std::tie(b.edits, b.longer, b.at);
  });
  std::vector<std::string> out;
  for (const Near& n : found)  // what is farther than the nearest is no guess
    if (out.size() < max_items && n.edits == found.front().edits) out.push_back(options[n.at]);
  return out;
}

std::string nearest(std::string_view word, const std::vector<std::string>& options) {
  auto found = nearest_few(word, options, 1);
  return found.empty() ? std::string() : std::move(found.front());
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& options) {
  const auto found = nearest_few(word, options);
  std::string s;
  for (std::size_t i = 0; i < found.size(); ++i)
    s += (i == 0 ? "did you mean \"" : i + 1 == found.size() ? " or \"" : ", \"") + found[i] + "\"";
  return s.empty() ? s : s + "?";
}

std::string excerpt(std::string_view text, std::size_t max_bytes) {
  std::size_t n = std::min(text.size(), max_bytes);
  while (n > 0 && n < text.size() && (static_cast<unsigned char>(text[n]) & 0xC0) == 0x80) --n;
  return printable(text.substr(0, n));
}

std::string unknown_key(std::string_view owner, std::string_view what, std::string_view key,
                        const chapters::Fields& fields) {
  std::vector<std::string> keys;
  for (const auto& f : fields) keys.emplace_back(f.key);
  const std::string guess = did_you_mean(key, keys);
  return std::string(owner) + " has no " + std::string(what) + " \"" + excerpt(key) + "\"" +
         (guess.empty() ? ". " : ": " + guess + " ") + "It has " + (keys.empty() ? "none" : sentence_list(keys, 40)) +
         ".";
}

std::string unknown_lab(std::string_view id) {
  std::vector<std::string> ids, of_chapter;
  for (const auto& e : chapters::all_labs()) {
    ids.emplace_back(e.id);
    if (!id.empty() && e.id.starts_with(std::string(id) + "/")) of_chapter.emplace_back(e.id);
  }
  if (!of_chapter.empty())
    return "\"" + excerpt(id) + "\" is a chapter: name one of its labs, " + sentence_list(of_chapter, 40) + ".";
  std::string guess = did_you_mean(id, ids);
  if (guess.empty() && id.find('/') == std::string_view::npos) {  // a chapter, or a lab without its chapter
    std::vector<std::string> words;
    for (const std::string& whole : ids)
      for (const std::string& word : {whole.substr(0, whole.find('/')), whole.substr(whole.find('/') + 1)})
        if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    if (const auto near = nearest_few(id, words); !near.empty()) {
      std::vector<std::string> labs;
      for (const std::string& whole : ids)
        if (whole.starts_with(near[0] + "/") || whole.ends_with("/" + near[0])) labs.push_back(whole);
      guess = labs.size() == 1 ? "did you mean \"" + labs[0] + "\"?"
                               : "did you mean one of " + sentence_list(labs, 12) + "?";
    }
  }
  return "There is no lab \"" + excerpt(id) + "\"" + (guess.empty() ? "." : ": " + guess) +
         " `ridgeline list` names all.";
}

}  // namespace app
