#include "app/workspace/shared_choices.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/scenario/scenario.h"

namespace app {

using chapters::Field;
using chapters::Kind;

namespace {

bool is_shared(const Field& f) { return !f.spec.shared.empty() && !is_personal(f); }

}  // namespace

struct SharedChoices::Value {
  Json value;
  std::string from;
  std::uint64_t change = 0;  ///< `changes_` when it was set
};

SharedChoices::SharedChoices() = default;
SharedChoices::~SharedChoices() = default;

void SharedChoices::set(const std::string& name, const Json& value, std::string from) {
  values_[name] = {value, std::move(from), ++changes_};
}

bool SharedChoices::has(std::string_view name) const { return values_.contains(name); }

void SharedChoices::settle(const chapters::Lab& open) {
  settled_.clear();
  seen_.insert_or_assign(std::string(open.info().id), changes_);
  for (const Field& f : open.inputs())
    if (is_shared(f)) settled_[std::string(f.spec.shared)] = field_to_json(f);
}

void SharedChoices::gather(const chapters::Lab& open) {
  for (const Field& f : open.inputs()) {
    if (!is_shared(f)) continue;
    Json now = field_to_json(f);
    Json& settled = settled_[std::string(f.spec.shared)];
    if (now == settled) continue;
    set(std::string(f.spec.shared), now, std::string(open.info().title));
    settled = std::move(now);
  }
  seen_.insert_or_assign(std::string(open.info().id), changes_);
}

std::string SharedChoices::apply(chapters::Lab& lab, Messages& messages) const {
  std::string changed;
  const auto seen = seen_.find(lab.info().id);
  for (const Field& f : lab.inputs()) {
    const auto at = is_shared(f) ? values_.find(f.spec.shared) : values_.end();
    if (at == values_.end() || field_to_json(f) == at->second.value) continue;
    if (seen != seen_.end() && at->second.change <= seen->second) continue;
    // One range and one meaning a name, but a lab may offer some of the options alone (the formats that have 2:4
    // units).
    if (const auto taken = field_from_json(f, at->second.value); !taken)
      messages.say(std::string(lab.info().title) + " keeps its own \"" + std::string(f.spec.label) +
                   "\": " + taken.error);
    else
      changed += (changed.empty() ? "" : ", ") + std::string(f.spec.label) + " from " + at->second.from;
  }
  return changed;
}

void SharedChoices::group(const chapters::Lab& open) {
  groups_.clear();
  for (const Field& f : open.inputs()) {
    if (!is_shared(f)) continue;
    const std::string name(f.spec.shared.substr(0, f.spec.shared.find('.')));
    auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.name == name; });
    if (group == groups_.end()) group = groups_.insert(groups_.end(), {name, "shared " + name, {}});
    group->fields.push_back(&f);
  }
  // What is chosen by name reads first: "Prefill 1 x 4,096".
  for (Group& g : groups_)
    std::stable_partition(g.fields.begin(), g.fields.end(), [](const Field* f) { return f->kind == Kind::choice; });
  // What most labs ask for comes first; others after them.
  static constexpr std::string_view order[] = {"model",  "chip",   "workload", "load",
                                               "limits", "format", "cluster",  "parallel"};
  const auto rank = [](const Group& g) {
    return std::find(std::begin(order), std::end(order), g.name) - std::begin(order);
  };
  std::stable_sort(groups_.begin(), groups_.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

}  // namespace app
