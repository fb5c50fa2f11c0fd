#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <random>

#include "models/realtime/task_graph.h"

using namespace models;

namespace {

/// Graham's example of 1969: nine tasks on three machines, list order as numbered; 1 before 9, and 4 before 5, 6, 7, 8.
TaskGraph graham(std::int64_t machines, std::int64_t less, bool all_arrows = true) {
  TaskGraph g{{{"machine", machines}}, {}};
  for (const std::int64_t t : {3, 2, 2, 2, 4, 4, 4, 4, 9})
    g.tasks.push_back({"T" + std::to_string(g.tasks.size() + 1), 0, t - less, {}, 0, false});
  g.tasks[8].after = {0};
  for (const std::size_t i : {4u, 5u, 6u, 7u})
    if (all_arrows || i > 5) g.tasks[i].after = {3};
  return g;
}
std::int64_t makespan(const TaskGraph& g, const GraphOptions& o = {}) {
  const auto s = schedule_frames(g, o);
  REQUIRE(s);
  return s->makespan_ns;
}

TaskGraph random_graph(std::mt19937& r) {
  const auto below = [&](unsigned n) { return static_cast<std::int64_t>(r() % n); };
  TaskGraph g;
  for (int k = 0; k < 3; ++k) g.resources.push_back({std::string(1, static_cast<char>('A' + k)), 1 + below(3)});
  const std::int64_t n = 1 + below(12);
  for (std::int64_t i = 0; i < n; ++i) {
    GraphTask t{"t" + std::to_string(i),
                static_cast<std::size_t>(below(3)),
                below(6) == 0 ? 0 : 1 + below(50),
                {},
                below(3),
                below(4) == 0};
    for (std::int64_t d = 0; d < i; ++d)
      if (below(4) == 0) t.after.push_back(static_cast<std::size_t>(d));
    g.tasks.push_back(std::move(t));
  }
  return g;
}

/// The first rule of a schedule that is broken, or "".
std::string broken_rule(const TaskGraph& g, const GraphOptions& o, const GraphSchedule& s) {
  const std::size_t n = g.tasks.size();
  std::vector<std::int64_t> worked(s.jobs.size(), 0);
  for (std::size_t i = 0; i < s.segments.size(); ++i) {
    const auto& a = s.segments[i];
    worked[a.frame * n + a.task] += a.end_ns - a.start_ns;
    if (a.unit >= static_cast<std::uint32_t>(g.resources[g.tasks[a.task].resource].units))
      return "a unit that does not exist";
    for (std::size_t k = i + 1; k < s.segments.size(); ++k) {
      const auto& b = s.segments[k];
      const bool same = g.tasks[a.task].resource == g.tasks[b.task].resource && a.unit == b.unit;
      if (same && std::max(a.start_ns, b.start_ns) < std::min(a.end_ns, b.end_ns))
        return "two jobs on one unit at once";
    }
  }
  for (std::size_t j = 0; j < s.jobs.size(); ++j) {
    const std::size_t f = j / n, t = j % n;
    const auto& job = s.jobs[j];
    if (worked[j] != g.tasks[t].duration_ns) return "a job that is not done, or done twice";
    if (!o.preemptive && job.finish_ns - job.start_ns != g.tasks[t].duration_ns)
      return "a job interrupted without preemption";
    if (job.start_ns < s.frames[f].release_ns) return "a job before its frame's release";
    for (const std::size_t d : g.tasks[t].after)
      if (job.start_ns < s.jobs[f * n + d].finish_ns) return "a job before what it waits for";
    if (f > 0 && g.tasks[t].after_own_last && job.start_ns < s.jobs[j - n].finish_ns)
      return "a job before its own last";
    if (f > 0 && !o.pipelined && job.start_ns < s.frames[f - 1].finish_ns) return "frames overlap without pipelining";
  }
  return "";
}

}  // namespace

// R. L. Graham, Bounds on Multiprocessing Timing Anomalies (1969): 12; with every task shorter by one 13; on four
// machines 15; without the arrows from 4 to 5 and 6, 16.
TEST_CASE("list scheduling has Graham's anomalies: less work, more machines or fewer arrows end later") {
  CHECK(makespan(graham(3, 0)) == 12);
  CHECK(makespan(graham(3, 1)) == 13);
  CHECK(makespan(graham(4, 0)) == 15);
  CHECK(makespan(graham(3, 0, false)) == 16);
}

TEST_CASE("random graphs: precedence, no overlap on a unit, all work done, and both lower bounds hold") {
  std::mt19937 r(7);
  for (int round = 0; round < 600; ++round) {
    const TaskGraph g = random_graph(r);
    const GraphOptions o{
        .frames = 1 + static_cast<std::int64_t>(r() % 4),
        .period_ns = static_cast<std::int64_t>(r() % 100),
        .pipelined = r() % 2 == 0,
        .preemptive = r() % 2 == 0,
    };
    INFO("round " << round);
    const auto s = schedule_frames(g, o), again = schedule_frames(g, o);
    REQUIRE(s);
    REQUIRE(broken_rule(g, o, *s) == "");
    CHECK(s->makespan_ns >= critical_path_ns(g));
    for (const double work : work_per_unit_ns(g))
      CHECK(static_cast<double>(s->makespan_ns) >= work * static_cast<double>(o.frames) - 1e-6);
    REQUIRE(again->segments.size() == s->segments.size());
    for (std::size_t i = 0; i < s->segments.size(); ++i)
      CHECK((again->segments[i].start_ns == s->segments[i].start_ns && again->segments[i].task == s->segments[i].task &&
             again->segments[i].unit == s->segments[i].unit));
  }
}

TEST_CASE("with a unit for every task the makespan is the longest chain, and never falls when a task gets longer") {
  std::mt19937 r(11);
  for (int round = 0; round < 200; ++round) {
    TaskGraph g = random_graph(r);
    for (auto& resource : g.resources) resource.units = 64;
    const std::int64_t before = makespan(g);
    CHECK(before == critical_path_ns(g));
    g.tasks[r() % g.tasks.size()].duration_ns += 1 + static_cast<std::int64_t>(r() % 20);
    CHECK(makespan(g) >= before);
  }
}

TEST_CASE("a task may end later by its float, and not by more, without moving the frame's end on single units") {
  std::mt19937 r(5);
  int tried = 0;
  for (int round = 0; round < 300; ++round) {
    TaskGraph g = random_graph(r);
    for (auto& resource : g.resources) resource.units = 64;  // no order on resources: the classical float
    const auto s = schedule_frames(g, {});
    REQUIRE(s);
    const auto room = task_float_ns(g, *s, 0);
    const std::size_t i = r() % g.tasks.size();
    g.tasks[i].duration_ns += room[i];
    CHECK(makespan(g) == s->makespan_ns);
    g.tasks[i].duration_ns += 1;
    CHECK(makespan(g) == s->makespan_ns + 1);
    tried += room[i] > 0;
  }
  CHECK(tried > 50);
}

TEST_CASE("the critical chain of a lone frame is without gaps, from the release to the end") {
  std::mt19937 r(3);
  for (int round = 0; round < 300; ++round) {
    const TaskGraph g = random_graph(r);
    const auto s = schedule_frames(g, {.preemptive = round % 2 == 0});
    REQUIRE(s);
    const auto chain = critical_chain(g, *s, 0);
    INFO("round " << round);
    REQUIRE_FALSE(chain.empty());
    CHECK(s->segments[chain.front()].start_ns == 0);
    CHECK(s->segments[chain.back()].end_ns == s->makespan_ns);
    for (std::size_t i = 1; i < chain.size(); ++i)
      CHECK(s->segments[chain[i]].start_ns == s->segments[chain[i - 1]].end_ns);
  }
}

// Three tasks of 10, 20 and 10 on three resources, a frame every 20: one by one a frame takes 40, pipelined one ends
// every 20.
TEST_CASE("pipelining raises throughput to the busiest resource and leaves latency alone") {
  TaskGraph g{{{"A", 1}, {"B", 1}, {"C", 1}},
              {{"a", 0, 10, {}, 0, false}, {"b", 1, 20, {0}, 0, false}, {"c", 2, 10, {1}, 0, false}}};
  CHECK(*sustained_rate_hz(g, {}) == 1e9 / 40);
  CHECK(*sustained_rate_hz(g, {.pipelined = true}) == 1e9 / 20);
  const auto s = schedule_frames(g, {.frames = 5, .period_ns = 20, .pipelined = true});
  for (const auto& frame : s->frames) CHECK(frame.latency_ns() == 40);
  const auto queue = schedule_frames(g, {.frames = 5, .period_ns = 20});
  CHECK(queue->frames[4].latency_ns() == 5 * 40 - 4 * 20);
}

TEST_CASE("preemption: the urgent job runs at once and the other goes on later; without it the urgent one waits") {
  const TaskGraph g{
      {{"A", 1}, {"B", 1}},
      {{"long", 0, 100, {}, 0, false}, {"sensor", 1, 30, {}, 0, false}, {"urgent", 0, 10, {1}, 5, false}}};
  const auto waits = schedule_frames(g, {}), takes = schedule_frames(g, {.preemptive = true});
  CHECK(waits->jobs[2].start_ns == 100);
  CHECK(waits->preemptions == 0);
  CHECK(takes->jobs[2].start_ns == 30);
  CHECK(takes->jobs[0].finish_ns == 110);
  CHECK(takes->preemptions == 1);
  CHECK(takes->segments.size() == 4);
}

TEST_CASE("what cannot be scheduled is said in one sentence") {
  TaskGraph g{{{"GPU", 1}}, {{"a", 0, 1, {1}, 0, false}, {"b", 0, 1, {0}, 0, false}}};
  CHECK(schedule_frames(g, {}).error == "'a' waits for 'b' waits for 'a', a circle: take one dependency away.");
  g.tasks[0].after.clear();
  g.resources[0].units = 0;
  CHECK(schedule_frames(g, {}).error == "'a' runs on GPU and there is none: add one or move the task.");
  g.tasks.clear();
  CHECK(schedule_frames(g, {}).error == "There is no task to schedule: add one.");
}
