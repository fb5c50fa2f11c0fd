#include "app/workspace/shared_choices.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"

namespace app {

using chapters::Field;
using chapters::Kind;

SharedChoices::SharedChoices() = default;
SharedChoices::~SharedChoices() = default;

void SharedChoices::set(const std::string& name, const Json& value) { values_[name] = value; }

void SharedChoices::gather(const chapters::Lab& lab) {
  for (const Field& f : lab.inputs())
    if (!f.spec.shared.empty() && !is_personal(f)) values_[std::string(f.spec.shared)] = field_to_json(f);
}

void SharedChoices::apply(chapters::Lab& lab, Messages& messages) const {
  for (const Field& f : lab.inputs()) {
    const auto at = f.spec.shared.empty() || is_personal(f) ? values_.end() : values_.find(f.spec.shared);
    if (at == values_.end()) continue;
    // One range and one meaning a name, but a lab may offer some of the options alone (the formats that have 2:4
    // units).
    if (const auto taken = field_from_json(f, at->second); !taken)
      messages.say(std::string(lab.info().title) + " keeps its own \"" + std::string(f.spec.label) +
                   "\": " + taken.error);
  }
}

void SharedChoices::group(const chapters::Lab& open) {
  groups_.clear();
  for (const Field& f : open.inputs()) {
    if (f.spec.shared.empty() || is_personal(f)) continue;
    const std::string name(f.spec.shared.substr(0, f.spec.shared.find('.')));
    auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.name == name; });
    if (group == groups_.end()) group = groups_.insert(groups_.end(), {name, "shared " + name, {}});
    group->fields.push_back(&f);
  }
  // What is chosen by name reads first: "Prefill 1 x 4,096".
  for (Group& g : groups_)
    std::stable_partition(g.fields.begin(), g.fields.end(), [](const Field* f) { return f->kind == Kind::choice; });
  // What most labs ask for comes first; others after them.
  static constexpr std::string_view order[] = {"model", "chip", "workload", "format", "cluster", "parallel"};
  const auto rank = [](const Group& g) {
    return std::find(std::begin(order), std::end(order), g.name) - std::begin(order);
  };
  std::stable_sort(groups_.begin(), groups_.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

}  // namespace app
