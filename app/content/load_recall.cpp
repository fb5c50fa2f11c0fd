#include "app/content/load_recall.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/content/member_reader.h"
#include "app/platform/json.h"

namespace app {
namespace {

using chapters::RecallCard;

constexpr std::size_t longest_question = 170, longest_point = 130, longest_why = 260;

/// Reads short plain texts of an object.
struct CardReader : MemberReader {
  using MemberReader::MemberReader;

  std::string words(const char* key, bool required, std::size_t longest) {
    std::string value = text(key, required);
    check(key, value, longest);
    return value;
  }
  void check(const std::string& what, const std::string& value, std::size_t longest) {
    if (value.size() > longest)
      fail(what + " has " + std::to_string(value.size()) + " letters: at most " + std::to_string(longest) +
           " are allowed");
    const bool plain = std::all_of(value.begin(), value.end(), [](char c) {
      return static_cast<unsigned char>(c) >= 0x20 && c != '`' && c != 0x7f;
    });
    if (!plain) fail(what + " must be plain text on one line, without backticks");
  }
};

RecallCard card_of(CardReader& r) {
  RecallCard c;
  c.id = r.words("id", true, 60);
  c.question = r.words("question", true, longest_question);
  c.why = r.words("why", false, longest_why);
  c.lab = r.words("lab", true, 300);
  if (!c.question.empty() && c.question.back() != '?') r.fail("question must end with a question mark");
  const Json* level = r.member("level");
  if (!level || !level->is_number_integer() || *level < 1 || *level > chapters::recall_levels)
    r.fail("level must be 1, 2 or 3");
  else
    c.level = level->get<int>();
  const Json* points = r.member("points");
  if (!points || !points->is_array()) {
    r.fail("points must be a list of what a full answer says");
    return c;
  }
  for (const Json& p : *points) {
    if (!p.is_string() || p.get<std::string>().empty()) {
      r.fail("points must be texts");
      continue;
    }
    c.points.push_back(p.get<std::string>());
    r.check("point " + std::to_string(c.points.size()), c.points.back(), longest_point);
  }
  if (c.points.size() < chapters::min_recall_points || c.points.size() > chapters::max_recall_points)
    r.fail("there are " + std::to_string(c.points.size()) + " points: 3 to 6 are allowed");
  return c;
}

/// " (roofline-ridge)": the card's id, where it has one.
std::string named(const Json& card) {
  const auto id = card.find("id");
  return id != card.end() && id->is_string() && *id != "" ? " (" + id->get<std::string>() + ")" : "";
}

}  // namespace

std::vector<RecallCard> parse_recall(std::string_view text, std::string_view origin, std::vector<std::string>& errors) {
  std::vector<RecallCard> out;
  const auto complain = [&](const std::string& what) { errors.push_back(std::string(origin) + ": " + what + "."); };
  const auto doc = parse_json(text);
  if (!doc || !doc->is_object()) {
    complain("this is not a JSON object: {\"topic\": {...}, \"cards\": [...]} is expected");
    return out;
  }
  const auto topic = doc->find("topic"), cards = doc->find("cards");
  if (topic == doc->end() || !topic->is_object() || cards == doc->end() || !cards->is_array()) {
    complain("\"topic\" must be an object and \"cards\" a list");
    return out;
  }
  CardReader heading(*topic, std::string(origin) + ": topic");
  const std::string id = heading.words("id", true, 40), label = heading.words("label", true, 40);
  if (!heading.error().empty()) {
    errors.push_back(heading.error());
    return out;
  }
  int n = 0;
  for (const Json& one : *cards) {
    const std::string where = "card " + std::to_string(++n);
    if (!one.is_object()) {
      complain(where + " must be an object");
      continue;
    }
    CardReader r(one, std::string(origin) + ": " + where + named(one));
    RecallCard c = card_of(r);
    if (r.error().empty() && std::any_of(out.begin(), out.end(), [&](const RecallCard& o) { return o.id == c.id; }))
      r.fail("another card has the same id");
    c.topic = id;
    c.topic_label = label;
    if (r.error().empty())
      out.push_back(std::move(c));
    else
      errors.push_back(r.error());
  }
  return out;
}

}  // namespace app
