#include "widgets/timeline/span_names.h"

#include <catch2/catch_test_macros.hpp>
#include <vector>

namespace {

using widgets::SpanName;
using widgets::TimelineSpan;

TEST_CASE("a span says the longest of its names that has room beside the margin, and tells its info in the hover") {
  const std::vector<SpanName> names{{{"all-reduce of 25 MB", "all-reduce", "", "a"}, 100, "over NVLink"},
                                    {{"step"}, 10, {}}};
  const std::vector<TimelineSpan> spans{{.start_ns = 0, .duration_ns = 100, .name = 0},
                                        {.start_ns = 100, .duration_ns = 10, .name = 1},
                                        {.start_ns = 110, .duration_ns = 10, .name = 9}};
  const std::vector<widgets::TimelineLane> lanes{{.label = "GPU", .spans = spans}};
  widgets::SpanNames said{.names = names, .lanes = lanes, .px_per_ns = 1, .letter_px = 5, .margin_px = 4};
  widgets::TimelineData data;
  widgets::say_names(said, data);
  CHECK(data.name(data.context, 0) == "all-reduce of 25 MB");  // 19 letters take 95 of 96 px
  CHECK(data.name(data.context, 1).empty());
  CHECK(data.name(data.context, 9).empty());
  said.margin_px = 6;
  CHECK(data.name(data.context, 0) == "all-reduce");
  said.px_per_ns = 0.5;
  CHECK(data.name(data.context, 0) == "a");  // 44 px
  said.px_per_ns = 3;
  CHECK(data.name(data.context, 1) == "step");
  CHECK(data.info(data.context, 0, 0) == "over NVLink");
  CHECK(data.info(data.context, 0, 1).empty());
  CHECK(data.info(data.context, 0, 2).empty());
  CHECK(data.info(data.context, 0, 3).empty());
  CHECK(data.info(data.context, 1, 0).empty());
}

}  // namespace
