#pragma once
#include <functional>
#include <string>

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

}  // namespace app
