// FSRS-6 held to what the project's own scheduler (py-fsrs 6.3.2, default parameters, no fuzz, no steps) gives.
#include "models/learning/fsrs.h"

#include <catch2/catch_test_macros.hpp>
#include <span>

#include "models/learning/deck_forecast.h"
#include "tests/support/base/near.h"

using models::FsrsGrade;

namespace {

struct Step {
  int grade;
  double gap_days, known, stability, difficulty, interval;
};

void check_story(std::span<const Step> story) {
  models::FsrsMemory m;
  for (const Step& s : story) {
    if (m.seen()) CHECK(support::near(models::fsrs_retrievability(s.gap_days, m.stability_days), s.known, 1e-12));
    m = models::fsrs_review(m, s.gap_days, static_cast<FsrsGrade>(s.grade));
    CHECK(support::near(m.stability_days, s.stability, 1e-12));
    CHECK(support::near(m.difficulty, s.difficulty, 1e-12));
    CHECK(models::fsrs_next_interval_days(m.stability_days, 0.9) == s.interval);
  }
}

}  // namespace

TEST_CASE("FSRS-6 follows the published scheduler answer by answer") {
  // The project's own test case: 53.62691 days and difficulty 6.3574867 after these six answers.
  const Step published[] = {{1, 0, 0, 0.212, 6.4133, 1},
                            {3, 0, 1, 0.24668918777567272, 6.402115069296838, 1},
                            {3, 1, 0.7808502770196439, 2.021477251638192, 6.3909413235243795, 2},
                            {3, 3, 0.8706766387290052, 7.863698841006282, 6.379778751497693, 8},
                            {3, 8, 0.8988150628247803, 21.917713153152434, 6.368627342043034, 22},
                            {3, 21, 0.902911513863123, 53.626902917141365, 6.357487083997829, 54}};
  check_story(published);
  const Step forgotten[] = {{3, 0, 0, 2.3065, 2.118103970459016, 2},
                            {3, 2, 0.9094932559773545, 10.964332335820698, 2.111214235785395, 11},
                            {1, 11, 0.8997767176252718, 1.5383372358832694, 7.392238132342694, 2},
                            {3, 1, 0.9267922096596412, 3.5539099871036797, 7.38007426350719, 4},
                            {2, 6, 0.8602144028404365, 8.347592713275109, 8.24599957687359, 8},
                            {4, 20, 0.8299689288872544, 36.841787580300505, 7.6451227411813, 37}};
  check_story(forgotten);
  CHECK(models::fsrs_first(FsrsGrade::hard).difficulty == 5.112170705601056);
  CHECK(models::fsrs_first(FsrsGrade::easy).difficulty == 1);
}

TEST_CASE("FSRS-6 schedules by the retention that is asked for, in whole days") {
  CHECK(models::fsrs_next_interval_days(43.931669184041375, 0.7) == 408);
  CHECK(models::fsrs_next_interval_days(43.931669184041375, 0.8) == 146);
  CHECK(models::fsrs_next_interval_days(43.931669184041375, 0.95) == 18);
  CHECK(models::fsrs_next_interval_days(0.212, 0.9) == 1);
  // Stability is the time to 90 %.
  CHECK(support::near(models::fsrs_interval_days(12.5, 0.9), 12.5, 1e-12));
  CHECK(support::near(models::fsrs_retrievability(12.5, 12.5), 0.9, 1e-12));
  // Answered good on each due day: the intervals of the published scheduler.
  const double intervals[] = {2, 11, 46, 163, 497, 1346, 9, 1, 2, 4, 7, 13, 22};
  const int grades[] = {3, 3, 3, 3, 3, 3, 1, 1, 3, 3, 3, 3, 3};
  models::FsrsMemory m;
  double gap = 0;
  for (std::size_t i = 0; i < std::size(grades); ++i) {
    m = models::fsrs_review(m, gap, static_cast<FsrsGrade>(grades[i]));
    gap = models::fsrs_next_interval_days(m.stability_days, 0.9);
    CHECK(gap == intervals[i]);
  }
  CHECK(support::near(m.stability_days, 21.528151353185145, 1e-12));
  CHECK(support::near(m.difficulty, 9.055759917231622, 1e-12));
}

TEST_CASE("a later question that is still known wins more time, and one asked too early wins next to none") {
  const models::FsrsMemory m{10, 5};
  const auto won = [&](double day) { return models::fsrs_review(m, day, FsrsGrade::good).stability_days; };
  CHECK(won(1) < 12);
  CHECK(won(10) > 25);
  CHECK(won(40) > won(10));
  // Weighed by the chance of having forgotten it, waiting still wins, more and more slowly.
  CHECK(models::fsrs_expected_interval_days(m, 10, 0.9) > models::fsrs_expected_interval_days(m, 1, 0.9));
}

TEST_CASE("a forecast asks more where more is to be kept, and never more new cards than there are") {
  std::vector<models::DeckCard> deck(40);
  models::DeckPlan plan{.days = 30, .new_a_day = 4};
  const auto usual = models::forecast_deck(deck, plan);
  plan.retention = 0.97;
  const auto strict = models::forecast_deck(deck, plan);
  CHECK(strict.answers_a_day > 1.5 * usual.answers_a_day);
  CHECK(strict.known_at_end > usual.known_at_end);
  CHECK(usual.seen == 40);
  CHECK(usual.answers.front() == 4);
  CHECK(usual.known_at_end / 40 > 0.88);
  plan.new_a_day = 0;
  const auto idle = models::forecast_deck(deck, plan);
  CHECK(idle.seen == 0);
  CHECK(idle.answers_a_day == 0);
  CHECK(idle.known_at_end == 0);
}
