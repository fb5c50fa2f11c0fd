#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/content/content.h"
#include "chapters/mechanism/lab.h"

/// A chapter on paper: of each lab its picture, its question and a few to answer, and the answers at the back.
namespace app {

struct HandoutQuestion {
  std::string asks;
  std::vector<std::string> options;  ///< what can be chosen; empty: a number, or a curve
  bool curve = false;                ///< it is drawn, so that an empty frame stands under it
  std::string unit;                  ///< a number's unit; empty: a pure one
  std::string answer, why;           ///< for the back
};

struct HandoutLab {
  std::string title, question;
  std::string png;      ///< bytes of the picture with the lab's defaults; empty: none
  std::string formula;  ///< "Time = bytes / bandwidth" of a headline figure; empty: none
  std::string answer;   ///< the lab's own sentence, for the back
  std::vector<HandoutQuestion> questions;
};

struct Handout {
  std::string ordinal, title;  ///< the chapter's
  std::vector<HandoutLab> labs;
};

/// What the handout says of one lab, which is computed at its defaults: at most `most` of its questions, one to choose
/// and one to draw among them where it has such. Questions whose data is broken are left out.
HandoutLab handout_lab(chapters::Lab& lab, const LabContent& content, std::size_t most = 3);

/// One page of HTML that needs nothing else, for A4 and Letter alike: the pictures are in it, every text is escaped,
/// and the answers begin on a page of their own.
std::string handout_html(const Handout& handout);

/// Text for HTML, inside of an element or of an attribute between double quotes.
std::string html_text(std::string_view text);
/// RFC 4648 with padding.
std::string base64(std::string_view bytes);

}  // namespace app
