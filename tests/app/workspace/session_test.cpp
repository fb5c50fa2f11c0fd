#include "app/workspace/session.h"

#include "app/scenario/scenario.h"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/lab/toy_lab.h"

using namespace std::chrono_literals;

namespace {

double output_number(const chapters::Lab& lab, const char* key) { return lab.outputs().find(key)->number(); }
void set(app::Session& s, const char* key, double v) { s.lab().inputs().find(key)->set_number(v); }
double input(const app::Session& s, const char* key) { return s.lab().inputs().find(key)->number(); }

/// A lab whose compute waits until it is let go or cancelled.
namespace slow {

struct Inputs {
  double amount = 1;
  bool operator==(const Inputs&) const = default;
};
struct Outputs {
  double doubled = 0;
  std::string reason;
};
struct Gate {
  std::atomic<bool> open{false};
  std::atomic<int> started{0}, cancelled{0};
};

[[maybe_unused]] void describe(chapters::Fields& f, Inputs& in) {
  f.real("amount", in.amount, "Amount", {.range = {-1, 100}});
}
[[maybe_unused]] void describe(chapters::Fields& f, Outputs& out) { f.real("doubled", out.doubled, "Doubled"); }

chapters::LabPtr lab(std::shared_ptr<Gate> gate) {
  const auto compute = [gate](const Inputs& in, chapters::Progress& progress) {
    ++gate->started;
    progress.fraction = 0.5;
    while (!gate->open && !progress.cancelled) std::this_thread::sleep_for(1ms);
    if (progress.cancelled) ++gate->cancelled;
    if (in.amount < 0) throw std::runtime_error("negative");
    return Outputs{.doubled = 2 * in.amount, .reason = {}};
  };
  const auto draw = [](widgets::Stage&, Inputs&, const Outputs&, chapters::NoView&) {};
  return chapters::make_lab<Inputs, Outputs, chapters::NoView>({"toy/slow", "Slow", "When?", {.job = true}}, compute,
                                                               draw);
}

}  // namespace slow

/// Calls update until `done` or ten seconds are over.
template <class Done>
bool update_until(app::Session& s, const Done& done) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    s.update(false);
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// A session of the toy lab.
struct Toy {
  app::Jobs jobs;
  app::Session session{support::toy_lab(), jobs};
  /// The same, after its first outputs are computed.
  app::Session& computed() {
    session.update(false);
    return session;
  }
};

/// A session of the slow lab.
struct Slow {
  std::shared_ptr<slow::Gate> shared_gate = std::make_shared<slow::Gate>();
  slow::Gate& gate = *shared_gate;
  app::Jobs jobs;
  app::Session session{slow::lab(shared_gate), jobs};
  /// The outputs are those of the first inputs, and the job for this amount is held at the gate.
  void hold_at(double amount) {
    gate.open = true;
    REQUIRE(update_until(session, [&] { return output_number(session.lab(), "doubled") == 2; }));
    gate.open = false;
    set(session, "amount", amount);
  }
};

}  // namespace

TEST_CASE("a session computes what was set, once, and says when outputs changed") {
  Toy toy;
  app::Session& s = toy.session;
  CHECK(s.update(false));
  CHECK(output_number(s.lab(), "area") == 6);
  const auto version = s.version();
  CHECK_FALSE(s.update(false));
  CHECK(s.version() == version);
  set(s, "width", 10);
  CHECK(s.update(false));
  CHECK(output_number(s.lab(), "area") == 30);
  CHECK(s.version() == version + 1);
}

TEST_CASE("undo walks back edit by edit and redo forward; a new edit ends what could be redone") {
  Toy toy;
  app::Session& s = toy.computed();
  CHECK_FALSE(s.can_undo());
  for (const double width : {4.0, 5.0, 6.0}) {
    set(s, "width", width);
    s.update(false);
  }
  s.lab().inputs().find("note")->text() = "new";
  s.update(false);
  s.undo();
  s.update(false);
  CHECK(s.lab().inputs().find("note")->text() == "hello");
  CHECK(input(s, "width") == 6);
  s.undo();
  s.undo();
  s.update(false);
  CHECK(input(s, "width") == 4);
  CHECK(output_number(s.lab(), "area") == 12);
  CHECK(s.can_redo());
  s.redo();
  s.update(false);
  CHECK(input(s, "width") == 5);
  set(s, "height", 7);
  s.update(false);
  CHECK_FALSE(s.can_redo());
  s.redo();
  s.update(false);
  CHECK(input(s, "width") == 5);
  s.undo();
  s.undo();
  s.undo();
  s.undo();  // more than there are
  s.update(false);
  CHECK(input(s, "width") == 2);
  CHECK(input(s, "height") == 3);
  CHECK_FALSE(s.can_undo());
}

TEST_CASE("a drag is one undo step, however many frames and values it takes, and its outputs follow all along") {
  Toy toy;
  app::Session& s = toy.computed();
  for (const double width : {3.0, 4.0, 5.0, 6.0}) {
    set(s, "width", width);
    s.update(true);
    CHECK(output_number(s.lab(), "area") == 3 * width);
  }
  s.update(false);
  CHECK(s.can_undo());
  s.undo();
  s.update(false);
  CHECK(input(s, "width") == 2);
  CHECK_FALSE(s.can_undo());
  s.redo();
  s.update(false);
  CHECK(input(s, "width") == 6);
}

TEST_CASE("a drag that ends where it began is no step") {
  Toy toy;
  app::Session& s = toy.computed();
  set(s, "width", 9);
  s.update(true);
  set(s, "width", 2);
  s.update(true);
  s.update(false);
  CHECK_FALSE(s.can_undo());
}

TEST_CASE("reset is an edit: it can be undone, lists and tables with it") {
  Toy toy;
  app::Session& s = toy.computed();
  REQUIRE(app::apply_inputs(s.lab(), {{"width", 7},
                                      {"weights", {3, 4, 5}},
                                      {"tones", app::Json::array()},
                                      {"rows", {{{"name", "a"}, {"amount", 2}}, {{"name", "b"}}}}})
              .error == "");
  s.update(false);
  s.reset();
  s.update(false);
  CHECK(s.lab().same_inputs(*support::toy_lab()));
  s.undo();
  s.update(false);
  CHECK(input(s, "width") == 7);
  CHECK(s.lab().inputs().find("weights")->reals() == std::vector<double>{3, 4, 5});
  CHECK(s.lab().inputs().find("tones")->chosen().empty());
  CHECK(s.lab().inputs().find("rows")->table_size() == 2);
}

TEST_CASE("undo in the middle of a drag goes back to before it, and keeps what was dragged for redo") {
  Toy toy;
  app::Session& s = toy.computed();
  set(s, "height", 8);
  s.update(false);
  set(s, "width", 9);
  s.update(true);  // held
  s.undo();
  s.update(true);
  CHECK(input(s, "width") == 2);
  CHECK(input(s, "height") == 8);
  s.redo();
  s.update(false);
  CHECK(input(s, "width") == 9);
}

TEST_CASE("only the last two hundred steps are kept") {
  Toy toy;
  app::Session& s = toy.computed();
  for (int i = 1; i <= 250; ++i) {
    set(s, "width", i);
    s.update(false);
  }
  int steps = 0;
  for (; s.can_undo(); ++steps) s.undo();
  CHECK(steps == 200);
  CHECK(input(s, "width") == 50);
}

TEST_CASE("a job's lab keeps its last good result while it computes, and takes the new one when it is done") {
  Slow slow;
  app::Session& s = slow.session;
  slow.hold_at(5);
  CHECK_FALSE(s.update(false));
  CHECK(s.computing());
  CHECK(output_number(s.lab(), "doubled") == 2);
  REQUIRE(update_until(s, [&] { return slow.gate.started == 2; }));
  REQUIRE(update_until(s, [&] { return s.fraction() == 0.5; }));
  const auto version = s.version();
  slow.gate.open = true;
  REQUIRE(update_until(s, [&] { return !s.computing(); }));
  CHECK(output_number(s.lab(), "doubled") == 10);
  CHECK(s.version() == version + 1);
  CHECK(s.job_error() == "");
}

TEST_CASE("cancelling a job leaves the last good result; the next edit starts another") {
  Slow slow;
  app::Session& s = slow.session;
  slow.hold_at(5);
  REQUIRE(update_until(s, [&] { return slow.gate.started == 2; }));
  s.cancel();
  CHECK_FALSE(s.computing());
  REQUIRE(update_until(s, [&] { return slow.gate.cancelled == 1; }));
  REQUIRE(update_until(s, [&] { return slow.jobs.busy() == 0; }));
  CHECK(output_number(s.lab(), "doubled") == 2);
  CHECK(slow.gate.started == 2);  // cancelled is cancelled: it does not start over
  slow.gate.open = true;
  set(s, "amount", 6);
  REQUIRE(update_until(s, [&] { return output_number(s.lab(), "doubled") == 12; }));
}

TEST_CASE("a newer edit replaces the job that runs: its result never shows") {
  Slow slow;
  app::Session& s = slow.session;
  s.update(false);
  REQUIRE(update_until(s, [&] { return slow.gate.started == 1; }));
  set(s, "amount", 7);
  s.update(true);
  REQUIRE(update_until(s, [&] { return slow.gate.cancelled == 1; }));
  CHECK(output_number(s.lab(), "doubled") == 0);
  slow.gate.open = true;
  REQUIRE(update_until(s, [&] { return !s.computing(); }));
  CHECK(output_number(s.lab(), "doubled") == 14);
}

TEST_CASE("a job that fails says so, keeps the last good result, and the session goes on") {
  Slow slow;
  app::Session& s = slow.session;
  slow.gate.open = true;
  REQUIRE(update_until(s, [&] { return output_number(s.lab(), "doubled") == 2; }));
  set(s, "amount", -1);
  REQUIRE(update_until(s, [&] { return !s.job_error().empty(); }));
  CHECK(s.job_error().back() == '.');
  CHECK(output_number(s.lab(), "doubled") == 2);
  set(s, "amount", 3);
  REQUIRE(update_until(s, [&] { return output_number(s.lab(), "doubled") == 6; }));
  CHECK(s.job_error() == "");
}

TEST_CASE("finish computes a job's lab here and now") {
  Slow slow;
  app::Session& s = slow.session;
  slow.gate.open = true;
  set(s, "amount", 21);
  s.finish();
  CHECK(output_number(s.lab(), "doubled") == 42);
  CHECK_FALSE(s.computing());
  CHECK_FALSE(s.update(false));
}

TEST_CASE("what is on the screen is copied with the inputs that it was computed of, while a job works on others") {
  Slow slow;
  app::Session& s = slow.session;
  CHECK(s.shown() == nullptr);
  slow.hold_at(5);
  s.update(false);
  REQUIRE(s.computing());
  const auto during = s.shown();
  REQUIRE(during);
  CHECK(during->inputs().find("amount")->number() == 1);
  CHECK(output_number(*during, "doubled") == 2);
  s.cancel();
  CHECK(s.shown()->inputs().find("amount")->number() == 1);
  slow.gate.open = true;
  set(s, "amount", 7);
  REQUIRE(update_until(s, [&] { return output_number(s.lab(), "doubled") == 14; }));
  CHECK(s.shown()->inputs().find("amount")->number() == 7);
  CHECK(output_number(*s.shown(), "doubled") == 14);
}
