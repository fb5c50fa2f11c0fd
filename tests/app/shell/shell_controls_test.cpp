#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <imgui_internal.h>

#include "tests/app/shell/shell_fixture.h"

using Catch::Approx;

// The inspector by real input. The roofline lab opens with one operation of one's own: its FLOP and bytes are sliders.

TEST_CASE("a slider dragged to its ends sets the ends of its typical range, and outputs follow") {
  Opened o;
  const auto& work = o.d.input("flops");
  o.ui.drag("inputs/Work", 1.0f);
  REQUIRE(work.spec.has_typical());  // what a drag spans; typing reaches the whole range
  CHECK(o.in("flops") == work.spec.typical.hi);
  CHECK(o.out("intensity") == Approx(o.in("flops") / o.in("bytes")));
  o.ui.drag("inputs/Work", 0.0f, 0.98f);
  CHECK(o.in("flops") == work.spec.typical.lo);
  CHECK(o.out("intensity") == Approx(o.in("flops") / o.in("bytes")));
}

TEST_CASE("a logarithmic slider whose range begins at 0 has 0 at its left end, and its first number next to it") {
  Opened o("fleet/train-time");
  REQUIRE(o.d.settle());
  const auto& span = o.d.input("interval_s").spec.typical;
  o.ui.drag("inputs/Work between saves (0: the best)", 0.0f, 0.5f);
  CHECK(o.in("interval_s") == 0);
  o.ui.drag("inputs/Work between saves (0: the best)", 0.055f, 0.0f);
  CHECK(o.in("interval_s") == span.lo);
  o.ui.drag("inputs/Work between saves (0: the best)", 0.5f, 0.05f);
  const double middle = std::sqrt(span.lo * span.hi);
  CHECK(o.in("interval_s") > middle / 2);
  CHECK(o.in("interval_s") < middle * 2);
  o.ui.drag("inputs/Work between saves (0: the best)", 1.0f, 0.5f);
  CHECK(o.in("interval_s") == span.hi);
}

TEST_CASE("a dragged value lands on three significant digits") {
  Opened o;
  o.ui.drag("inputs/Traffic", 0.37f);
  const double v = o.in("bytes"), grain = std::pow(10.0, std::floor(std::log10(v)) - 2);
  CHECK(v / grain == Approx(std::round(v / grain)).epsilon(1e-12));
  CHECK(v > o.d.input("bytes").spec.typical.lo);
}

TEST_CASE("one drag is one step back, by Ctrl+Z, and one forward by Ctrl+Y") {
  Opened o;
  const double before = o.in("flops");
  o.ui.drag("inputs/Work", 0.8f, 0.3f);
  const double after = o.in("flops");
  CHECK(after != before);
  o.ui.key(ImGuiKey_Z, ImGuiMod_Ctrl);
  CHECK(o.in("flops") == before);
  CHECK_FALSE(o.w.current().can_undo());
  o.ui.key(ImGuiKey_Y, ImGuiMod_Ctrl);
  CHECK(o.in("flops") == after);
  o.ui.key(ImGuiKey_R, ImGuiMod_Ctrl);
  CHECK(o.in("flops") == before);
  o.ui.key(ImGuiKey_Z, ImGuiMod_Ctrl);
  CHECK(o.in("flops") == after);
}

TEST_CASE("an exact value is typed with its unit and prefix") {
  Opened o;
  o.d.type_value("inputs/Traffic", "1.5 GiB");
  CHECK(o.in("bytes") == 1.5 * 1073741824);
  o.d.type_value("inputs/Work", "2.5 TFLOP");
  CHECK(o.in("flops") == 2.5e12);
  CHECK(o.out("intensity") == Approx(2.5e12 / (1.5 * 1073741824)));
  CHECK(o.d.shell.controls.error == "");
}

TEST_CASE("a wrong value is refused with a sentence under its control, and the old one stays") {
  Opened o;
  const double before = o.in("bytes");
  o.d.type_value("inputs/Traffic", "3 s");
  CHECK(o.in("bytes") == before);
  REQUIRE_FALSE(o.d.shell.controls.error.empty());
  CHECK(o.d.shell.controls.error.find("bytes: ") == 0);
  CHECK(o.ui.text_present("bytes: "));
  o.d.type_value("inputs/Traffic", "1e30");
  CHECK(o.in("bytes") == before);
  CHECK(o.ui.text_present("bytes is 1e+30"));
  o.d.type_value("inputs/Traffic", "2 GB");
  CHECK(o.in("bytes") == 2e9);
  CHECK(o.d.shell.controls.error == "");
  CHECK_FALSE(o.ui.text_present("bytes is "));
}

TEST_CASE("Escape leaves a value that was being typed as it was") {
  Opened o;
  const double before = o.in("bytes");
  support::press_value(o.ui, "inputs/Traffic");
  REQUIRE(ImGui::GetIO().WantTextInput);
  o.ui.type("7 GB");
  o.ui.key(ImGuiKey_Escape);
  CHECK(o.in("bytes") == before);
  CHECK_FALSE(ImGui::GetIO().WantTextInput);
}

TEST_CASE("an option is found by typing part of its name") {
  Opened o;
  REQUIRE(o.chosen("chip") == "h100_sxm");
  o.press_each({"inputs/The chip", "inputs/Chip"});
  REQUIRE(o.ui.has("H200"));
  o.ui.type("b200");
  o.ui.frames(2);
  CHECK_FALSE(o.ui.has("H200"));
  o.ui.click("B200");
  CHECK(o.chosen("chip") == "b200_sxm");
  o.ui.frames(2);
  CHECK_FALSE(ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel));
}

TEST_CASE("controls that do not matter now are not shown, and come back when they do") {
  Opened o;
  CHECK(o.ui.has("inputs/Work"));
  CHECK_FALSE(o.ui.has("inputs/m"));
  REQUIRE(o.d.input("operation").set_choice_id("gemm"));
  o.ui.frames(2);
  CHECK(o.ui.has("inputs/m"));
  CHECK_FALSE(o.ui.has("inputs/Work"));
}

TEST_CASE("a switch is reached and turned by keyboard alone") {
  Opened o;
  const bool before = o.d.input("kv_reads").toggle();
  o.ui.click("inputs/The model");
  o.ui.frames(2);
  bool reached = false;
  for (int i = 0; i < 250 && !reached; ++i) {
    o.ui.key(ImGuiKey_Tab);
    const auto* item = o.ui.probe().find_id(ImGui::GetCurrentContext()->NavId);
    reached = item && item->label == "Count KV reads";
  }
  REQUIRE(reached);
  o.ui.key(ImGuiKey_Space);
  CHECK(o.d.input("kv_reads").toggle() != before);
}

TEST_CASE("pressing a switch turns it, and the outputs with it") {
  Opened o;
  const double before = o.out("decode_intensity");
  o.ui.click("inputs/The model");
  o.ui.frames(2);
  o.ui.click("Count KV reads");
  CHECK_FALSE(o.d.input("kv_reads").toggle());
  CHECK(o.out("decode_intensity") != before);
  CHECK(o.out("decode_intensity") ==
        Approx(1).epsilon(0.01));  // weights alone at batch 1: 2 FLOP for each parameter's 2 bytes
}

TEST_CASE("hovering an output says its formula and its source") {
  Opened o;
  CHECK_FALSE(o.ui.text_present("I = flops / bytes"));
  o.ui.hover("Arithmetic intensity");
  CHECK(o.ui.text_present("I = flops / bytes"));
  CHECK(o.ui.text_present("Williams, Waterman, Patterson"));
}

TEST_CASE("Reset, Undo, Redo and the presets are pressed") {
  Opened o("roofline/iron-law");
  const auto fresh = o.w.lab().clone();
  const auto& presets = o.w.content.of("roofline/iron-law").presets;
  REQUIRE(presets.size() >= 2);
  o.ui.resize({1920, 1080});  // where every preset has room for its chip
  o.ui.click(presets[1].name);
  CHECK_FALSE(o.w.lab().same_inputs(*fresh));
  CHECK(o.w.progress.labs.at("roofline/iron-law").presets.contains(presets[1].name));
  o.ui.key(ImGuiKey_Escape);
  o.ui.click("Undo");
  CHECK(o.w.lab().same_inputs(*fresh));
  o.ui.click("Redo");
  CHECK_FALSE(o.w.lab().same_inputs(*fresh));
  o.ui.click("Reset");
  CHECK(o.w.lab().same_inputs(*fresh));
}

TEST_CASE("dragging the dot along the roof sets the operation's bytes, in one step that can be undone") {
  Opened o;
  const double flops = o.out("flops_total"), bytes = o.out("bytes_total");
  o.ui.drag_by("drag operation", {-200, 0});
  CHECK(o.chosen("operation") == "custom");
  CHECK(o.in("flops") == flops);
  CHECK(o.in("bytes") > 2 * bytes);  // to the left: the same work with more traffic
  CHECK(o.out("intensity") == Approx(o.in("flops") / o.in("bytes")));
  CHECK(o.chosen("operation") == "custom");
  o.ui.key(ImGuiKey_Z, ImGuiMod_Ctrl);
  CHECK(o.out("bytes_total") == bytes);
  CHECK_FALSE(o.w.current().can_undo());
}
