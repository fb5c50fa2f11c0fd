#include <catch2/catch_test_macros.hpp>

#include "tests/support/ui/headless_frame.h"
#include "tests/support/ui/text_inside.h"
#include "widgets/base/painter.h"

using namespace widgets;

TEST_CASE("a record keeps a halo as the stroke of its text, and nothing of what is painted while it is paused") {
  support::HeadlessFrame ui;
  Record record{};
  ui.frame([&] {
    const Recording recording(record);
    const Painter p = Painter::window();
    const ImU32 ground = IM_COL32(1, 2, 3, 255), ink = IM_COL32_WHITE;
    p.halo({10, 10}, "2.4x", ground, Type::small, Font::bold);
    p.halo({50, 10}, "higher in FP8", ground, Type::small);
    p.text({10, 10}, "2.4x", ink, Type::small, Font::bold);
    p.text({50, 10}, "higher in FP8", ink, Type::small);
    p.text({50, 10}, "higher in FP8", ink, Type::small);  // without a halo of its own
    {
      const PausedRecording paused;
      Painter::window().text({10, 40}, "the answer", ink);
    }
    Painter::window().text({10, 60}, "after", ink);
  });
  REQUIRE(record.strokes.size() == 4);
  CHECK((record.strokes[0].text == "2.4x" && record.strokes[0].fill == IM_COL32_WHITE));
  CHECK((record.strokes[0].stroke == IM_COL32(1, 2, 3, 255) && record.strokes[0].width > 0));
  CHECK((record.strokes[1].text == "higher in FP8" && record.strokes[1].stroke != 0));
  CHECK((record.strokes[2].text == "higher in FP8" && record.strokes[2].stroke == 0));
  CHECK(support::count_text(record, "the answer") == 0);
  CHECK(support::count_text(record, "after") == 1);
}
