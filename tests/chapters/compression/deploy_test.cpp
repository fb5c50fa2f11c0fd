#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

TEST_CASE("deploy lab: the tree lights the questions that were asked and one recipe, and the answer says it") {
  const LabPtr lab = open_lab("compression/deploy");
  lab->compute();
  Canvas canvas(*lab, {1400, 900});
  canvas.ui.frames(2);
  std::set<std::string> reached;
  std::size_t boxes = 0;
  const widgets::Record record = canvas.ui.record();
  for (const auto& t : record.tables) {
    if (t.name != "decision tree") continue;
    boxes = t.rows.size();
    for (const auto& row : t.rows)
      if (row[2] == "1") reached.insert(row[0]);
  }
  CHECK(boxes == 17);  // eight questions, and nine ends: W8A16 stands at two of them
  CHECK(reached == std::set<std::string>{"Any loss allowed?", "Memory-bound?", "Cache > weights?", "1 % loss allowed?",
                                         "FP4 units?", "W4A16"});
  CHECK(lab->answer() ==
        "`W4A16`: `50.2 GB` fit in `72 GB`, decode is `3.1\xC3\x97` as fast as BF16; published loss `1.1 %`.");
}

TEST_CASE("deploy lab: the answer for what does not fit and for what may lose nothing") {
  const auto says = [](const char* inputs) { return answer_of("compression/deploy", inputs); };
  CHECK(says(R"({"may_lose": 0})") ==
        "Nothing may be lost: `BF16`. Its `152 GB` need `3 chips`; here is room for `72 GB`.");
  CHECK(says(R"({"may_lose": 0, "chips": 4})") == "Nothing may be lost: `BF16`. Its `152 GB` fit in `288 GB`.");
  CHECK(says(R"({"chip": "b200_sxm"})").ends_with("published loss `1.1 to 6.2 %`, which can pass `2 %`."));
  CHECK(says(R"({"chip": "b200_sxm", "may_lose": 1})").ends_with("published loss `1.1 to 6.2 %`, above `1 %`."));
  CHECK(
      says(R"({"batch": 1024, "context": 128})") ==
      "`FP8, FP8 cache`: `94.1 GB` need `2 chips`; if it fitted here, decode would be `1.9\xC3\x97` as fast as BF16.");
}

TEST_CASE("deploy lab: a recipe that the tree does not say stands in its picture as yours") {
  const auto shows = [](const char* inputs, std::string_view words) {
    const LabPtr lab = open_lab("compression/deploy", inputs);
    lab->compute();
    Canvas canvas(*lab, {1400, 900});
    return canvas.ui.text_present(words);
  };
  CHECK_FALSE(shows("{}", "yours"));
  CHECK(shows(R"({"recipe": "fp8"})", "yours: FP8, 16-bit cache"));
  CHECK(shows(R"({"recipe": "fp8"})", "83.4 GB, 2 chips; decode 1.8\xC3\x97 BF16's"));
}
