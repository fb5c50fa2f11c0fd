#include "tests/support/lab/monkey.h"

#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <deque>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>

#include "app/scenario/scenario.h"
#include "tests/support/base/last_words.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/monkey_checks.h"
#include "tests/support/lab/monkey_files.h"
#include "tests/support/lab/monkey_hands.h"

namespace support {
namespace {

namespace fs = std::filesystem;

/// A home of the monkey's own, so that none of its keys reaches a file of somebody else.
class Home {
 public:
  explicit Home(const fs::path& folder) {
    const char* was = ::getenv("HOME");
    had_ = was != nullptr;
    if (had_) was_ = was;
    ::setenv("HOME", folder.c_str(), 1);
  }
  ~Home() { had_ ? ::setenv("HOME", was_.c_str(), 1) : ::unsetenv("HOME"); }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;

 private:
  std::string was_;
  bool had_ = false;
};

/// The events are the lab's: whoever is led to another looks around there and comes back.
constexpr int max_events_elsewhere = 3;

/// Where a walk keeps its files: the same folder for the same walk, since paths are shown, measured and searched.
/// Another number stands at its end where the same walk goes on elsewhere, or was ended by a crash.
class Sandbox {
 public:
  explicit Sandbox(const MonkeyWalk& what) {
    std::string name = "ridgeline-monkey-" + what.lab + "-" + std::to_string(what.seed) + "-";
    std::replace(name.begin(), name.end(), '/', '-');
    for (int n = 10; n < 100; ++n)
      if (fs::create_directory(path = fs::temp_directory_path() / (name + std::to_string(n)))) return;
    throw std::runtime_error("Remove the folders " + path.string() + " and the like, which crashes have left.");
  }
  ~Sandbox() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  fs::path operator/(const char* name) const { return path / name; }
  fs::path path;
};

bool lies_in(const fs::path& path, const fs::path& folder) {
  const std::string inner = path.lexically_normal().string(), outer = folder.lexically_normal().string();
  return inner == outer || inner.starts_with(outer + "/");
}

class Walker {
 public:
  explicit Walker(const MonkeyWalk& what)
      : what_(what), folder_(what), chance_(what.seed * 0x2545F4914F6CDD1Du + lab_number(what.lab)) {}
  /// A chip that was dropped is in the catalog of the process: the next walk begins with the bundled one.
  ~Walker() {
    hands_.reset();
    driver_.reset();
    put_back_bundled_catalog();
  }
  Walker(const Walker&) = delete;
  Walker& operator=(const Walker&) = delete;

  MonkeyTally go() {
    const Home home(folder_.path);
    const LastWords last_words;
    files_ = make_files_to_drop(folder_ / "files", what_.lab);
    try {
      start();
      const double from_s = cpu_s();
      const int last = std::min(what_.events, what_.until);
      for (event_ = 1; event_ <= last; ++event_) {
        one_event();
        const bool enough = event_ >= what_.least && cpu_s() - from_s > what_.cpu_s;
        if (event_ % what_.events_a_start != 0 && event_ != last && !enough) continue;
        finish();
        restart();
        if (enough) break;
      }
    } catch (const std::exception& e) {
      throw std::runtime_error(e.what() + trail_text());
    }
    return tally_;
  }

 private:
  static double cpu_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

  static std::uint64_t lab_number(std::string_view lab) {
    std::uint64_t n = 0;
    for (const char c : lab) n = n * 131 + static_cast<unsigned char>(c);
    return n;
  }

  void start() {
    driver_ = std::make_unique<ShellDriver>(
        bundled_content(),
        models::Result<app::UserPaths>::ok({folder_ / "data", folder_ / "config", folder_ / "state"}),
        ImVec2{1280, 800}, what_.real_fonts);
    ++tally_.starts;
    d().shell.host.animates = tally_.starts % 2 == 0;
    if (tally_.starts > 1) {
      check_read_again(kept_, d().workspace);
      app::resume_shell(d().shell);
    }
    hands_ = std::make_unique<MonkeyHands>(d(), chance_, files_, [this] { draw(); });
    open(what_.lab);
    while (d().workspace.current().can_undo()) d().workspace.current().undo();
    begun_ = undoable(d().workspace);
    edits_before_ = d().workspace.current().edits();
  }

  void restart() {
    hands_.reset();
    driver_.reset();  // waits for jobs
    start();
  }

  void one_event() {
    elsewhere_ = d().open_lab() == what_.lab ? 0 : elsewhere_ + 1;
    if (elsewhere_ > max_events_elsewhere) open(what_.lab);
    hands_->act([this](const std::string& says) {
      if (what_.on_event) what_.on_event(std::to_string(event_) + " " + std::string(d().open_lab()) + ": " + says);
      trail_.push_back(std::to_string(event_) + " " + std::string(d().open_lab()) + ": " + says);
      if (trail_.size() > 12) trail_.pop_front();
      LastWords::set(trail_text() + "\n");
    });
    // Not between the frames of a drag: what its next step makes stale is cancelled, as it is in the program.
    if (what_.waits) wait_for_jobs();
    seen_.insert(std::string(d().open_lab()));
    ++tally_.events;
    if (event_ % 10 == 0) {
      clock_s_ += 1.1;
      app::keep_place(d().shell, clock_s_);
    }
    if (event_ % 20 == 0) {
      check_values(d().workspace);
      check_vertices();
    }
  }

  /// Frames until the queue is empty; at least one.
  void draw() {
    ImGuiContext& g = *d().ui.context();
    constexpr int most = 400;
    for (int i = 0; i == 0 || !g.InputEventsQueue.empty(); ++i) {
      if (i == most) throw std::runtime_error("events stay in the queue");
      // The panel that opens and saves files stays where the monkey may write.
      if (app::OpenPanel& p = d().shell.open_panel; p.open && !lies_in(p.ask.folder, folder_.path))
        p.ask.folder = (folder_ / "files").string();
      d().ui.frames(1);
      ++tally_.frames;
      check_ids(g);
    }
  }

  void wait_for_jobs() {
    using namespace std::chrono_literals;
    for (int i = 0; d().workspace.jobs.busy() > 0; ++i) {
      if (i == 600'000) throw std::runtime_error("a job does not end");
      std::this_thread::sleep_for(100us);
    }
  }

  /// Nothing computes and nothing is asked of a worker any more.
  void settle() {
    for (int i = 0; i < 200; ++i) {
      draw();
      if (d().workspace.jobs.busy() > 0)
        wait_for_jobs();
      else if (!d().workspace.current().computing() && !d().workspace.opening.busy())
        return;
    }
    throw std::runtime_error(std::string(d().open_lab()) + " asks for one job after another");
  }

  void open(const std::string& lab) {
    if (!d().workspace.open(lab)) throw std::runtime_error("there is no lab " + lab);
    seen_.insert(lab);
    draw();
  }

  /// Everything that must hold after the events of one start.
  void finish() {
    hands_->let_go();
    check_nothing_asks(d().shell);
    tally_.dropped += static_cast<std::uint64_t>(hands_->dropped());
    for (const std::string& lab : std::set<std::string>(std::exchange(seen_, {}))) {
      open(lab);
      stop_playing();
      settle();
      check_values(d().workspace);
      ++tally_.labs_checked;
    }
    open(what_.lab);
    settle();
    tally_.edits += d().workspace.current().edits() - edits_before_;
    tally_.undone += static_cast<std::uint64_t>(check_undo(d().workspace, begun_));
    settle();
    check_vertices();
    check_rest();
    app::note_shell(d().shell);
    d().workspace.save();
    kept_ = kept_state(d().workspace);
  }

  void stop_playing() {
    if (const auto* playing = d().workspace.lab().view().find("playing");
        playing && playing->kind == chapters::Kind::toggle)
      playing->toggle() = false;
  }

  /// At rest a frame asks for nothing: the window may sleep, and nothing is allocated.
  void check_rest() {
    stop_playing();
    ImGui::GetIO().DeltaTime = 0.1f;
    const auto* asks = d().workspace.lab().requests();
    for (int i = 0; i < 60 || d().shell.animating; ++i) {
      if (asks && asks->awake) return;  // a clock of the lab runs
      if (i == 3000) throw std::runtime_error("the window never comes to rest");
      draw();
    }
    if (!what_.allocations) return;
    d().ui.context()->TestEngineHookItems = false;  // the probe keeps a text for each item
    d().ui.frames(3);
    const std::uint64_t before = what_.allocations();
    d().ui.frames(5);
    const std::uint64_t asked = what_.allocations() - before;
    d().ui.context()->TestEngineHookItems = true;
    if (asked > 0) throw std::runtime_error("five frames at rest allocate " + std::to_string(asked) + " times");
  }

  std::string trail_text() const {
    std::string text = "\nThe last events of " + what_.lab + ":";
    for (const std::string& event : trail_) text += "\n  " + event;
    if (driver_) text += "\nIts inputs: " + app::fields_to_json(driver_->workspace.lab().inputs()).dump();
    return text + "\nAgain: ridgeline_monkey --lab " + what_.lab + " --seed " + std::to_string(what_.seed) +
           " --events-a-walk " + std::to_string(what_.events) + " --events-a-start " +
           std::to_string(what_.events_a_start) + " --until " + std::to_string(event_);
  }

  ShellDriver& d() { return *driver_; }

  const MonkeyWalk& what_;
  Sandbox folder_;
  Chance chance_;
  std::vector<std::string> files_;
  std::unique_ptr<ShellDriver> driver_;
  std::unique_ptr<MonkeyHands> hands_;
  MonkeyTally tally_;
  std::deque<std::string> trail_;
  std::set<std::string> seen_;
  KeptState kept_;
  std::string begun_;
  std::uint64_t edits_before_ = 0;
  int event_ = 0;
  int elsewhere_ = 0;  ///< events in a row that found another lab open
  double clock_s_ = 0;
};

}  // namespace

MonkeyTally& MonkeyTally::operator+=(const MonkeyTally& more) {
  events += more.events;
  frames += more.frames;
  starts += more.starts;
  edits += more.edits;
  undone += more.undone;
  dropped += more.dropped;
  labs_checked += more.labs_checked;
  return *this;
}

MonkeyTally walk(const MonkeyWalk& what) {
  use_bundled_catalog();
  return Walker(what).go();
}

}  // namespace support
