#include "app/scenario/link.h"

#include <nlohmann/json.hpp>

#include "app/scenario/file_mode.h"
#include "app/scenario/own_handed_on.h"
#include "app/scenario/scenario.h"
#include "chapters/mechanism/link_writer.h"
#include "chapters/mechanism/registry.h"

namespace app {
namespace {

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

/// What stands behind the "=".
std::string value_text(const Json& value) { return value.is_string() ? value.get<std::string>() : to_text(value); }

}  // namespace

Json changed_inputs(const chapters::Lab& lab) {
  Json out = Json::object();
  const auto fresh = lab.with_inputs(*lab.keep_inputs());
  fresh->reset();
  for (const auto& f : lab.inputs()) {
    if (is_personal(f) || waits_for_mode(f, lab.inputs())) continue;
    Json now = field_to_json(f);
    if (now != field_to_json(*fresh->inputs().find(f.key))) out[std::string(f.key)] = std::move(now);
  }
  return out;
}

std::string command_line_of(const chapters::Lab& lab) {
  std::string s = "ridgeline " + std::string(lab.info().id);
  const Json inputs = changed_inputs(lab);
  for (const auto& [key, changed] : inputs.items()) {
    const std::string value = value_text(changed);
    std::string quoted;
    for (const char c : value) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    const bool plain = value.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+") ==
                           std::string::npos &&
                       !value.empty();
    s += " --set " + key + "=" + (plain ? value : "'" + quoted + "'");
  }
  return s;
}

std::string link_with(std::string_view lab, const Json& values) {
  std::string s(lab);
  char separator = '?';
  for (const auto& [key, value] : values.items()) {
    s += separator + chapters::in_link(key) + "=" + chapters::in_link(value_text(value));
    separator = '&';
  }
  return s;
}

std::string link_of(const chapters::Lab& lab) { return link_with(lab.info().id, changed_inputs(lab)); }

Link parse_link(std::string_view link) {
  for (std::string_view scheme : {"ridgeline://", "ridgeline:", "lab:"})
    if (link.substr(0, scheme.size()) == scheme) {
      link.remove_prefix(scheme.size());
      break;
    }
  const auto question = link.find('?');
  Link out{percent_decode(link.substr(0, question)), {}, {}};
  if (!chapters::has_lab(out.lab)) return {};
  while (question != std::string_view::npos && !link.empty()) {
    const auto start = link.find_first_of("?&");
    if (start == std::string_view::npos) break;
    link.remove_prefix(start + 1);
    const auto pair = link.substr(0, link.find('&'));
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    std::string key = percent_decode(pair.substr(0, equals)), value = percent_decode(pair.substr(equals + 1));
    if (key == own_key)
      out.own = std::move(value);
    else
      out.sets.emplace_back(std::move(key), std::move(value));
  }
  return out;
}

}  // namespace app
