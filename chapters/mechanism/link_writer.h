#pragma once
#include <span>
#include <string>
#include <string_view>

#include "chapters/mechanism/lab.h"

namespace chapters {

/// A key or a value as a link carries it: what is no letter, digit or one of "-_./,:[]" as "%XX".
std::string in_link(std::string_view text);

/// A link to a lab with a scenario, under construction. The lab that it leads to says what each key may be: a key that
/// it does not have, or an option that it does not offer, is left out.
class LinkWriter {
 public:
  /// `lab`: by its id, "profiling/step-trace". Of one that does not exist there is no link.
  explicit LinkWriter(std::string_view lab);

  /// A number, brought into the range of that lab's input, and whole where it is counted.
  void number(std::string_view key, double value);
  /// A number that would be another one if it were brought into the range: then there is no link at all.
  void exactly(std::string_view key, double value);
  /// A list of numbers, each brought into the range.
  void numbers(std::string_view key, std::span<const double> values);
  void choice(std::string_view key, std::string_view id);
  void toggle(std::string_view key, bool on);
  /// A text, as it stands.
  void words(std::string_view key, std::string_view text);

  /// A table: a JSON list of its rows.
  void rows(std::string_view key, std::string_view json);

  /// "profiling/step-trace?layers=32&launch_s=4e-06"; empty where there is no such link.
  std::string text() const { return lab_ && missed_.empty() ? text_ : std::string(); }
  /// The same of a plan that the link carries; fails with a sentence where the lab cannot hold a number of `exactly`.
  models::Result<std::string> link() const;
  /// The label of the first input that a number of `exactly` was out of range for, or its key where there is no such
  /// input; empty where all were taken.
  const std::string& missed() const { return missed_; }

 private:
  const Field* find(std::string_view key) const;
  void put(std::string_view key, std::string_view value);

  LabPtr lab_;
  std::string text_;
  std::string missed_;
};

}  // namespace chapters
