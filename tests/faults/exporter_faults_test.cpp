#include <catch2/catch_test_macros.hpp>

#include "app/platform/csv.h"
#include "app/platform/file.h"
#include "app/platform/image.h"
#include "app/platform/svg.h"
#include "app/scenario/hand_on.h"
#include "chapters/mechanism/registry.h"
#include "models/trace/measure/metrics.h"
#include "tests/faults/injection.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"

/// Each exporter over a file that is there already, with every request for memory and every system call failing in
/// turn: the file is the old one or the whole new one, and nothing lies beside it.

namespace {

using faults::Attempt;
using faults::What;
using models::Status;

template <class Export>
void check_exporting(const char* name, What what, Export write) {
  const support::Folder folder;
  const auto path = folder / "out";
  REQUIRE(write(path));
  const std::string whole = folder.read("out");
  REQUIRE(whole.size() > 20);
  const int descriptors = faults::open_descriptors();
  {
    for (const bool exists : {true, false})
      faults::at_every_call(name, what, [&](Attempt& attempt) {
        if (exists)
          folder.write("out", "old");
        else
          std::filesystem::remove(path);
        Status status;
        const bool returned = faults::armed(attempt, [&] { status = write(path); });
        const bool there = std::filesystem::exists(path);
        const std::string found = there ? folder.read("out") : std::string();
        if (there && found != whole && !(exists && found == "old")) FAIL(name << ": neither the old file nor the new");
        if (exists && !there) FAIL(name << ": the old file is gone");
        if (returned && status && found != whole) FAIL(name << ": called written, and is not");
        if (returned && !status && !faults::is_sentence(status.error))
          FAIL(name << ": no sentence: \"" << status.error << "\"");
        if (!returned && what == What::files) FAIL(name << ": threw where only a file failed");
        if (folder.count() != (there ? 1 : 0)) FAIL(name << ": something lies beside it");
        if (faults::open_descriptors() != descriptors) FAIL(name << ": a file was left open");
      });
  }
}

widgets::Record record() {
  widgets::Record r{{0, 0}, {200, 100}, {}, {}};
  r.strokes.push_back({.kind = widgets::Stroke::Kind::polyline, .points = {{1, 1}, {50, 60}}, .text = {}});
  r.tables.push_back({"roofline", {"intensity", "flops"}, {{"1", "3.35e12"}, {"a cell of some length, quoted", "2"}}});
  return r;
}

}  // namespace

static void check_pictures(What what) {
  const app::Image image{8, 6, std::vector<std::uint8_t>(8 * 6 * 4, 128)};
  check_exporting("PNG", what, [&](const std::filesystem::path& to) { return app::write_png(to, image); });
  const widgets::Record drawn = record();
  check_exporting("SVG", what,
                  [&](const std::filesystem::path& to) { return app::write_file(to, app::to_svg(drawn)); });
  check_exporting("CSV", what,
                  [&](const std::filesystem::path& to) { return app::write_file(to, app::to_csv(drawn)); });
}

static void check_recordings(What what) {
  const auto trace =
      models::trace::read_trace(support::read_text(support::data_file("traces/small.json")), "small.json");
  REQUIRE(trace);
  check_exporting("trace JSON", what, [&](const std::filesystem::path& to) {
    const auto text = models::trace::to_chrome_json(*trace);
    return text ? app::write_file(to, *text) : Status::fail(text.error);
  });
  support::use_bundled_catalog();
  const auto lab = chapters::make_lab_by_id("roofline/iron-law");
  check_exporting("scenario", what, [&](const std::filesystem::path& to) {
    return app::write_file(to, app::scenario_to_hand_on(*lab, to.parent_path()).text);
  });
}

TEST_CASE(
    "pictures, tables, recordings and scenarios are written whole or not at all, whatever call to the disk fails") {
  check_pictures(What::files);
  check_recordings(What::files);
}

TEST_CASE("pictures and tables are written whole or not at all, whatever memory is missing") {
  check_pictures(What::memory);
}

TEST_CASE("recordings and scenarios are written whole or not at all, whatever memory is missing") {
  check_recordings(What::memory);
}
