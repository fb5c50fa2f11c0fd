#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <thread>

#include "app/workspace/session.h"
#include "chapters/mechanism/aside.h"
#include "chapters/mechanism/lab.h"

// The seven parts of a lab behind chapters::Lab: what is shared, what is copied, and on which thread each part runs.

namespace {

struct Inputs {
  double n = 3;
  bool operator==(const Inputs&) const = default;
};
struct Outputs {
  double sum = 0;
  std::string reason;
};
struct Run {
  std::vector<double> terms;
  std::thread::id computed_on;
  bool complete = false;
};
using Computed = chapters::Computed<Outputs, Run>;
struct Picture {
  std::string answer;
  std::vector<double> halves;
  std::thread::id arranged_on;
  std::shared_ptr<const Run> run;
  std::uint64_t version = 0;
};
/// What the parts did, seen from outside; each test starts with a new one.
struct Seen {
  const Run* run = nullptr;
  std::thread::id arranged_on;
  std::uint64_t version = 0;
  int arranged = 0;
};
Seen seen;

void describe(chapters::Fields& f, Inputs& in) { f.real("n", in.n, "N", "How many terms.", {.range = {-10, 100}}); }
void describe(chapters::Fields& f, Outputs& out) { f.real("sum", out.sum, "Sum", {.formula = "1 + 2 + ... + n"}); }

Computed compute(const Inputs& in, chapters::Progress& progress) {
  Computed out;
  if (in.n < 0) {
    out.facts.reason = "A sum of fewer than no terms is none: choose n from 0 on.";
    return out;
  }
  auto run = std::make_shared<Run>();
  for (double i = 1; i <= in.n; ++i) {
    out.facts.sum += i;
    if (!progress.facts_alone) run->terms.push_back(i);
  }
  run->computed_on = std::this_thread::get_id();
  run->complete = !progress.facts_alone;
  out.run = std::move(run);
  return out;
}

Picture arrange(const Inputs&, const Outputs& out, const Run& run) {
  ++seen.arranged;
  Picture p{.answer = std::to_string(static_cast<int>(out.sum)), .arranged_on = std::this_thread::get_id()};
  for (const double term : run.terms) p.halves.push_back(term / 2);
  return p;
}

struct View {
  chapters::Requests requests;
  chapters::Aside<double, double> tenfold;
};

void draw(widgets::Stage&, Inputs&, const Outputs&, const Picture& picture, View&) {
  seen.run = picture.run.get();
  seen.arranged_on = picture.arranged_on;
  seen.version = picture.version;
}

chapters::LabPtr sums(bool job) {
  seen = {};
  return chapters::make_lab<Inputs, Outputs, Picture, View>({"toy/sums", "Sums", "How much?", {.job = job}}, compute,
                                                            arrange, draw);
}

double& n_of(chapters::Lab& lab) { return lab.inputs().find("n")->real(); }
double sum_of(const chapters::Lab& lab) { return lab.outputs().find("sum")->number(); }

}  // namespace

TEST_CASE("lab parts: a job arranges where it computed, and the window's thread only takes the picture") {
  app::Jobs jobs(1);
  app::Session session(sums(true), jobs);
  do {
    session.update(false);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  } while (session.computing());
  CHECK(seen.arranged == 1);
  CHECK(session.lab().answer() == "6");
  CHECK(seen.arranged == 1);  // the answer is of the picture that came with the facts
}

TEST_CASE("lab parts: the Run is shared by copies and by the picture, and gone where there is none") {
  const auto lab = sums(false);
  lab->compute();
  CHECK(sum_of(*lab) == 6);
  CHECK(lab->answer() == "6");
  const auto copy = lab->clone();
  CHECK(copy->answer() == "6");
  n_of(*lab) = -1;
  lab->compute();
  CHECK(lab->reason().starts_with("A sum of fewer"));
  CHECK(sum_of(*copy) == 6);
  n_of(*copy) = 4;
  copy->compute_facts();
  CHECK(sum_of(*copy) == 10);
}

TEST_CASE("lab parts: kept inputs compare, come back, and make a lab with nothing computed") {
  const auto lab = sums(false);
  lab->compute();
  const auto kept = lab->keep_inputs();
  CHECK(lab->has_inputs(*kept));
  n_of(*lab) = 5;
  CHECK_FALSE(lab->has_inputs(*kept));
  const auto fresh = lab->with_inputs(*kept);
  CHECK(fresh->has_inputs(*kept));
  CHECK(sum_of(*fresh) == 0);
  const auto both = lab->clone_with(*kept);
  CHECK(both->has_inputs(*kept));
  CHECK(sum_of(*both) == 6);
}

TEST_CASE("lab parts: an aside is asked once a question, and answered when its work has run") {
  chapters::Requests requests;
  chapters::Aside<double, double> tenfold;
  const auto times_ten = [](double key, chapters::Progress&) { return 10 * key; };
  tenfold.ask(requests, 4, times_ten);
  CHECK(tenfold.waiting());
  CHECK(tenfold.answer() == nullptr);
  auto work = std::exchange(requests.aside, nullptr);
  REQUIRE(work);
  tenfold.ask(requests, 4, times_ten);
  CHECK_FALSE(requests.aside);  // the same question
  chapters::Progress progress;
  work(progress);
  REQUIRE(tenfold.answer());
  CHECK(*tenfold.answer() == 40);
  tenfold.ask(requests, 5, times_ten);
  CHECK(tenfold.answer() == nullptr);  // the answer was another question's
  chapters::Progress cancelled;
  cancelled.cancelled = true;
  std::exchange(requests.aside, nullptr)(cancelled);
  CHECK_FALSE(tenfold.waiting());
  CHECK(tenfold.answer() == nullptr);
  tenfold.ask(requests, 5, times_ten);  // nobody answered: it may be asked again
  CHECK(tenfold.waiting());
  tenfold.forget();
  CHECK_FALSE(tenfold.waiting());
  CHECK(tenfold.asked() == nullptr);
}
