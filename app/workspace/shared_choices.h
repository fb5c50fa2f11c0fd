#pragma once
#include <map>
#include <string>
#include <vector>

#include "app/scenario/fields_json.h"
#include "app/workspace/message.h"
#include "chapters/mechanism/lab.h"

namespace app {

/// The choices that mean the same in every lab, as the learner set them last: gathered from the open lab, applied to
/// the next, shown in the top bar.
class SharedChoices {
 public:
  SharedChoices();
  ~SharedChoices();

  /// The open lab's choices that belong together ("workload" of "workload.batch" and "workload.context").
  struct Group {
    std::string name, popup;
    std::vector<const chapters::Field*> fields;  ///< inputs of the open lab
  };

  /// By shared name ("model", "chip", "workload.batch").
  const std::map<std::string, Json, std::less<>>& values() const { return values_; }
  void set(const std::string& name, const Json& value);
  void gather(const chapters::Lab& lab);
  /// Sets the lab's inputs to them. Says which it could not take, and keeps the lab's own there.
  void apply(chapters::Lab& lab, Messages& messages) const;

  const std::vector<Group>& groups() const { return groups_; }
  void group(const chapters::Lab& open);

 private:
  std::map<std::string, Json, std::less<>> values_;
  std::vector<Group> groups_;
};

}  // namespace app
