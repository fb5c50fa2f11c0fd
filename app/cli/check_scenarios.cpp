#include "app/cli/check_rows.h"
#include "app/scenario/fields_json.h"
#include "app/scenario/link.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"
#include "chapters/mechanism/scenario_deck.h"

namespace app::cli {
namespace {

/// Why a link does not open; empty where it does.
std::string fault_of_link(const std::string& text) {
  const Link link = parse_link(text);
  const auto lab = chapters::make_lab_by_id(link.lab);
  if (!lab) return "\"" + text.substr(0, 60) + "\" names no lab";
  for (const auto& [key, value] : link.sets) {
    const chapters::Field* f = lab->inputs().find(key);
    if (!f) return link.lab + " has no input " + key.substr(0, 40);
    if (const auto set = set_field_from_text(*f, value); !set.error.empty()) return set.error;
  }
  return {};
}

struct DeckCheck {
  CheckedRows& rows;
  int good = 0;

  void link(const std::string& id, const std::string& to) {
    if (const std::string fault = fault_of_link(to); !fault.empty())
      rows.say(false, "The scenario " + id + " has a link that does not open: " + fault);
    else
      ++good;
  }
  /// A design's figures, as the lab that deals it computes them.
  void design(const chapters::DesignCase& c) {
    const auto lab = chapters::make_lab_by_id("interview/scenarios");
    if (!lab) return;
    lab->inputs().find("kind")->set_choice_id("design");
    lab->inputs().find("case")->set_choice_id(c.id);
    lab->compute_facts();
    if (lab->reason().empty())
      ++good;
    else
      rows.say(false, lab->reason());
  }
};

}  // namespace

void check_scenarios(CheckedRows& rows) {
  for (const std::string& notice : chapters::catalog().notices) rows.say(false, notice);
  const chapters::ScenarioDeck& deck = chapters::scenario_deck();
  DeckCheck check{rows};
  for (const auto& c : deck.symptoms) check.link(c.id, c.lab);
  for (const auto& c : deck.branching) check.link(c.id, c.lab);
  for (const auto& c : deck.pitches) check.link(c.id, c.lab);
  for (const auto& c : deck.designs) check.design(c);
  rows.say(true, std::to_string(check.good) + " scenarios lead to labs that open");
}

}  // namespace app::cli
