#include "app/shell/pages/aims.h"

#include "app/shell/shell.h"

namespace app {
namespace {

void add_item(std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; }

/// The labels of the fields on which an objective is checked.
std::string checked_on(const chapters::Lab& lab, const Objective& objective) {
  std::string labels;
  for (const std::string& key : objective.check) {
    const chapters::Field* f = lab.outputs().find(key);
    if (!f) f = lab.inputs().find(key);
    if (f) add_item(labels, std::string(f->spec.label));
  }
  return labels;
}

bool is_term(std::string_view need) { return need.starts_with(term_prefix); }

}  // namespace

std::string aims_markdown(const Workspace& w, const chapters::Lab& lab) {
  const LabContent& content = w.content.of(lab.info().id);
  std::string text;
  if (!content.objectives.empty()) text += "After this lab you can:\n\n";
  for (const Objective& objective : content.objectives) {
    const std::string labels = checked_on(lab, objective);
    text += "- " + objective.can + (labels.empty() ? "" : " Check: " + labels + ".") + "\n";
  }
  std::string labs, terms;
  for (const std::string& need : content.needs)
    if (is_term(need))
      add_item(terms, "[" + need.substr(term_prefix.size()) + "](<" + need + ">)");
    else
      add_item(labs, "[" + w.title_of(need) + "](lab:" + need + ")");
  if (!text.empty()) text += "\n";
  if (!labs.empty()) text += "Better first: " + labs + ".\n\n";
  if (!terms.empty()) text += "Words to know: " + terms + ".\n\n";
  return text;
}

std::string aims_text(const Workspace& w, std::string_view lab) {
  const LabContent& content = w.content.of(lab);
  std::string text, labs;
  if (!content.objectives.empty()) text += "After it you can:\n";
  for (const Objective& objective : content.objectives) text += "- " + objective.can + "\n";
  for (const std::string& need : content.needs)
    if (!is_term(need) && !w.learner.quarters(need).opened) add_item(labs, w.title_of(need));
  if (!labs.empty()) text += "Better first: " + labs + ".\n";
  return text;
}

const std::string& concept_with_aims(Shell& shell) {
  const chapters::Lab& lab = shell.workspace.lab();
  const std::string& prose = shell.workspace.content.of(lab.info().id).prose[0];
  AimsState& state = shell.aims;
  if (state.lab != lab.info().id || state.prose != prose) {
    state.lab = lab.info().id;
    state.prose = prose;
    state.whole = prose.empty() ? prose : aims_markdown(shell.workspace, lab) + prose;
  }
  return state.whole;
}

}  // namespace app
