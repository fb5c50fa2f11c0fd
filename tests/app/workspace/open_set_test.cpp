#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "app/workspace/workspace.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/reader_choice.h"
#include "tests/support/lab/sample_files.h"

// Files that are dropped together, and folders of them.

namespace {

namespace fs = std::filesystem;

struct SetOpener {
  SetOpener() { support::use_bundled_catalog(); }
  /// Drops them on the window, and waits until all is opened or refused.
  void drop(const std::vector<std::string>& paths) {
    w.messages().clear();
    w.opening.open(paths);
    w.opening.wait();
  }
  std::string lab() { return std::string(w.lab().info().id); }
  const chapters::Field& input(const char* key) { return *w.lab().inputs().find(key); }
  std::string said() { return w.messages().empty() ? "" : w.messages().back().text; }
  /// The file in a row of a table.
  std::string row(const char* table, std::size_t at) {
    chapters::Fields cells;
    input(table).table_row(at, cells);
    return cells.find("file")->file().path;
  }

  support::Folder folder;
  app::Workspace w{support::bundled_content(),
                   models::Result<app::UserPaths>::ok({folder / "data", folder / "config", folder / "state"})};
};

std::string hang_case(const std::string& name) { return (fs::path(support::data_file("hangs")) / name).string(); }

/// A recording of one rank of two, whose all-reduce ends with the other's.
std::string recording_of_rank(int rank, double start_us) {
  return R"({"distributedInfo": {"rank": )" + std::to_string(rank) + R"(, "world_size": 2}, "traceEvents": [
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":100,"dur":50,"args":{"device":0,"stream":7}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL","pid":0,"tid":8,"ts":)" +
         std::to_string(start_us) + R"(,"dur":)" + std::to_string(9000 - start_us) +
         R"(,"args":{"device":0,"stream":8}}]})";
}

}  // namespace

TEST_CASE("dumps dropped together, in any order, are one set in the lab that reads them") {
  SetOpener o;
  REQUIRE(o.w.open("roofline/iron-law"));
  const fs::path dumps = hang_case("skip_call");
  std::vector<std::string> files;
  for (const char* rank : {"rank2", "rank0", "rank3", "rank1"})
    files.push_back((dumps / (std::string(rank) + ".json")).string());
  o.drop(files);
  CHECK(o.lab() == "debugging/hang");
  CHECK(o.input("which").choice_id() == "files");
  CHECK(o.input("dumps").file().path == (dumps / "rank0.json").string());
  REQUIRE(o.input("more_dumps").table_size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(o.row("more_dumps", i) == (dumps / ("rank" + std::to_string(i + 1) + ".json")).string());
  CHECK(o.w.lab().outputs().find("ranks")->number() == 4);
  CHECK(o.said().find("4 files") != std::string::npos);
  // A smaller set takes the place of all of it.
  o.drop({files[0], files[1]});
  CHECK(o.input("more_dumps").table_size() == 1);
}

TEST_CASE("a folder of dumps is a set, files of another kind in it aside; a folder that is none says so") {
  SetOpener o;
  fs::create_directories(o.folder / "job/deeper");
  for (int rank = 0; rank < 12; ++rank)
    fs::copy_file(fs::path(hang_case("skip_call")) / "rank0.json",
                  o.folder / ("job/rank" + std::to_string(rank) + ".json"));
  o.folder.write("job/notes.txt", "read me\n");
  o.folder.write("job/.hidden.json", "{");
  REQUIRE(o.w.open("debugging/hang"));
  o.drop({(o.folder / "job").string()});
  CHECK(o.lab() == "debugging/hang");
  REQUIRE(o.input("more_dumps").table_size() == 11);
  CHECK(o.row("more_dumps", 9) == (o.folder / "job/rank10.json").string());  // 2 before 10
  CHECK(o.w.files.opened.front() == (o.folder / "job").string());
  const auto before = o.w.lab().clone();
  o.drop({(o.folder / "job/deeper").string()});
  CHECK(o.said().find("is a folder: choose a file in it.") != std::string::npos);
  CHECK(o.w.lab().same_inputs(*before));
}

TEST_CASE("recordings of ranks are one set in each lab that compares ranks, and the open one has the first word") {
  SetOpener o;
  o.folder.write("r0.json", recording_of_rank(0, 1000));
  o.folder.write("r1.json", recording_of_rank(1, 7000));
  const std::vector<std::string> both{(o.folder / "r1.json").string(), (o.folder / "r0.json").string()};
  REQUIRE(o.w.open("debugging/stragglers"));
  o.drop(both);
  CHECK(o.lab() == "debugging/stragglers");
  REQUIRE(o.input("recordings").table_size() == 2);
  CHECK(o.row("recordings", 0) == both[1]);
  REQUIRE(o.w.open("profiling/detective"));
  o.drop(both);
  CHECK(o.lab() == "profiling/detective");
  CHECK(o.input("file").file().path == both[1]);
  CHECK(o.input("ranks").table_size() == 1);
  CHECK(o.w.lab().outputs().find("diagnosed")->choice_id() == "late_rank");
  CHECK(o.w.lab().outputs().find("diagnosed_rank")->number() == 1);
  REQUIRE(o.w.open("roofline/iron-law"));
  o.drop(both);
  REQUIRE(o.w.opening.asked_reader());
  const auto& readers = o.w.opening.asked_reader()->found.readers;
  CHECK(readers.size() == 2);
  CHECK(std::none_of(readers.begin(), readers.end(), [](const auto& r) { return r.lab == "profiling/detective"; }));
  support::take_reader(o.w, "profiling/trace-viewer");
  CHECK(o.lab() == "profiling/trace-viewer");
  CHECK(o.input("ranks").table_size() == 1);
}

TEST_CASE("files that do not belong together are opened one after another, as they were given") {
  SetOpener o;
  o.folder.write("a.csv", "time,prompt,output\n0,100,20\n1,200,30\n");
  o.folder.write("z.csv", "name,flops,bytes,time_s\nmatmul,2e12,4e9,0.004\n");
  fs::create_directories(o.folder / "nothing");
  REQUIRE(o.w.open("serving/batching"));
  o.drop({(o.folder / "z.csv").string(), (o.folder / "nothing").string(), (o.folder / "a.csv").string()});
  support::take_reader(o.w, "serving/batching");
  CHECK(o.w.files.opened == std::vector<std::string>{(o.folder / "a.csv").string(), (o.folder / "z.csv").string()});
}

TEST_CASE("a set of which one file is damaged, or that is too large, is refused with what, and nothing changes") {
  SetOpener o;
  REQUIRE(o.w.open("profiling/trace-viewer"));
  o.folder.write("r0.json", recording_of_rank(0, 1000));
  const auto before = o.w.lab().clone();
  std::vector<std::string> many;
  for (int i = 0; i < 70; ++i) {
    const std::string name = "r" + std::to_string(i) + ".json";
    o.folder.write(name, recording_of_rank(i, 1000));
    many.push_back((o.folder / name).string());
  }
  o.drop(many);
  CHECK(o.said() == "70 files are more than Trace viewer takes: give fewer.");
  CHECK(o.w.lab().same_inputs(*before));
}
