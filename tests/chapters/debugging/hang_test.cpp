#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <string>

#include "chapters/debugging/hang/lab.h"
#include "tests/support/base/files.h"
#include "tests/support/base/gzip.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;

namespace {

LabPtr hang_lab(std::string_view inputs = "{}") { return open_lab("debugging/hang", inputs); }

}  // namespace

TEST_CASE("hang: the rank that rings is not the rank to blame") {
  const LabPtr lab = hang_lab();
  CHECK(computed(*lab, "first_culprit") == 2);
  CHECK(out(*lab, "rings_first") == 1);
  CHECK(out(*lab, "first_divergence") == 10);
  CHECK(out(*lab, "decidable") == 1);
  CHECK(out(*lab, "waiting_ranks") == 3);
  CHECK(lab->answer() ==
        "Rank `2` never made call `10` of the default group.\nThe watchdog of rank `1` would ring first: it waited "
        "longest, and is not to blame.");
}

TEST_CASE("hang: dumps of my own come as files, one an input and the others a table") {
  const std::string folder = data_file("hangs/skip_call/");
  const LabPtr lab = hang_lab(R"({"which": "files", "dumps": ")" + folder +
                              R"(rank0.json", "more_dumps": [{"file": ")" + folder + R"(rank1.pickle"}, {"file": ")" +
                              folder + R"(rank2.pickle"}, {"file": ")" + folder + R"(rank3.json"}]})");
  CHECK(computed(*lab, "first_culprit") == 2);
  CHECK(out(*lab, "first_divergence") == 8);
  CHECK(out(*lab, "records") == 32);
}

TEST_CASE("hang: dumps that are packed with gzip are read as they are, and one that is cut says so") {
  const Folder folder;
  std::string last;
  for (const char* rank : {"rank0", "rank1", "rank2", "rank3"}) {
    const std::string name = std::string("hangs/skip_call/") + rank + (rank[4] < '2' ? ".json" : ".pickle");
    if (rank[4] == '3') last = gzipped(read_text(data_file("hangs/skip_call/rank3.json")));
    folder.write(std::string(rank) + ".gz", rank[4] == '3' ? last : gzipped(read_text(data_file(name))));
  }
  const LabPtr lab = hang_lab(R"({"which": "files", "dumps": ")" + folder.path.string() + "\"}");
  CHECK(computed(*lab, "first_culprit") == 2);
  CHECK(out(*lab, "records") == 32);
  folder.write("rank3.gz", last.substr(0, last.size() / 2));
  const LabPtr cut = hang_lab(R"({"which": "files", "dumps": ")" + (folder / "rank3.gz").string() + "\"}");
  cut->compute();
  CHECK(cut->reason().starts_with("rank3.gz: "));
}

TEST_CASE("hang: a folder of dumps is the set of its files") {
  const LabPtr lab = hang_lab(R"({"which": "files", "dumps": ")" + data_file("hangs/order_type") + "\"}");
  CHECK(computed(*lab, "first_culprit") == 0);
  CHECK(out(*lab, "ranks") == 4);
  CHECK(out(*lab, "stock_right") == 0);
}

TEST_CASE("hang: many ranks fold into rows that are alike") {
  using namespace chapters::debugging::hang;
  Inputs in;
  in.which = Case::made_up;
  in.tensor_ranks = 8;
  in.data_ranks = 8;
  in.seed = 5;
  chapters::Progress progress;
  const auto c = compute(in, progress);
  REQUIRE(c.facts.reason.empty());
  CHECK(c.facts.culprit_ranks == c.facts.planted_ranks);
  const Picture picture = arrange(in, c.facts, *c.run);
  CHECK(picture.rows.size() <= 20);
  CHECK(picture.rows.size() >= 3);
  CHECK(picture.columns <= 40);
}

TEST_CASE("hang: in a circle nobody is the one to blame, and who rings first is one of them") {
  const LabPtr lab = hang_lab(R"({"which": "groups_cross"})");
  CHECK(computed(*lab, "culprits") == 4);
  CHECK(std::isnan(out(*lab, "first_culprit")));
  CHECK(lab->answer() ==
        "`4` ranks wait for each other in a circle, since they use two groups in different orders.\nThe watchdog of "
        "rank `1` would ring first: it is one of them, no more to blame than the others.");
}

TEST_CASE("hang: one dump of four tells where its rank waits, and accuses nobody of having died") {
  const LabPtr lab = hang_lab(R"({"which": "files", "dumps": ")" + data_file("hangs/loader_stuck/rank0.json") + "\"}");
  CHECK(computed(*lab, "decidable") == 0);
  CHECK(out(*lab, "culprits") == 0);
  CHECK(lab->answer() ==
        "`1` rank waits, and `3` of `4` ranks left no dump.\nToo few are here to say who is to blame: give the dumps "
        "of all ranks.");
}

TEST_CASE("hang: a call that is retired on one rank and open on another is no call that ended") {
  using namespace chapters::debugging::hang;
  const auto state = [](Case which, std::size_t row) {
    Inputs in;
    in.which = which;
    chapters::Progress progress;
    const auto c = compute(in, progress);
    const Picture picture = arrange(in, c.facts, *c.run);
    return picture.rows[row].cells.back().state;
  };
  // Gloo ended the connection: ranks 0 and 2 have call 7 retired, and rank 3 is in it.
  CHECK(state(Case::rank_died, 0) == Cell::State::parted);
  CHECK(state(Case::rank_died, 3) == Cell::State::waits);
  CHECK(state(Case::shape, 2) == Cell::State::parted);
  CHECK(state(Case::healthy, 0) == Cell::State::done);
}
