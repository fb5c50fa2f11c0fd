#include "chapters/interview/drills/lab.h"
#include "widgets/number/number.h"

namespace chapters::interview::drills {
namespace {

std::string whole(std::int64_t v) { return widgets::format_text(static_cast<double>(v), "", 6); }

std::string daily_line(const Outputs& out) {
  std::string days;
  if (out.daily_streak > 0)
    days = ", " + whole(out.daily_streak) + (out.daily_streak == 1 ? " day" : " days") + " in a row";
  if (out.daily_done) return "Today's question answered" + days;
  return (out.is_daily ? "This is it" : "Question of the day") + days;
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out) {
  Picture picture;
  if (!out.reason.empty()) return picture;
  picture.daily = daily_line(out);
  picture.heading = (out.is_daily ? "Question of the day \xC2\xB7 " : "") + out.topic_now + " \xC2\xB7 level " +
                    whole(out.level_now) + " \xC2\xB7 question " + whole(out.question_of_round) + " of " +
                    whole(in.questions);
  return picture;
}

}  // namespace chapters::interview::drills
