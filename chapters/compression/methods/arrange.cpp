#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "chapters/compression/methods/lab.h"
#include "chapters/mechanism/catalog.h"
#include "widgets/number/number.h"

namespace chapters::compression::methods {
namespace {

using models::Method;
using widgets::format_text;

/// Two figures of a change, and three of one that is a hundred percent or more.
std::string percent_of_change(double size) { return format_text(size, "%", size < 99.5 ? 2 : 3); }

/// "-22 %", "+97 %" or "-0.12 %": what a method makes of the error of rounding, in percent of it. "0 %" is the same
/// error, to a twentieth of a percent.
std::string change_text(double left) {
  const double change = left - 100;
  if (std::abs(change) < 0.05) return "0 %";
  return (change < 0 ? "\xE2\x88\x92" : "+") + percent_of_change(std::abs(change));
}

void compare_with_rounding(const Outputs& out, Picture& p) {
  for (std::size_t i = 0; i < models::method_count; ++i) {
    const auto method = static_cast<Method>(i);
    const ErrorPercent& error = out.error_of(method);
    const bool both = method == Method::both || method == Method::smooth;
    const ErrorPercent& plain = out.error_of(both ? Method::both : Method::rtn);
    const auto left = [](double e, double rounding) { return rounding > 0 ? 100 * e / rounding : 100.0; };
    p.place.push_back(static_cast<double>(i));
    p.calibration_left.push_back(left(error.calibration, plain.calibration));
    p.held_out_left.push_back(left(error.held_out, plain.held_out));
    const bool rounding = method == Method::rtn || method == Method::both;
    p.change_words.push_back(rounding ? format_text(error.held_out, "%") : change_text(p.held_out_left.back()));
    p.most_left = std::max({p.most_left, p.calibration_left.back(), p.held_out_left.back()});
  }
}

/// The published tables at these bits: each model's loss of perplexity over that of rounding, its marks side by side.
void add_published(const Inputs& in, Picture& p) {
  p.published_left = {
      .kind = widgets::Curve::Kind::dots,
      .label = "published, Llama 2, perplexity",
      .info = "other models, another measure: loss of perplexity over that of rounding; AWQ paper, table 4",
      .tint = widgets::Tint::strong(),
      .marker = widgets::Marker::diamond,
      .radius = 4.5f};
  std::array<double, 2> count{};
  for (const Published& row : catalog().published_of("compression/methods")) {
    const bool gptq = row.output == "gptq_ratio_held_out";
    if (!row.sets("format", quant_format_choices()[static_cast<std::size_t>(in.format)].id) ||
        (gptq && (row.sets("act_order", "true") != in.act_order || in.sign != Sign::minus)))
      continue;
    const auto place = static_cast<double>(gptq ? Method::gptq : Method::awq);
    p.published_left.add(place - 0.06 + 0.06 * count[gptq ? 0 : 1]++, 100 * row.measured);
    p.most_left = std::max(p.most_left, p.published_left.y.back());
  }
}

/// What a method makes of the error of rounding.
struct Taken {
  std::string_view verb;
  std::string figure;
};
Taken taken_of(double left) {
  const double taken = 100 - left, size = std::abs(taken);
  if (size < 0.05) return {"changes nothing", {}};
  return {taken > 0 ? "takes back" : "adds", percent_of_change(size)};
}

/// The output that says what a method leaves of rounding's error on held-out tokens.
std::string_view held_out_key(Method m) {
  return m == Method::gptq ? "gptq_ratio_held_out" : m == Method::awq ? "awq_ratio_held_out" : "smooth_ratio_held_out";
}

void write_headings(const Inputs& in, const Outputs& out, Picture& p) {
  std::string told;
  std::string_view verb;
  for (const Method m : {Method::gptq, Method::awq, Method::smooth}) {
    const auto i = static_cast<std::size_t>(m);
    const Taken taken = taken_of(p.held_out_left[i]);
    told += (told.empty() ? "" : ", ") + std::string(models::method_label(m));
    if (taken.verb != verb) told += " " + std::string(taken.verb);
    if (!taken.figure.empty()) {
      told += " `" + taken.figure + "`";
      p.meanings.push_back({taken.figure, std::string(held_out_key(m)), p.change_words[i]});
    }
    verb = taken.figure.empty() ? std::string_view() : taken.verb;
  }
  p.answer = (in.sign == Sign::plus ? "The update has the wrong sign. Of " : "Of ") +
             std::string("the error of rounding to the same bits, on new tokens, ") + told + ".";
  p.rounding_words = "100 % is rounding: " + format_text(out.error_of(Method::rtn).held_out, "%") +
                     " of the output for weights alone, " + format_text(out.error_of(Method::both).held_out, "%") +
                     " for both operands";
  p.awq_story = "best at " + format_text(out.figures.awq_alpha, "");
  p.smooth_story = "best at " + format_text(out.figures.smooth_best_alpha, "");
}

/// The error column by column, from 0 before the first one.
void trace_history(const models::MethodHistory& h, Picture& p) {
  p.rtn_error = {.label = "rounding",
                 .info = "the same columns, each rounded for itself",
                 .tint = widgets::Tint::series(0),
                 .width = 1.5f,
                 .dashed = true};
  p.gptq_error = {.label = "GPTQ",
                  .info = "columns left make up for those rounded",
                  .tint = widgets::Tint::series(2),
                  .width = 2.5f};
  for (widgets::Curve* curve : {&p.rtn_error, &p.gptq_error}) curve->add(0, 0);
  for (std::size_t i = 0; i < h.gptq_error.size(); ++i) {
    p.gptq_error.add(static_cast<double>(i + 1), 100 * h.gptq_error[i]);
    p.rtn_error.add(static_cast<double>(i + 1), 100 * h.rtn_error[i]);
  }
  const std::size_t weights = h.rows * h.cols;
  p.change.assign(weights + h.change.size(), 0);
  for (std::size_t i = 0; i < h.change.size(); ++i) {
    p.change[weights + i] = std::abs(h.change[i]);
    p.largest_change = std::max(p.largest_change, std::abs(h.change[i]));
  }
}

/// What each step moved. GPTQ rounds one column and lets those that are left take its error up.
void trace_steps(const models::MethodHistory& h, Picture& p) {
  const std::size_t weights = h.rows * h.cols;
  for (std::size_t c = 0; c < h.cols; ++c) p.input.push_back(static_cast<double>(c));
  p.moved.assign(h.cols * h.cols, 0);
  p.absorbing.resize(h.cols);
  for (std::size_t step = 0; step < h.cols; ++step) {
    const std::span<double> moved = std::span(p.moved).subspan(step * h.cols, h.cols);
    for (std::size_t i = 0; i < weights; ++i) {
      const double before = step > 0 ? h.change[(step - 1) * weights + i] : 0;
      moved[i % h.cols] += std::abs(h.change[step * weights + i] - before) / static_cast<double>(h.rows);
    }
    std::vector<std::size_t> by(h.cols);
    std::iota(by.begin(), by.end(), std::size_t{0});
    std::erase(by, h.order[step]);
    const auto first = static_cast<std::ptrdiff_t>(std::min<std::size_t>(p.absorbing[step].size(), by.size()));
    std::partial_sort(by.begin(), by.begin() + first, by.end(),
                      [&](std::size_t x, std::size_t y) { return moved[x] > moved[y]; });
    p.absorbing[step].fill(h.order[step]);
    std::copy_n(by.begin(), first, p.absorbing[step].begin());
  }
}

std::array<widgets::Curve, 2> error_over_alpha(const std::vector<models::AwqPoint>& points) {
  const widgets::Tint tint = widgets::Tint::series(2);
  widgets::Curve line{.label = "error", .tint = tint, .named = false};
  for (const models::AwqPoint& p : points) line.add(p.alpha, 100 * p.output_error);
  widgets::Curve tried{.kind = widgets::Curve::Kind::dots,
                       .label = "tried",
                       .tint = tint,
                       .radius = 3,
                       .legend = false,
                       .x = line.x,
                       .y = line.y};
  return {std::move(line), std::move(tried)};
}

}  // namespace

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture p;
  const models::MethodHistory& history = run.study.history;
  if (!out.reason.empty() || history.cols == 0) return p;
  compare_with_rounding(out, p);
  add_published(in, p);
  write_headings(in, out, p);
  trace_history(history, p);
  trace_steps(history, p);
  p.awq = error_over_alpha(run.study.awq_curve);
  p.smooth = error_over_alpha(run.study.smooth_curve);
  return p;
}

}  // namespace chapters::compression::methods
