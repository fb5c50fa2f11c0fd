#include "kernels/sources.h"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "kernels/cpu/cpu.h"
#include "kernels/kernel.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

TEST_CASE("the embedded text of a rung is what stands between its markers in the file") {
  const std::string_view tile = kernels::embedded_source("cpu/sgemm.cpp:tile");
  CHECK(tile.starts_with("AVX2 void tile(std::int64_t n, const float* a, const float* b, float* c, float*) {\n"));
  CHECK(tile.ends_with("}\n"));
  CHECK(tile.find("_mm256_fmadd_ps(value, b0, sum[r][0])") != std::string_view::npos);
  CHECK(tile.find("// rung") == std::string_view::npos);
  CHECK(tile.find("// end rung") == std::string_view::npos);
  CHECK(support::read_text(support::source_file("kernels/cpu/sgemm.cpp"))
            .find("// rung: tile\n" + std::string(tile) + "// end rung\n") != std::string::npos);
  CHECK(kernels::embedded_source("cpu/sgemm.cpp:no-such").empty());
  CHECK(kernels::embedded_source("").empty());
}

// Who opens a ladder's file finds its versions at its head, in their order, and the call that runs them.
TEST_CASE("the head of each ladder's file lists its versions and how to run them") {
  std::string heads;
  for (const char* folder : {"cpu", "cuda", "opengl"})
    for (const auto& file :
         std::filesystem::directory_iterator(support::source_file("kernels/" + std::string(folder)))) {
      if (file.path().extension() != ".cpp") continue;
      const std::string text = support::read_text(file.path());
      heads += text.substr(0, text.find("#include"));
    }
  for (const auto& ladder : kernels::all_ladders()) {
    INFO(ladder.id);
    std::size_t at = heads.find("// " + std::string(ladder.id) + ":\n");
    REQUIRE(at != std::string::npos);
    CHECK(heads.find("ridgeline kernels run " + std::string(ladder.id)) != std::string::npos);
    const std::size_t end = heads.find("//\n", at);
    for (const auto& rung : ladder.rungs) {
      INFO(rung.id);
      at = heads.find("\n//   " + std::string(rung.id) + " ", at);
      REQUIRE(at < end);
    }
  }
}

TEST_CASE("every rung of every ladder has its text, a title and the roof that bounds it") {
  std::set<std::string_view> ladders;
  for (const auto& ladder : kernels::all_ladders()) {
    CHECK(ladders.insert(ladder.id).second);
    CHECK((ladder.size_lo <= ladder.size_default && ladder.size_default <= ladder.size_hi));
    std::set<std::string_view> rungs;
    for (const auto& rung : ladder.rungs) {
      INFO(ladder.id << " " << rung.id);
      CHECK(rungs.insert(rung.id).second);
      CHECK(rung.source.size() > 50);
      CHECK(rung.source.ends_with('\n'));
      CHECK_FALSE(rung.title.empty());
      CHECK_FALSE(rung.change.empty());
    }
    CHECK(rungs.size() >= 3);
  }
}
