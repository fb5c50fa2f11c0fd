#include "app/scenario/sentences.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/scenario/scenario.h"
#include "chapters/mechanism/registry.h"
#include "models/base/json_nesting.h"

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

std::string percent_encode(std::string_view s) {
  static constexpr char hex[] = "0123456789ABCDEF";
  std::string out;
  for (const char ch : s) {
    const auto c = static_cast<unsigned char>(ch);
    if (std::isalnum(c) || std::string_view("-_./,:[]").find(ch) != std::string_view::npos)
      out += ch;
    else
      (out += '%') += {hex[c >> 4], hex[c & 15]};
  }
  return out;
}

std::string percent_decode(std::string_view s) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  std::string out;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '%' && i + 2 < s.size() && digit(s[i + 1]) >= 0 && digit(s[i + 2]) >= 0) {
      out += static_cast<char>(digit(s[i + 1]) * 16 + digit(s[i + 2]));
      i += 2;
    } else {
      out += s[i];
    }
  }
  return out;
}

/// Key and value text of every input that differs from the lab's defaults.
std::vector<std::pair<std::string, std::string>> changed_inputs(const chapters::Lab& lab) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto fresh = lab.clone();
  fresh->reset();
  for (const auto& f : lab.inputs()) {
    if (is_personal(f)) continue;
    const Json now = field_to_json(f);
    if (now == field_to_json(*fresh->inputs().find(f.key))) continue;
    out.emplace_back(
        f.key, now.is_string() ? now.get<std::string>() : now.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return out;
}

}  // namespace

bool shallow_enough(std::string_view json, int most) { return models::json_nesting(json) <= most; }

std::string sentence_list(const std::vector<std::string>& items, std::size_t most) {
  std::string s;
  const std::size_t shown = std::min(items.size(), most);
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

std::string excerpt(std::string_view text, std::size_t most) {
  std::size_t n = std::min(text.size(), most);
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

std::string command_line_of(const chapters::Lab& lab) {
  std::string s = "ridgeline " + std::string(lab.info().id);
  for (const auto& [key, value] : changed_inputs(lab)) {
    std::string quoted;
    for (const char c : value) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    const bool plain = value.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+") ==
                           std::string::npos &&
                       !value.empty();
    s += " --set " + key + "=" + (plain ? value : "'" + quoted + "'");
  }
  return s;
}

std::string link_of(const chapters::Lab& lab) {
  std::string s(lab.info().id);
  char separator = '?';
  for (const auto& [key, value] : changed_inputs(lab)) {
    (s += separator) += percent_encode(key) + "=" + percent_encode(value);
    separator = '&';
  }
  return s;
}

Link parse_link(std::string_view link) {
  for (std::string_view scheme : {"ridgeline://", "ridgeline:", "lab:"})
    if (link.substr(0, scheme.size()) == scheme) {
      link.remove_prefix(scheme.size());
      break;
    }
  const auto question = link.find('?');
  Link out{percent_decode(link.substr(0, question)), {}};
  if (!chapters::make_lab_by_id(out.lab)) return {};
  while (question != std::string_view::npos && !link.empty()) {
    const auto start = link.find_first_of("?&");
    if (start == std::string_view::npos) break;
    link.remove_prefix(start + 1);
    const auto pair = link.substr(0, link.find('&'));
    const auto equals = pair.find('=');
    if (equals != std::string_view::npos)
      out.sets.emplace_back(percent_decode(pair.substr(0, equals)), percent_decode(pair.substr(equals + 1)));
  }
  return out;
}

}  // namespace app
