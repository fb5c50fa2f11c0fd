#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "tests/app/shell/shell_fixture.h"

// What of a person's own the window shows and hands on.

TEST_CASE("the figures that are found by value are those of the catalog in force") {
  if (support::sanitized()) SKIP("Figures of every lab are found once under sanitizers, in shell_navigation_test.cpp.");
  Opened o;
  const auto find = [&](const char* value) {
    o.ui.key(ImGuiKey_K, ImGuiMod_Ctrl);
    o.ui.frames(2);
    o.ui.type(value);
    REQUIRE(o.d.settle());
    const auto& palette = o.d.shell.palette;
    const bool found = !palette.hits.empty() && palette.commands[palette.hits[0]].shortcut == "figure";
    o.ui.key(ImGuiKey_Escape);
    o.ui.frames(2);
    return found;
  };
  CHECK_FALSE(find("7.654 TB/s"));
  // A file of the person's own in place of the bundled chip, whose bandwidth labs show at their defaults.
  std::filesystem::create_directories(o.folder / "config/chips");
  o.folder.write("config/chips/mine.json", R"({"id": "h100_sxm", "name": "Ours", "peak_flops_per_s": {"bf16": 4e14},
      "memory_bytes": 64e9, "memory_bandwidth_bytes_per_s": 7.654e12})");
  o.w.reload_catalog();
  o.w.finish_catalog();
  CHECK(find("7.654 TB/s"));
  support::put_back_bundled_catalog();
}

TEST_CASE("a link that another machine cannot open in full says so when it is copied") {
  Opened o;
  o.folder.write("runs.csv", "name,flops,bytes,time_s\n" + std::string(20000, '\n') + "matmul,2e12,4e9,0.004\n");
  REQUIRE(app::apply_inputs(o.w.lab(), {{"measured", (o.folder / "runs.csv").string()}}));
  o.ui.frames(2);
  o.ui.key(ImGuiKey_L, ImGuiMod_Ctrl);
  CHECK(o.d.was_said("The link names \"runs.csv\" by its path on this machine"));
  o.folder.write("runs.csv", "name,flops,bytes,time_s\nmatmul,2e12,4e9,0.004\n");
  REQUIRE(app::apply_inputs(o.w.lab(), {{"measured", (o.folder / "runs.csv").string()}}));
  o.ui.frames(2);
  o.ui.key(ImGuiKey_L, ImGuiMod_Ctrl);
  CHECK(o.d.copied.find(o.folder.path.string()) == std::string::npos);
}
