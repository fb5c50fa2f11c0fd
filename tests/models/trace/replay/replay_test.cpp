#include "models/trace/replay/replay.h"

#include <catch2/catch_test_macros.hpp>

#include "models/trace/trace.h"
#include "tests/models/trace/replay/random_jobs.h"

// The engine against its definition: longest paths by relaxation over random jobs, and what must hold of any job.

using namespace models::trace;
using job_test::random_changes;
using job_test::random_job;
using job_test::slow_run;

namespace {

Replay ready(JobGraph graph) {
  models::Result<Replay> made = Replay::of(std::move(graph));
  INFO(made.error);
  REQUIRE(made);
  return std::move(*made);
}

/// Two ranks, a host and a device each. Rank 1's garbage collection holds its launch, its gradient comes late to the
/// collective, and rank 0 pays.
JobGraph two_ranks(std::int64_t collection_ns) {
  JobGraph g;
  g.meetings = 1;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const std::uint32_t host = g.add_lane("host", rank), device = g.add_lane("device", rank);
    const std::uint32_t collects = g.add_task({.duration_ns = rank == 1 ? collection_ns : 0, .lane = host});
    const std::uint32_t call = g.add_task({.duration_ns = 5, .lane = host});
    const std::uint32_t kernel = g.add_task({.duration_ns = 100, .lane = device});
    g.add_task({.duration_ns = 20, .lane = device, .meeting = 0});
    g.add_edge(call, kernel, JobEdgeKind::launch, JobEdgeAt::end_to_start, 3);
    CHECK(collects + 1 == call);
  }
  return g;
}

}  // namespace

TEST_CASE("runs of random jobs are their longest paths", "[trace]") {
  std::mt19937_64 random(26);
  int moved = 0;
  for (int round = 0; round < 3000; ++round) {
    INFO("round " << round);
    const JobGraph graph = random_job(random);
    const Replay replay = ready(graph);
    const auto changes = random_changes(random, graph);
    const JobTimes slow = slow_run(graph), fast = replay.run(), slow_changed = slow_run(graph, changes),
                   changed = replay.run(changes);
    REQUIRE(fast.start_ns == slow.start_ns);
    REQUIRE(fast.end_ns == slow.end_ns);
    REQUIRE(changed.start_ns == slow_changed.start_ns);
    REQUIRE(changed.end_ns == slow_changed.end_ns);
    REQUIRE(replay.won_ns(changes) == slow.length_ns - slow_changed.length_ns);
    moved += slow.length_ns != slow_changed.length_ns;
  }
  CHECK(moved > 300);
}

TEST_CASE("nothing ends later because something was taken out or waits for less", "[trace]") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 1000; ++round) {
    INFO("round " << round);
    const Replay replay = ready(random_job(random));
    std::vector<JobChange> changes;
    for (std::uint32_t i = 0; i < replay.graph().tasks.size(); ++i)
      if (random() % 4 == 0)
        changes.push_back(
            {.task = i, .duration_ns = random() % 2 == 0 ? 0 : JobChange::keep, .waits = random() % 3 != 0});
    const JobTimes before = replay.unchanged(), after = replay.run(changes);
    for (std::size_t i = 0; i < before.end_ns.size(); ++i) REQUIRE(after.end_ns[i] <= before.end_ns[i]);
    // The steps' gains are those of the last step's end.
    std::int64_t sum = 0;
    for (const std::int64_t ns : replay.won(changes).step_ns) sum += ns;
    if (!before.step_end_ns.empty()) REQUIRE(sum == before.step_end_ns.back() - after.step_end_ns.back());
  }
}

TEST_CASE("a chain leads without a hole from what nothing held up to the task", "[trace]") {
  std::mt19937_64 random(3);
  int crossed = 0;
  for (int round = 0; round < 1000; ++round) {
    INFO("round " << round);
    const JobGraph graph = random_job(random);
    const Replay replay = ready(graph);
    const auto changes = random_changes(random, graph);
    const JobTimes times = replay.run(changes);
    const std::vector<JobLink> chain = replay.critical_path(times, changes);
    REQUIRE(chain.empty() == graph.tasks.empty());
    if (chain.empty()) continue;
    REQUIRE(chain.back().to_ns == times.length_ns);
    REQUIRE(chain.back().holds == JobHold::itself);
    REQUIRE(chain.front().from_ns <= times.start_ns[chain.front().task]);
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
      REQUIRE(chain[i].from_ns <= chain[i].to_ns);
      REQUIRE(chain[i].to_ns <= chain[i + 1].from_ns);
      const bool same_lane = graph.tasks[chain[i].task].lane == graph.tasks[chain[i + 1].task].lane;
      if (chain[i].holds == JobHold::lane) REQUIRE(same_lane);
      crossed += graph.rank_of(chain[i].task) != graph.rank_of(chain[i + 1].task);
    }
    std::uint32_t tasks = 0;
    for (const JobLinks& links : by_lane(graph, chain)) tasks += links.tasks;
    REQUIRE(tasks == chain.size());
  }
  CHECK(crossed > 100);
}

TEST_CASE("one rank's collection of garbage is paid by the other", "[trace]") {
  const Replay replay = ready(two_ranks(38));
  const JobTimes& times = replay.unchanged();
  // Rank 0: launched at 5, begins at 8, waits in the collective from 108. Rank 1: all of it 38 later.
  CHECK(times.start_ns == std::vector<std::int64_t>{0, 0, 8, 108, 0, 38, 46, 146});
  CHECK(times.meeting_ns == std::vector<std::int64_t>{146});
  CHECK(times.length_ns == 166);
  CHECK(replay.won_ns(std::vector<JobChange>{{.task = 4}}) == 38);
  // The part of rank 0 that waited is longer than what it would win.
  CHECK(times.end_ns[3] - times.start_ns[3] == 58);
  CHECK(replay.won_ns(std::vector<JobChange>{{.task = 3}}) == 0);
  const auto chain = by_lane(replay.graph(), replay.chain_to_end(times, 3));
  REQUIRE(chain.size() == 3);
  CHECK(chain[0].first == 4);
  CHECK(chain[0].last == 5);
  CHECK(chain[0].holds == JobHold::launch);
  CHECK(chain[1].first == 6);
  CHECK(chain[1].last == 7);
  CHECK(chain[1].holds == JobHold::meeting);
  CHECK(chain[2].first == 3);
  CHECK(chain[2].from_ns == 146);
  CHECK(chain[2].to_ns == 166);
  const JobBlame blame = blame_of(replay.graph(), times);
  CHECK(blame.waited_ns == std::vector<std::int64_t>{38, 0});
  CHECK(blame.caused_ns == std::vector<std::int64_t>{0, 38});
  CHECK(blame.late_ns == std::vector<std::int64_t>{0, 38});
  CHECK(blame.spared_ns == std::vector<std::int64_t>{0, 38});
  CHECK(waits_matrix(replay.graph(), times) == std::vector<std::int64_t>{0, 38, 0, 0});
  // The same in microseconds: on time, as far as the rank's own work can be blamed, to a microsecond.
  JobGraph longer = two_ranks(38);
  for (JobTask& t : longer.tasks) t.duration_ns *= 1000;
  for (JobEdge& e : longer.edges) e.delay_ns *= 1000;
  const Replay late = ready(longer);
  CHECK(late.won_ns(rank_on_time(late, 1)) > 37'000);
  CHECK(late.won_ns(rank_on_time(late, 1)) <= 38'000);
  CHECK(late.won_ns(rank_on_time(late, 0)) == 0);
}

TEST_CASE("gains do not add up: two that hide each other win nothing alone, two in a row win less together",
          "[trace]") {
  // Two lanes of 100 end together: each alone wins nothing, both win 60.
  JobGraph hidden;
  for (int lane = 0; lane < 2; ++lane) hidden.add_task({.duration_ns = 100, .lane = hidden.add_lane("lane")});
  const Replay apart = ready(hidden);
  CHECK(apart.won_ns(std::vector<JobChange>{{.task = 0, .duration_ns = 40}}) == 0);
  CHECK(apart.won_ns(std::vector<JobChange>{{.task = 1, .duration_ns = 40}}) == 0);
  CHECK(apart.won_ns(std::vector<JobChange>{{.task = 0, .duration_ns = 40}, {.task = 1, .duration_ns = 40}}) == 60);
  // Two tasks of 50 beside one of 80: each wins 20, both no more than that.
  JobGraph row;
  const std::uint32_t first = row.add_lane("two"), second = row.add_lane("one");
  row.add_task({.duration_ns = 50, .lane = first});
  row.add_task({.duration_ns = 50, .lane = first});
  row.add_task({.duration_ns = 80, .lane = second});
  const Replay beside = ready(row);
  CHECK(beside.won_ns(std::vector<JobChange>{{.task = 0}}) == 20);
  CHECK(beside.won_ns(std::vector<JobChange>{{.task = 1}}) == 20);
  CHECK(beside.won_ns(std::vector<JobChange>{{.task = 0}, {.task = 1}}) == 20);
}

TEST_CASE("a synchronising call waits for the device, a full queue for room, a stream for an event", "[trace]") {
  JobGraph g;
  const std::uint32_t host = g.add_lane("host"), stream = g.add_lane("stream"), other = g.add_lane("other");
  const std::uint32_t call = g.add_task({.duration_ns = 10, .lane = host});
  const std::uint32_t full = g.add_task({.duration_ns = 10, .lane = host});
  const std::uint32_t sync = g.add_task({.duration_ns = 4, .lane = host});
  const std::uint32_t first = g.add_task({.duration_ns = 100, .lane = stream});
  const std::uint32_t second = g.add_task({.duration_ns = 50, .lane = stream, .gap_ns = 2});
  const std::uint32_t waits = g.add_task({.duration_ns = 7, .lane = other});
  g.add_edge(call, first, JobEdgeKind::launch);
  g.add_edge(full, second, JobEdgeKind::launch, JobEdgeAt::start_to_start);
  g.add_edge(first, full, JobEdgeKind::queue, JobEdgeAt::end_to_end);
  g.add_edge(second, sync, JobEdgeKind::sync, JobEdgeAt::end_to_end, 3);
  g.add_edge(first, waits, JobEdgeKind::stream_wait);
  const Replay replay = ready(g);
  const JobTimes& times = replay.unchanged();
  CHECK(times.end_ns[full] == 110);
  CHECK(times.start_ns[second] == 112);
  CHECK(times.end_ns[sync] == 165);
  CHECK(times.start_ns[waits] == 110);
  const auto chain = replay.critical_path(times);
  REQUIRE(chain.size() == 4);
  CHECK(chain[0].holds == JobHold::launch);
  CHECK(chain[1].holds == JobHold::lane);
  CHECK(chain[2].task == second);
  CHECK(chain[2].holds == JobHold::sync);
  CHECK(chain[3].task == sync);
  // Without waiting the call ends after its own work, and the kernel is what ends last.
  CHECK(replay.won_ns(std::vector<JobChange>{{.task = sync, .duration_ns = JobChange::keep, .waits = false}}) == 3);
}

TEST_CASE("a job that cannot run is refused with what is wrong with it", "[trace]") {
  const auto fault = [](JobGraph g) { return Replay::of(std::move(g)).error; };
  JobGraph g = two_ranks(1);
  g.add_edge(3, 0, JobEdgeKind::data);
  CHECK(fault(g).find("circle") != std::string::npos);
  g = two_ranks(1);
  g.add_edge(8, 0, JobEdgeKind::data);
  CHECK(fault(g).find("Edge 2 names a task that is not there") != std::string::npos);
  g = two_ranks(1);
  g.tasks[0].lane = 4;
  CHECK(fault(g) == "Task 0 is on lane 4, but there are 4 lanes.");
  g = two_ranks(1);
  g.tasks[2].meeting = 1;
  CHECK(fault(g).find("Task 2 names a meeting") != std::string::npos);
  // Two parts of a meeting in one lane wait for each other for ever.
  g.tasks[2].meeting = 0;
  CHECK(fault(g).find("circle") != std::string::npos);
  for (const std::int64_t ns : {std::int64_t{-1}, max_duration_ns + 1}) {
    g = two_ranks(1);
    g.tasks[1].duration_ns = ns;
    CHECK(fault(g).find("Task 1 has a time") != std::string::npos);
  }
  g = two_ranks(1);
  g.edges[0].delay_ns = INT64_MIN;
  CHECK(fault(g).find("Edge 0 has a delay") != std::string::npos);
  CHECK(ready({}).unchanged().length_ns == 0);
}

TEST_CASE("times end at a limit instead of wrapping round, and a long lane needs no deep stack", "[trace]") {
  JobGraph g;
  const std::uint32_t lane = g.add_lane("lane");
  for (int i = 0; i < 50'000; ++i)
    g.add_task({.duration_ns = max_duration_ns, .lane = lane, .gap_ns = max_duration_ns});
  const Replay replay = ready(std::move(g));
  CHECK(replay.unchanged().length_ns == INT64_MAX / 4);
  CHECK(replay.critical_path(replay.unchanged()).size() > 1000);
  CHECK(replay.won_ns(std::vector<JobChange>{{.task = 60'000}}) == 0);
}
