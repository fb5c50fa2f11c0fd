#include "app/content/load_scenarios.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/content/member_reader.h"
#include "app/platform/json.h"
#include "app/scenario/put_by_id.h"
#include "chapters/mechanism/registry.h"
#include "models/debugging/check_tree.h"
#include "widgets/base/parts.h"

namespace app {
namespace {

using namespace chapters;

/// The longest text of an entry, bytes.
constexpr std::size_t longest_text = 400;

/// Reads texts of an object and remembers the first thing that is wrong with it.
struct EntryReader : MemberReader {
  using MemberReader::MemberReader;

  std::string words(const char* key, bool required = true) {
    std::string s = text(key, required);
    if (required && s.empty()) fail(std::string(key) + " is empty");
    if (s.size() > longest_text)
      fail(std::string(key) + " is longer than " + std::to_string(longest_text) + " bytes: shorten it");
    return s;
  }
  double ranged(const char* key, double otherwise, double lo, double hi) {
    const double n = number(key, otherwise);
    if (n >= lo && n <= hi) return n;
    fail(std::string(key) + " must be from " + widgets::exact(lo) + " to " + widgets::exact(hi));
    return otherwise;
  }
  int level() { return static_cast<int>(std::lround(ranged("level", 1, 1, 3))); }
  std::string topic() {
    std::string slug = words("topic");
    const auto chapters_all = all_chapters();
    if (std::none_of(chapters_all.begin(), chapters_all.end(), [&](const Chapter& c) { return c.slug == slug; }))
      fail("topic is \"" + slug.substr(0, 40) + "\", which is no chapter");
    return slug;
  }
  std::vector<double> numbers(const char* key, double lo, double hi, std::size_t most) {
    std::vector<double> out;
    const Json* list = member(key);
    if (!list) return out;
    if (!list->is_array() || list->size() > most) {
      fail(std::string(key) + " must be a list of at most " + std::to_string(most) + " numbers");
      return out;
    }
    for (const Json& v : *list) {
      const double n = v.is_number() ? v.get<double>() : std::nan("");
      if (n >= lo && n <= hi)
        out.push_back(n);
      else
        fail(std::string(key) + " must hold numbers from " + widgets::exact(lo) + " to " + widgets::exact(hi));
    }
    return out;
  }
  /// The objects of a list, each handed to `take` with a reader of its own.
  template <class Take>
  void each_of(const char* key, std::size_t least, std::size_t most, Take take) {
    const Json* list = member(key);
    if (!list || !list->is_array() || list->size() < least || list->size() > most) {
      fail(std::string(key) + " must be a list of " + std::to_string(least) + " to " + std::to_string(most));
      return;
    }
    for (const Json& v : *list) {
      EntryReader inner(v, "in " + std::string(key));
      take(inner);
      if (!inner.error().empty()) fail(inner.error());
    }
  }
};

/// What entries of all kinds begin with, as far as this kind has it.
template <class Entry>
Entry begun(EntryReader& r) {
  Entry e;
  e.id = r.words("id");
  e.topic = r.topic();
  if constexpr (requires { e.lab; }) e.lab = r.words("lab");
  if constexpr (requires { e.level; }) e.level = r.level();
  if constexpr (requires { e.title; }) e.title = r.words("title");
  if constexpr (requires { e.ask; }) e.ask = r.words("ask");
  return e;
}

SymptomGlyph glyph_of(EntryReader& r) {
  static constexpr std::array<std::string_view, 5> kinds{"line", "bars", "blocks", "stack", "lanes"};
  SymptomGlyph g;
  const Json* const drawn = r.member("glyph");
  if (!drawn) {
    r.fail("the key \"glyph\" is missing");
    return g;
  }
  EntryReader inner(*drawn, "glyph");
  g.kind = inner.words("kind");
  if (std::find(kinds.begin(), kinds.end(), g.kind) == kinds.end())
    inner.fail("kind is \"" + g.kind.substr(0, 40) + "\": line, bars, blocks, stack or lanes is allowed");
  g.tint = inner.words("tint", false);
  g.values = inner.numbers("values", 0, 1.25, 64);
  if (g.values.size() < 2) inner.fail("values must hold at least two numbers");
  g.hot = inner.numbers("hot", 0, 63, 64);
  g.limit = inner.number("limit", g.limit);
  if (!inner.error().empty()) r.fail(inner.error());
  return g;
}

SymptomCase symptom_of(EntryReader& r) {
  auto c = begun<SymptomCase>(r);
  c.seen = r.words("seen");
  c.here = r.words("here");
  c.tell = r.words("tell");
  c.reads = r.words("reads");
  c.twin = r.words("twin", false);
  c.cause = r.words("cause");
  c.would = r.words("would");
  c.evidence = r.words("evidence");
  c.look = r.words("look");
  c.fix = r.words("fix");
  c.changes = r.words("changes");
  c.also = r.texts("also");
  c.glyph = glyph_of(r);
  return c;
}

/// Every cause in exactly one outcome, and checks that part them all.
void check_outcomes(EntryReader& r, const BranchingCase& c) {
  models::debugging::TreeCase tree;
  for (const BranchingCause& cause : c.causes) tree.weight.push_back(cause.weight);
  for (const BranchingCheck& check : c.checks) {
    models::debugging::TreeCheck& to = tree.checks.emplace_back();
    to.minutes = check.minutes;
    to.outcome.assign(c.causes.size(), -1);
    std::size_t named = 0;
    for (std::size_t o = 0; o < check.outcomes.size(); ++o)
      for (const std::string& id : check.outcomes[o].causes)
        for (std::size_t i = 0; i < c.causes.size(); ++i) {
          if (c.causes[i].id != id) continue;
          named += to.outcome[i] < 0 ? 1 : 2;  // twice is as wrong as never
          to.outcome[i] = static_cast<int>(o);
        }
    if (named != c.causes.size()) {
      r.fail("the check \"" + check.name.substr(0, 60) + "\" must name every cause in exactly one outcome");
      return;
    }
  }
  if (!models::debugging::best_tree(tree).solvable) r.fail("its checks do not part all causes: add one that does");
}

BranchingCase branching_of(EntryReader& r) {
  auto c = begun<BranchingCase>(r);
  c.symptom = r.words("symptom");
  r.each_of("causes", 3, models::debugging::max_tree_causes, [&](EntryReader& one) {
    c.causes.push_back({one.words("id"), one.words("name"), one.words("fix"), one.ranged("weight", 1, 0.01, 1000)});
  });
  r.each_of("checks", 2, models::debugging::max_tree_checks, [&](EntryReader& one) {
    BranchingCheck check{.name = one.words("name"), .minutes = one.ranged("minutes", 1, 0.5, 240), .outcomes = {}};
    one.each_of("shows", 2, 4, [&](EntryReader& outcome) {
      check.outcomes.push_back({outcome.words("says"), outcome.texts("causes")});
    });
    c.checks.push_back(std::move(check));
  });
  if (r.error().empty()) check_outcomes(r, c);
  return c;
}

DesignCase design_of(EntryReader& r) {
  auto c = begun<DesignCase>(r);
  r.each_of("figures", 1, 8, [&](EntryReader& one) {
    DesignFigure f{one.words("id"),
                   one.words("label"),
                   one.words("lab"),
                   one.words("output"),
                   {},
                   one.ranged("times", 1, 1e-12, 1e12),
                   one.ranged("to_hold", 0, 0, 1e18)};
    const Json* set = one.member("set");
    if (set && set->is_object())
      for (const auto& [key, value] : set->items())
        f.set.push_back({key, value.is_string()    ? value.get<std::string>()
                              : value.is_number()  ? widgets::exact(value.get<double>())
                              : value.is_boolean() ? std::string(value.get<bool>() ? "true" : "false")
                                                   : std::string()});
    c.figures.push_back(std::move(f));
  });
  r.each_of("points", 4, 16, [&](EntryReader& one) { c.points.push_back({one.words("head"), one.words("say"), 0}); });
  return c;
}

Pitch pitch_of(EntryReader& r) {
  auto p = begun<Pitch>(r);
  r.each_of("points", 3, 12, [&](EntryReader& one) {
    p.points.push_back({one.words("head"), one.words("say"), one.ranged("seconds", 10, 2, 300)});
  });
  return p;
}

template <class Case, class Read>
void read_list(const Json& doc, const char* key, std::string_view origin, std::vector<Case>& to,
               std::vector<std::string>& errors, Read read) {
  const auto list = doc.find(key);
  if (list == doc.end()) return;
  if (!list->is_array()) {
    errors.push_back(std::string(origin) + ": \"" + key + "\" must be a list.");
    return;
  }
  std::size_t n = 0;
  for (const Json& one : *list) {
    EntryReader r(one, std::string(origin) + ", " + key + " " + std::to_string(++n));
    if (!one.is_object()) {
      errors.push_back(r.error());
      continue;
    }
    Case made = read(r);
    if (r.error().empty())
      put_by_id(to, std::move(made));
    else
      errors.push_back(r.error());
  }
}

}  // namespace

void parse_scenarios(std::string_view text, std::string_view origin, ScenarioDeck& deck,
                     std::vector<std::string>& errors) {
  const auto doc = parse_json(text);
  if (!doc || !doc->is_object()) {
    errors.push_back(std::string(origin) + ": this is not a JSON object with lists of scenarios.");
    return;
  }
  read_list(*doc, "symptoms", origin, deck.symptoms, errors, symptom_of);
  read_list(*doc, "branching", origin, deck.branching, errors, branching_of);
  read_list(*doc, "designs", origin, deck.designs, errors, design_of);
  read_list(*doc, "pitches", origin, deck.pitches, errors, pitch_of);
}

}  // namespace app
