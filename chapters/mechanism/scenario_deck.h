#pragma once
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/drill_template.h"
#include "chapters/mechanism/field.h"

/// Scenarios of an interview as data: the Catalog holds them, interview/scenarios deals them.
namespace chapters {

/// The shape that an instrument shows, drawn small. A sketch, not a recording: values from 0 to 1.
struct SymptomGlyph {
  std::string kind;  ///< line, bars, blocks, stack or lanes
  std::string tint;  ///< a Meaning's name ("communication"); empty: neutral
  std::vector<double> values;
  double limit = std::numeric_limits<double>::quiet_NaN();  ///< a dashed level; NaN: there is none
  std::vector<double> hot;                                  ///< indices of values that are marked as bad
};

/// A symptom with its cause, what proves it and what mends it.
struct SymptomCase {
  std::string id, topic, lab;  ///< topic: a chapter's slug; lab: a link into the lab that shows it
  int level = 1;               ///< 1 to 3
  std::string seen, here;      ///< in a few words; in a sentence
  std::string tell, reads;     ///< one more instrument, and what it reads: it parts twins
  std::string twin;            ///< id of the case with the same symptom and another cause; empty: none
  SymptomGlyph glyph;
  std::string cause, would;       ///< `would`: what this cause would show, in a sentence
  std::string evidence, look;     ///< `look`: where such evidence is found
  std::string fix, changes;       ///< `changes`: what that fix changes
  std::vector<std::string> also;  ///< ids of cases whose symptom this cause explains as well
};

/// A fault with causes and checks: each outcome of a check names the causes that are still possible after it.
struct BranchingCause {
  std::string id, name, fix;
  double weight = 1;  ///< how often, relative to the others
};
struct CheckOutcome {
  std::string says;
  std::vector<std::string> causes;
};
struct BranchingCheck {
  std::string name;
  double minutes = 1;
  std::vector<CheckOutcome> outcomes;  ///< every cause stands in exactly one
};
struct BranchingCase {
  std::string id, topic, lab, title, symptom;
  int level = 1;
  std::vector<BranchingCause> causes;
  std::vector<BranchingCheck> checks;
};

/// A figure of a model answer, which a lab computes with these inputs.
struct DesignFigure {
  std::string id, label, lab, output;
  std::vector<DrillValue> set;
  double times = 1;    ///< that many of them together
  double to_hold = 0;  ///< above 0: how many whole ones of it hold so much, in its unit
};
/// A point to make; `say` may hold {id} of a figure.
struct OutlinePoint {
  std::string head, say;
  double seconds = 0;  ///< how long it may take; 0 in a design
};
struct DesignCase {
  std::string id, topic, title, ask;
  std::vector<DesignFigure> figures;
  std::vector<OutlinePoint> points;
};
/// A pitch or a narration; it lasts as long as its points together.
struct Pitch {
  std::string id, topic, lab, title, ask;
  std::vector<OutlinePoint> points;
  double seconds() const;
};

struct ScenarioDeck {
  std::vector<SymptomCase> symptoms;
  std::vector<BranchingCase> branching;
  std::vector<DesignCase> designs;
  std::vector<Pitch> pitches;
  /// Filled by `index_deck`.
  Choices topics, cases;
};

/// Fills the choices: topics are chapters that have a case, cases are those of all kinds but symptoms.
void index_deck(ScenarioDeck& deck);
/// What is wrong between the entries, one sentence each: ids twice, twins that are not there or read the same.
std::vector<std::string> faults_of(const ScenarioDeck& deck);

/// The deck of the catalog in force; empty where there is none.
const ScenarioDeck& scenario_deck();
const SymptomCase* find_symptom(const ScenarioDeck& deck, std::string_view id);  ///< null when there is none

}  // namespace chapters
