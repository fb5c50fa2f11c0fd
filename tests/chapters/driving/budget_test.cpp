#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/driving/budget/lab.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace lab_budget = chapters::driving::budget;

namespace {

constexpr const char* as_built = R"({"side_rate_hz": 30, "rear_rate_hz": 30, "kept": 100})";
constexpr const char* one_encoder = R"({"side_rate_hz": 30, "rear_rate_hz": 30, "kept": 100, "shared": "all"})";

}  // namespace

// 1920 x 1536 pixels of 16 bits at 30 Hz are 1.4155776 Gbit/s, 23.6 % of a link of 6; eight of them 1.4156 GB/s.
TEST_CASE("budget: streams of cameras are pixels times bits times frames") {
  const LabPtr lab = open_lab(
      "driving/budget", R"({"front_cameras": 4, "side_cameras": 4, "rear_cameras": 0, "side_rate_hz": 30, "kept": 100,
                            "link_overhead": 0})");
  compute(*lab);
  CHECK(near(out(*lab, "camera_stream_bytes_per_s"), 1.4155776e9 / 8, 1e-12));
  CHECK(near(out(*lab, "link_load"), 23.593, 1e-4));
  CHECK(near(out(*lab, "camera_bytes_per_s"), 1.4155776e9, 1e-9));
  CHECK(near(out(*lab, "lidar_bytes_per_s"), 48e6, 1e-12));
}

TEST_CASE("budget: sharing leaves the sensors alone, and skipping reaches them") {
  const LabPtr skipped = open_lab("driving/budget");
  compute(*skipped);
  CHECK(std::abs(out(*skipped, "sharing_saved") - out(*skipped, "skipping_saved")) < 5);
  CHECK(out(*skipped, "sharing_sensors") == 0);
  CHECK(out(*skipped, "skipping_sensors") > 25);
  CHECK(out(*skipped, "skip_power_w") < out(*skipped, "share_power_w"));
  CHECK(out(*skipped, "power_w") == out(*skipped, "skip_power_w"));
  const LabPtr shared = open_lab("driving/budget", one_encoder);
  compute(*shared);
  CHECK(out(*shared, "power_w") == out(*shared, "share_power_w"));
  CHECK(out(*shared, "camera_bytes_per_s") == out(*shared, "before_camera_bytes_per_s"));
  CHECK(out(*shared, "encoders") == 1);
}

TEST_CASE("budget: the plans are those of the outputs, and a partly shared one stands apart") {
  lab_budget::Inputs in;
  const auto full = lab_budget::compute(in);
  REQUIRE(full.plans.size() == 4);
  CHECK(full.plans[0].power_w == full.before_power_w);
  CHECK(full.plans[3].power_w == full.both_power_w);
  for (const auto& plan : full.plans)
    CHECK(near(plan.power_w, plan.cameras_w + plan.moving_w + plan.gpu_w + plan.rest_w, 1e-12));
  CHECK(lab_budget::arrange(in, full).yours == 2);
  in.shared = lab_budget::Shared::detection_depth;
  const auto two = lab_budget::compute(in);
  REQUIRE(two.plans.size() == 5);
  CHECK(two.plans[4].power_w == two.power_w);
  const auto picture = lab_budget::arrange(in, two);
  REQUIRE(picture.boxes.size() == 2);
  CHECK((picture.boxes[0].tasks[0] && !picture.boxes[0].tasks[1] && picture.boxes[0].tasks[2]));
}

TEST_CASE("budget: the answer says what is left, or why it cannot run") {
  const auto says = [](const char* inputs) { return answer_of("driving/budget", inputs); };
  CHECK(says("{}").find("equal in arithmetic, but only skipping dries the river at its source.\n") !=
        std::string::npos);
  CHECK(says(one_encoder).starts_with("One encoder instead of three: "));
  CHECK(says(as_built).find("three encoders read all of it") != std::string::npos);
  CHECK(says(R"({"encoder": "vit_b16", "input_width": 384, "input_height": 384})").find("frames pile up") !=
        std::string::npos);
  // 3848 x 2168 x 24 bits at 30 Hz with 15 % on top are 115.1 % of 6 Gbit/s; 55 % of the rows are 63.3 %.
  CHECK(says(R"({"width": 3848, "height": 2168, "bits_per_pixel": 24, "kept": 100, "shared": "all"})")
            .find("what does not fit never arrives") != std::string::npos);
  CHECK(says(R"({"width": 3848, "height": 2168, "bits_per_pixel": 24, "shared": "all"})")
            .find("asks for `115 %` of its link, as set for at most `63.3 %`: skipping lets it fit") !=
        std::string::npos);
  CHECK(says(R"({"front_cameras": 0, "side_cameras": 0, "rear_cameras": 0})") ==
        "There is no camera: switch on at least one.");
}

// As built the GPU is asked for 100.6 %: its rail gives no more than the 40.4 W that were measured, and the 0.6 % of
// the frames that are lost move nothing: 12.0 + 4.13 + 40.4 + 9 W.
TEST_CASE("budget: a GPU that is asked for more than it has takes its whole rail and no more") {
  const LabPtr lab = open_lab("driving/budget", as_built);
  compute(*lab);
  CHECK(out(*lab, "busy") > 100);
  CHECK(near(out(*lab, "gpu_w"), 40.4, 1e-12));
  CHECK(near(out(*lab, "before_power_w"), 65.5015, 1e-5));
}

TEST_CASE("budget: another chip has no watts until its rail is set, and what is said leaves them out") {
  lab_budget::Inputs in;
  in.chip = "drive_thor";
  const auto thor = lab_budget::compute(in);
  CHECK_FALSE(thor.watts_known);
  CHECK((std::isnan(thor.power_w) && std::isnan(thor.gpu_w) && std::isnan(thor.before_power_w)));
  CHECK(thor.cameras_w > 0);
  CHECK(lab_budget::arrange(in, thor).answer.find(" W`") == std::string::npos);
  in.gpu_work_w = 60;
  const auto set = lab_budget::compute(in);
  CHECK(near(set.gpu_w, 0.6 * set.busy, 1e-12));
}

TEST_CASE(
    "budget: as built is at least the fastest rate that is set, and a link that is too thin keeps up with nothing") {
  lab_budget::Inputs in;
  in.rate_hz = 1;
  in.kept = 100;
  in.side_rate_hz = in.rear_rate_hz = 30;
  const auto built = lab_budget::compute(in);
  CHECK(built.before_rate_hz == 30);
  CHECK_FALSE(built.skipped);
  CHECK(built.skipping_saved == 0);
  in.shared = lab_budget::Shared::all;
  CHECK(lab_budget::compute(in).keeps_up);
  in.link_bytes_per_s = 0.2e9;  // a camera asks for 203 MB/s
  const auto thin = lab_budget::compute(in);
  CHECK(thin.busy < 100);
  CHECK_FALSE(thin.keeps_up);
  CHECK(lab_budget::arrange(in, thin).answer.find("would send") != std::string::npos);
}

TEST_CASE("budget: encoders part and join, and every choice is one of five") {
  using lab_budget::Shared;
  for (const Shared s :
       {Shared::none, Shared::detection_segmentation, Shared::detection_depth, Shared::segmentation_depth, Shared::all})
    CHECK(lab_budget::shared_of(lab_budget::encoders_of(s)) == s);
}

TEST_CASE("budget: the hand pinches a stream, and drags encoders together and apart") {
  use_bundled_catalog();
  const LabPtr lab = open_lab("driving/budget", as_built);
  compute(*lab);
  Canvas canvas(*lab, {1180, 640});
  canvas.ui.frames(3);
  CHECK(canvas.ui.text_present("1.95 GB/s"));
  CHECK(canvas.ui.text_present("front far"));
  canvas.ui.drag_by("encoder of detection", {0, 95});
  CHECK(input(*lab, "shared").choice_id() == "detection_segmentation");
  canvas.ui.frames(3);
  canvas.ui.drag_by("encoder of depth", {0, -170});
  CHECK(input(*lab, "shared").choice_id() == "all");
  canvas.ui.frames(3);
  canvas.ui.drag_by("encoder of detection", {0, 95});
  CHECK(input(*lab, "shared").choice_id() == "detection_segmentation");  // depth parted, on its dashed place
  canvas.ui.frames(3);
  canvas.ui.drag_by("pinch park left", {0, -12}, {0.5f, 0.05f});
  CHECK(input(*lab, "rear_rate_hz").number() == 30);  // outwards no further than built
  canvas.ui.drag_by("pinch park left", {0, 12}, {0.5f, 0.05f});
  CHECK(input(*lab, "rear_rate_hz").number() < 30);
  CHECK(input(*lab, "side_rate_hz").number() == 30);
}
