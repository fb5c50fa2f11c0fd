#include <catch2/catch_test_macros.hpp>
#include <cstdio>

#include "tests/support/base/effort.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/computed_states.h"
#include "tests/support/lab/lab_walk.h"
#include "tests/support/lab/monkey.h"
#include "tests/support/lab/monkey_checks.h"
#include "tests/support/lab/shell_driver.h"

// Careless hands: a thousand random events on each lab, through the queue that a window fills. What must hold is said
// at support::walk. ridgeline_monkey walks for as long as it is let.

TEST_CASE("every lab: whatever is clicked, typed, dropped or undone, values stay in range and the state reads back") {
  // The same events on every machine. The sanitizers see what damage would do before it shows, so the thousand are
  // theirs; the plain program, which a person runs, begins the same walk. A million are for ridgeline_monkey.
  const int events = support::full() || support::sanitized() ? 1000 : 60;
  for (const auto& entry : support::labs_under_test()) DYNAMIC_SECTION(entry.id) {
      // A walk that has taken one second of CPU ends early, after twenty events at least; ./test prints how many there
      // were of all. ./test full walks to the end.
      const support::MonkeyTally done = support::walk({.lab = std::string(entry.id),
                                                       .seed = 11,
                                                       .events = events,
                                                       .cpu_s = support::full() ? 1e30 : 1,
                                                       .least = 20,
                                                       .events_a_start = 500});
      std::printf("Monkey events: %llu of %d on %s\n", static_cast<unsigned long long>(done.events), events,
                  std::string(entry.id).c_str());
      CHECK(done.events >= 20);
      CHECK(done.starts >= 2);
      CHECK(done.frames > done.events);
    }
}

TEST_CASE("every lab: pictures zoomed out and in as far as they go leave a view that a scenario may hold") {
  support::use_bundled_catalog();
  for (const auto& entry : support::labs_under_test()) DYNAMIC_SECTION(entry.id) {
      support::ShellDriver d(support::bundled_content());
      REQUIRE(d.workspace.open(entry.id));
      support::compute_once(d.workspace);
      REQUIRE(d.settle());
      for (const float turn : {-20.0f, 20.0f})
        for (const ImVec2 at : {ImVec2{450, 300}, ImVec2{700, 420}})
          for (int i = 0; i < 12; ++i) d.ui.wheel_at(at, turn);
      d.settle();
      CHECK_NOTHROW(support::check_values(d.workspace));
    }
}
