#include "app/content/handout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/content/questions.h"
#include "app/explore/explore.h"
#include "widgets/base/times_sign.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Kind;

constexpr std::string_view paper_style =
    "@page{margin:16mm}"
    "body{font:11pt/1.4 Inter,'Helvetica Neue',Arial,sans-serif;color:#17202a;background:#fff;max-width:180mm;"
    "margin:0 auto;padding:4mm}"
    "h1{font-size:20pt;margin:0 0 2mm}h2{font-size:14pt;margin:8mm 0 1mm}"
    "p{margin:1.5mm 0}.name{color:#566472;border-top:1px solid #d6dce3;padding-top:2mm}"
    ".question{color:#566472}.formula{font-family:'JetBrains Mono',monospace;font-size:9.5pt}"
    "section{break-inside:avoid}img{width:100%;max-height:105mm;object-fit:contain;object-position:left}"
    "li{margin:2mm 0;break-inside:avoid}.line{border-bottom:1px solid #566472;height:8mm;margin-right:30%}"
    ".frame{border-left:1px solid #566472;border-bottom:1px solid #566472;height:42mm;margin:2mm 30% 2mm 0}"
    ".option{display:inline-block;margin-right:6mm}.back{break-before:page}"
    "@media print{body{padding:0;max-width:none}}";

/// The order in which a lab's questions are taken: a number, a choice and a curve first, then the others.
std::vector<const Prediction*> questions_of(const chapters::Lab& lab, const LabContent& content, std::size_t most) {
  std::vector<const Prediction*> out;
  for (const QuestionKind kind : {QuestionKind::number, QuestionKind::choice, QuestionKind::curve})
    for (const Prediction& q : content.predictions) {
      const Field* output = lab.outputs().find(q.output);
      if (!output || kind_of(q, *output) != kind) continue;
      out.push_back(&q);
      break;
    }
  for (const Prediction& q : content.predictions)
    if (lab.outputs().find(q.output) && std::find(out.begin(), out.end(), &q) == out.end()) out.push_back(&q);
  if (out.size() > most) out.resize(most);
  return out;
}

/// Empty `asks` where the question's data is broken.
HandoutQuestion question_on_paper(const Prediction& q, std::string_view id) {
  HandoutQuestion out;
  const chapters::LabPtr lab = asked_lab(q, id);
  const Field* output = lab ? lab->outputs().find(q.output) : nullptr;
  if (!output) return out;
  lab->compute_facts();
  const double computed = reading(*lab, q.output);
  const QuestionKind kind = kind_of(q, *output);
  if (kind != QuestionKind::curve && !std::isfinite(computed)) return out;
  out.asks = q.question;
  out.curve = kind == QuestionKind::curve;
  out.why = explained(q, *lab);
  if (kind == QuestionKind::choice) {
    out.options = choices_of(q, *output);
    const std::size_t right = right_choice(q, computed);
    if (right < out.options.size()) out.answer = out.options[right];
  } else if (kind == QuestionKind::number) {
    out.unit = output->spec.unit;
    out.answer = widgets::format_text(computed, output->spec.unit, 3,
                                      output->spec.binary ? widgets::Prefix::binary : widgets::Prefix::si);
  }
  return out;
}

std::string tag(std::string_view name, std::string_view of_class, std::string_view text) {
  std::string out = "<" + std::string(name);
  if (!of_class.empty()) out += " class=\"" + std::string(of_class) + "\"";
  return out + ">" + html_text(text) + "</" + std::string(name) + ">\n";
}

std::string front_of(const HandoutLab& lab) {
  std::string out = "<section>\n" + tag("h2", "", lab.title) + tag("p", "question", lab.question);
  if (!lab.png.empty())
    out += "<img alt=\"" + html_text(lab.title) + "\" src=\"data:image/png;base64," + base64(lab.png) + "\">\n";
  if (!lab.formula.empty()) out += tag("p", "formula", lab.formula);
  out += "</section>\n";
  if (lab.questions.empty()) return out;
  out += "<ol>\n";
  for (const HandoutQuestion& q : lab.questions) {
    out += "<li>" + html_text(q.asks) + "\n";
    if (q.curve) {
      out += "<div class=\"frame\"></div>\n";
    } else if (q.options.empty()) {
      out += "<div class=\"line\"></div>\n";
    } else {
      out += "<p>";
      for (const std::string& option : q.options)
        out += "<span class=\"option\">\xE2\x98\x90 " + html_text(option) + "</span>";
      out += "</p>\n";
    }
    out += "</li>\n";
  }
  return out + "</ol>\n";
}

std::string back_of(const HandoutLab& lab) {
  std::string out = "<section>\n" + tag("h2", "", lab.title);
  if (!lab.answer.empty()) out += tag("p", "", "As the lab opens: " + lab.answer);
  out += "</section>\n<ol>\n";
  for (const HandoutQuestion& q : lab.questions) {
    out += "<li>";
    if (!q.answer.empty()) out += "<b>" + html_text(q.answer) + ".</b> ";
    out += html_text(q.why) + "</li>\n";
  }
  return out + "</ol>\n";
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n') out += c;
    }
  }
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned>(static_cast<unsigned char>(bytes[i + k])) : 0u;
    };
    const unsigned group = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? letters[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

HandoutLab handout_lab(chapters::Lab& lab, const LabContent& content, std::size_t most) {
  HandoutLab out{.title = std::string(lab.info().title), .question = std::string(lab.info().question)};
  if (lab.reason().empty()) out.answer = lab.answer();
  std::erase(out.answer, '`');
  std::replace(out.answer.begin(), out.answer.end(), '\n', ' ');
  for (const Field& f : lab.outputs())
    if (f.spec.headline && !f.spec.formula.empty() && out.formula.empty()) {
      std::array<char, 400> room;
      out.formula = std::string(f.spec.label) + " = " + std::string(widgets::with_times_signs(f.spec.formula, room));
    }
  for (const Prediction* q : questions_of(lab, content, most))
    if (HandoutQuestion asked = question_on_paper(*q, lab.info().id); !asked.asks.empty())
      out.questions.push_back(std::move(asked));
  return out;
}

std::string handout_html(const Handout& handout) {
  const std::string title = handout.ordinal + " " + handout.title;
  std::string out = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>" + html_text(title) +
                    "</title>\n<style>" + std::string(paper_style) + "</style></head><body>\n" + tag("h1", "", title) +
                    tag("p", "name", "Name:");
  for (const HandoutLab& lab : handout.labs) out += front_of(lab);
  out += "<div class=\"back\">\n" + tag("h1", "", "Answers");
  for (const HandoutLab& lab : handout.labs) out += back_of(lab);
  return out + "</div>\n</body></html>\n";
}

}  // namespace app
