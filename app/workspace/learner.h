#pragma once
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "app/content/content.h"
#include "app/workspace/documents.h"
#include "chapters/mechanism/lab.h"
#include "chapters/practice/drawn_curve.h"
#include "chapters/practice/prediction_history.h"

namespace app {

/// What the learner has done, between the labs that show it and the disk: predictions, drills, how far each lab is.
class Learner {
 public:
  Learner(const Content& content, Documents& documents, Messages& messages)
      : content_(content), documents_(documents), messages_(messages) {}

  /// How far a lab is.
  store::Quarters quarters(std::string_view lab) const;
  /// How many of the lab's questions were answered.
  std::size_t answered_questions(std::string_view lab) const;
  /// Are there drills on this lab?
  bool has_drills(std::string_view lab) const { return drills_on_.contains(lab); }

  /// Keeps a committed prediction, to disk at once.
  void keep_prediction(chapters::PredictionRecord record);
  /// Keeps a drawn curve beside its prediction, to disk at once.
  void keep_curve(chapters::CurveRecord record);

  void fill(chapters::Lab& lab);  ///< kept tables, labs opened and the clock into the lab's inputs
  /// The same, and what could not be read is not said.
  void fill_in_silence(chapters::Lab& lab) const;
  void gather(const chapters::Lab& lab);  ///< what the lab has added to its kept tables, to disk at once
  void find_drilled();                    ///< anew, from what is kept and the catalog

 private:
  models::Status fill(const chapters::Field& input) const;

  const Content& content_;
  Documents& documents_;
  Messages& messages_;
  std::set<std::string, std::less<>> drills_on_, drilled_;  ///< labs with drills; those of which one was answered right
};

}  // namespace app
