// A lesson: what is accepted reads the same after being written.
#include "app/content/content.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = app::parse_lesson(fuzz::text_of(data, size), "lesson.json");
  if (!read) {
    fuzz::require_sentence(read.error);
    return 0;
  }
  fuzz::require(!read->steps.empty(), "a lesson without steps");
  const std::string text = app::lesson_to_text(*read);
  const auto again = app::parse_lesson(text, "lesson.json");
  fuzz::require(again && app::lesson_to_text(*again) == text, "a lesson reads differently once written", again.error);
  return 0;
}
