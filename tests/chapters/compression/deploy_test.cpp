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
  CHECK(reached == std::set<std::string>{"Any loss allowed?", "Memory-bound?", "Cache > weights?",
                                         "4-bit loss allowed?", "FP4 units?", "W4A16"});
  CHECK(lab->answer() ==
        "Your W4A16 with a 16-bit cache fits, `50.2 GB` of `72 GB`, and decode is up to `3.1\xC3\x97` as fast as in "
        "BF16.\n"
        "The tree recommends the same; published loss `1.1 %`.");
}

TEST_CASE("deploy lab: the answer speaks of what is set first, then of what the tree recommends") {
  const auto says = [](const char* inputs) { return answer_of("compression/deploy", inputs); };
  CHECK(
      says(R"({"chips": 2, "recipe": "fp8", "kv": "fp8"})") ==
      "Your FP8 with an FP8 cache fits, `78.0 GB` of `144 GB`, and decode is up to `1.9\xC3\x97` as fast as in BF16.\n"
      "The tree recommends W4A16: `50.2 GB`, decode up to `2.9\xC3\x97` BF16's; published loss `1.1 %`.");
  CHECK(says(R"({"may_lose": 0, "recipe": "bf16"})") ==
        "Your BF16 with a 16-bit cache does not fit: `152 GB` need `3 chips`, here is room for `72 GB`.\n"
        "The tree recommends BF16 on more chips: `152 GB` on `3 chips`; nothing is lost.");
  CHECK(says(R"({"may_lose": 0, "chips": 4, "recipe": "bf16"})") ==
        "Your BF16 with a 16-bit cache fits, `152 GB` of `288 GB`.\nThe tree recommends the same; nothing is lost.");
  CHECK(says(R"({"chip": "b200_sxm"})").ends_with("published loss `1.1 to 6.2 %`, which can be more than allowed."));
  CHECK(says(R"({"chip": "b200_sxm", "may_lose": 1})").ends_with("published loss: none found."));
  CHECK(says(R"({"batch": 1024, "context": 128})")
            .ends_with("The tree recommends FP8, FP8 cache: `94.1 GB` on `2 chips`; published loss: none found."));
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
