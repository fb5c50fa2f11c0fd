#include "app/kernel_runs/measured_rows.h"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "app/content/load_catalog.h"
#include "app/content/load_published.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"

using Catch::Approx;

namespace {

kernels::Result timed(const char* ladder, const char* rung, double time_s) {
  return {.ladder = ladder, .rung = rung, .size = 1 << 29, .time_s = time_s, .samples = 30};
}

}  // namespace

// Made-up times: a stride of two that takes 2.1 times as long uses 47.6 % of what it fetches, where the model says 50.
TEST_CASE("measured strides and banks stand beside the models of their labs, and nothing does before") {
  support::use_bundled_catalog();
  CHECK(app::measured_rows({}, "GPU", "2026-11-29").empty());
  CHECK(app::measured_rows({timed("cuda-stride", "every_2", 2)}, "GPU", "2026-11-29").empty());
  const auto files =
      app::measured_rows({timed("cuda-stride", "every_1", 1.0e-4), timed("cuda-stride", "every_2", 2.1e-4),
                          timed("cuda-banks", "stride_1", 1e-4), timed("cuda-banks", "stride_8", 8.2e-4),
                          timed("cuda-banks", "stride_33", 1.01e-4)},
                         "Some \"GPU\"", "2026-11-29");
  REQUIRE(files.size() == 2);
  std::vector<std::string> errors;
  std::vector<double> models;
  for (const auto& file : files)
    for (const auto& row : app::parse_published(file.json, file.file_name, errors)) {
      INFO(row.id);
      const auto checked = app::check_published(row);
      REQUIRE(checked.error == "");
      models.push_back(checked->model);
      CHECK(checked->residual == Approx(row.measured / checked->model - 1));
    }
  CHECK(errors.empty());
  CHECK(models == std::vector<double>{50, 8, 1});
}

TEST_CASE("measurements of one's own are read with the bundled ones, and a bad file is one sentence") {
  const support::Folder user;
  std::filesystem::create_directories(user.path / "published");
  const auto files = app::measured_rows({timed("cuda-banks", "stride_1", 1e-4), timed("cuda-banks", "stride_4", 4e-4)},
                                        "GPU", "2026-11-29");
  user.write("published/" + files[0].file_name, files[0].json);
  user.write("published/torn.json", files[0].json.substr(0, 50));
  const auto loaded = app::load_catalog(support::source_file("assets"), user.path);
  const auto rows = loaded.catalog->published_of("kernels/bank-conflicts");
  CHECK(std::any_of(rows.begin(), rows.end(), [](const auto& r) { return r.id == "this-gpu-cuda-banks-4"; }));
  REQUIRE(loaded.errors.size() == 1);
  CHECK(loaded.errors[0].find("torn.json") != std::string::npos);
}
