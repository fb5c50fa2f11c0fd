#include "app/workspace/message.h"

#include <utility>

#include "app/platform/quoted_text.h"

namespace app {

void Messages::say(std::string sentence, Action action) {
  constexpr std::size_t most = 50;
  all_.push_back({std::move(sentence), false, std::move(action)});
  if (all_.size() > most) all_.erase(all_.begin());
}

void Messages::say_if_any(std::string notice) {
  if (!notice.empty()) say(std::move(notice));
}

void Messages::say_failure(std::string sentence, Action action) {
  if (sentence.empty()) return;
  say(whole_sentence(sentence), std::move(action));
  all_.back().failure = true;
}

}  // namespace app
