#include "chapters/mechanism/scenario_deck.h"

#include <algorithm>
#include <set>

#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"

namespace chapters {
namespace {

template <class Case>
bool has_topic(const std::vector<Case>& cases, std::string_view slug) {
  return std::any_of(cases.begin(), cases.end(), [&](const Case& c) { return c.topic == slug; });
}

template <class Case>
void add_cases(Choices& to, const std::vector<Case>& cases, std::string_view kind) {
  for (const Case& c : cases) to.push_back({c.id, c.title, "", {"kind", kind}});
}

}  // namespace

double Pitch::seconds() const {
  double sum = 0;
  for (const OutlinePoint& p : points) sum += p.seconds;
  return sum;
}

void index_deck(ScenarioDeck& deck) {
  deck.topics.assign(1, {"any", "all chapters", ""});
  for (const Chapter& chapter : all_chapters())
    if (has_topic(deck.symptoms, chapter.slug) || has_topic(deck.branching, chapter.slug))
      deck.topics.push_back({std::string(chapter.slug), std::string(chapter.title), ""});
  deck.cases.assign(1, {"dealt", "by the seed", "The seed chooses among those of the topic."});
  add_cases(deck.cases, deck.branching, "branching");
  add_cases(deck.cases, deck.designs, "design");
  add_cases(deck.cases, deck.pitches, "pitch");
}

std::vector<std::string> faults_of(const ScenarioDeck& deck) {
  std::vector<std::string> out;
  std::set<std::string_view> ids;
  const auto known = [&](std::string_view id) {
    if (!ids.insert(id).second) out.push_back("The scenario \"" + std::string(id) + "\" is there twice: rename one.");
  };
  for (const auto& c : deck.symptoms) known(c.id);
  for (const auto& c : deck.branching) known(c.id);
  for (const auto& c : deck.designs) known(c.id);
  for (const auto& c : deck.pitches) known(c.id);
  for (const SymptomCase& c : deck.symptoms) {
    for (const std::string& id : c.also)
      if (!find_symptom(deck, id))
        out.push_back("The scenario \"" + c.id + "\" names \"" + id + "\" in also, which is not there.");
    if (c.twin.empty()) continue;
    const SymptomCase* twin = find_symptom(deck, c.twin);
    if (!twin || twin->twin != c.id)
      out.push_back("The scenario \"" + c.id + "\" has the twin \"" + c.twin + "\", which does not name it back.");
    else if (twin->seen != c.seen || twin->tell != c.tell || twin->reads == c.reads || twin->evidence == c.evidence)
      out.push_back("The twins \"" + c.id + "\" and \"" + c.twin +
                    "\" must show the same symptom and instrument, read different, and differ in evidence.");
  }
  return out;
}

const ScenarioDeck& scenario_deck() {
  static const ScenarioDeck none = [] {
    ScenarioDeck deck;
    index_deck(deck);
    return deck;
  }();
  const auto& held = catalog().scenarios;
  return held ? *held : none;
}

const SymptomCase* find_symptom(const ScenarioDeck& deck, std::string_view id) {
  const auto at = std::find_if(deck.symptoms.begin(), deck.symptoms.end(), [&](const auto& c) { return c.id == id; });
  return at == deck.symptoms.end() ? nullptr : &*at;
}

}  // namespace chapters
