#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
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

  /// The open lab's choices that belong together ("workload" of "workload.concurrent" and "workload.context").
  struct Group {
    std::string name, popup;
    std::vector<const chapters::Field*> fields;  ///< inputs of the open lab
  };

  /// Is there a value under this shared name ("model", "chip", "workload.micro_batch")?
  bool has(std::string_view name) const;
  void set(const std::string& name, const Json& value, std::string from);
  /// The open lab's inputs are as a preset, a link, a lesson or a question has set them, and not a hand: nothing of
  /// them is carried to other labs.
  void settle(const chapters::Lab& open);
  /// Takes over what a hand has changed in the open lab since.
  void gather(const chapters::Lab& open);
  /// Sets the lab's inputs to those that a hand has set since the lab was open last. Returns what that changed, "Chip
  /// from Roofline, Batch from Deploy"; empty: nothing. Says which it could not take, and keeps the lab's own there.
  std::string apply(chapters::Lab& lab, Messages& messages) const;

  const std::vector<Group>& groups() const { return groups_; }
  void group(const chapters::Lab& open);

 private:
  struct Value;                                             ///< what was set, and the title of the lab in which it was
  std::map<std::string, Value, std::less<>> values_;        ///< by shared name
  std::map<std::string, Json, std::less<>> settled_;        ///< the open lab's, as no hand has set them
  std::uint64_t changes_ = 0;                               ///< how often a value was set
  std::map<std::string, std::uint64_t, std::less<>> seen_;  ///< by lab: `changes_` when it was open last
  std::vector<Group> groups_;
};

}  // namespace app
