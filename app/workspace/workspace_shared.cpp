#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "app/workspace/workspace.h"
#include "chapters/mechanism/registry.h"

/// The choices that mean the same in every lab: gathered from the open lab, applied to the next, shown in the top bar.
namespace app {

using chapters::Field;
using chapters::Kind;

void Workspace::describe_shared() {
  prototypes_.clear();  // and not described anew where they are: a job may look at them
  for (const auto& entry : chapters::all_labs()) {
    auto lab = entry.make();
    const std::string title(lab->info().title);
    prototypes_.push_back({std::string(entry.id), title, std::move(lab)});
  }
}

void Workspace::group_shared() {
  groups_.clear();
  for (const Field& f : lab().inputs()) {
    if (f.spec.shared.empty() || is_personal(f)) continue;
    const std::string name(f.spec.shared.substr(0, f.spec.shared.find('.')));
    auto group = std::find_if(groups_.begin(), groups_.end(), [&](const SharedGroup& g) { return g.name == name; });
    if (group == groups_.end()) group = groups_.insert(groups_.end(), {name, "shared " + name, {}});
    group->fields.push_back(&f);
  }
  // What is chosen by name reads first: "Prefill 1 x 4,096".
  for (SharedGroup& g : groups_)
    std::stable_partition(g.fields.begin(), g.fields.end(), [](const Field* f) { return f->kind == Kind::choice; });
  // What most labs ask for comes first; others after them.
  static constexpr std::string_view order[] = {"model", "chip", "workload", "format", "cluster", "parallel"};
  const auto rank = [](const SharedGroup& g) {
    return std::find(std::begin(order), std::end(order), g.name) - std::begin(order);
  };
  std::stable_sort(groups_.begin(), groups_.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

void Workspace::share(const std::string& name, const Json& value) {
  shared_[name] = value;
  settings.keep_my_scenario = true;  // choosing for every lab is asking for it
  apply_shared();
  current_->update(false);
}

void Workspace::gather_shared() {
  for (const Field& f : lab().inputs())
    if (!f.spec.shared.empty() && !is_personal(f)) shared_[std::string(f.spec.shared)] = field_to_json(f);
}

void Workspace::apply_shared() {
  if (!settings.keep_my_scenario) return;
  for (const Field& f : lab().inputs()) {
    const auto at = f.spec.shared.empty() || is_personal(f) ? shared_.end() : shared_.find(f.spec.shared);
    if (at == shared_.end()) continue;
    // One range and one meaning a name, but a lab may offer some of the options alone (the formats that have 2:4
    // units).
    if (const auto taken = field_from_json(f, at->second); !taken)
      say(std::string(lab().info().title) + " keeps its own \"" + std::string(f.spec.label) + "\": " + taken.error);
  }
}

}  // namespace app
