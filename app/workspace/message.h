#pragma once
#include <functional>
#include <string>
#include <vector>

#include "models/base/result.h"

namespace app {

/// What a person can do about a message: a button with a word or two, and what it does.
struct Action {
  std::string label;  ///< empty: there is nothing to do
  std::function<void()> run;
};

/// One sentence for the person.
struct Message {
  std::string text;
  bool failure = false;  ///< something did not work: it looks like it and stays longer
  Action action{};
};

/// What the program has to say to the person, oldest first. Past fifty the oldest go.
class Messages {
 public:
  void say(std::string sentence, Action action = {});
  /// The same for a document's notice, which is empty where there is nothing to say.
  void say_if_any(std::string notice);
  /// Says why something failed, if it did.
  void say_failure(std::string sentence, Action action = {});
  void say_failure(const models::Status& status) { say_failure(status.error); }
  std::vector<Message>& all() { return all_; }

 private:
  std::vector<Message> all_;
};

}  // namespace app
