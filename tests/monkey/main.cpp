// ridgeline_monkey [--lab LAB] [--seed N] [--events N] [--events-a-walk N] [--events-a-start N] [--until N]
// [--real-fonts] [--no-wait] [--say] Walks over one lab, or over all in turn, until so many events are done; the seed
// grows by one with each round of the labs. Ends with status 1 at the first fault, which it describes, or goes on after
// it with --go-on.
#include <sys/resource.h>

#include <catch2/catch_session.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/registry.h"
#include "tests/support/lab/monkey.h"

namespace bench {
// Of tests/bench/allocations.cpp, which the sanitized program goes without: it has an operator new of its own.
std::uint64_t allocations() __attribute__((weak));
void count_imgui() __attribute__((weak));
}  // namespace bench

namespace {

struct Asked {
  support::MonkeyWalk walk;
  std::uint64_t events = 1'000'000;
  bool go_on = false;
};

/// False where the arguments are not understood.
bool read_arguments(int argc, char** argv, Asked& asked) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--real-fonts") {
      asked.walk.real_fonts = true;
    } else if (name == "--no-wait") {
      asked.walk.waits = false;
    } else if (name == "--go-on") {
      asked.go_on = true;
    } else if (name == "--say") {
      asked.walk.on_event = [](const std::string& event) { std::fprintf(stderr, "%s\n", event.c_str()); };
    } else if (i + 1 == argc) {
      return false;
    } else if (const char* value = argv[++i]; name == "--lab") {
      asked.walk.lab = value;
    } else if (name == "--seed") {
      asked.walk.seed = std::strtoull(value, nullptr, 10);
    } else if (name == "--events") {
      asked.events = std::strtoull(value, nullptr, 10);
    } else if (name == "--events-a-walk") {
      asked.walk.events = std::atoi(value);
    } else if (name == "--events-a-start") {
      asked.walk.events_a_start = std::atoi(value);
    } else if (name == "--until") {
      asked.walk.until = std::atoi(value);
      asked.events = 1;
    } else {
      return false;
    }
  }
  return asked.walk.events > 0 && asked.walk.events_a_start > 0;
}

double peak_mib() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

}  // namespace

int main(int argc, char** argv) {
  Asked asked;
  if (!read_arguments(argc, argv, asked)) {
    std::fprintf(stderr, "The arguments are not understood: the first lines of tests/monkey/main.cpp name them.\n");
    return 2;
  }
  if (bench::allocations) {
    bench::count_imgui();
    asked.walk.allocations = bench::allocations;
  }
  std::vector<std::string> labs;
  for (const auto& entry : chapters::all_labs())
    if (asked.walk.lab.empty() || asked.walk.lab == entry.id) labs.emplace_back(entry.id);
  if (labs.empty()) {
    std::fprintf(stderr, "There is no lab \"%s\".\n", asked.walk.lab.c_str());
    return 2;
  }
  support::MonkeyTally all;
  int faults = 0;
  std::uint64_t begun = 0;
  for (std::uint64_t round = 0; begun < asked.events; ++round)
    for (std::size_t i = 0; i < labs.size() && begun < asked.events; ++i) {
      support::MonkeyWalk walk = asked.walk;
      walk.lab = labs[i];
      walk.seed = asked.walk.seed + round;
      begun += static_cast<std::uint64_t>(walk.events);
      try {
        all += support::walk(walk);
      } catch (const std::exception& e) {
        ++faults;
        std::printf("FAULT %d: %s\n\n", faults, e.what());
        if (!asked.go_on) return 1;
      }
      std::printf(
          "%llu events begun, %s seed %llu done; %llu events, %llu frames, %llu starts, %llu edits, %llu undone, "
          "%llu dropped, %d faults, peak %.0f MiB\n",
          static_cast<unsigned long long>(begun), walk.lab.c_str(), static_cast<unsigned long long>(walk.seed),
          static_cast<unsigned long long>(all.events), static_cast<unsigned long long>(all.frames),
          static_cast<unsigned long long>(all.starts), static_cast<unsigned long long>(all.edits),
          static_cast<unsigned long long>(all.undone), static_cast<unsigned long long>(all.dropped), faults,
          peak_mib());
      std::fflush(stdout);
    }
  return faults == 0 ? 0 : 1;
}
