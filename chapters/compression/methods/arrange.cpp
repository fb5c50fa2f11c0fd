#include <algorithm>
#include <cmath>
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
    p.place.push_back(static_cast<double>(i));
    p.calibration.push_back(error.calibration);
    p.held_out.push_back(error.held_out);
    const double left = plain.held_out > 0 ? 100 * error.held_out / plain.held_out : 100.0;
    const bool rounding = method == Method::rtn || method == Method::both;
    p.change_words.push_back(rounding ? format_text(error.held_out, "%") : change_text(left));
    double& most = p.most_error[both ? 1 : 0];
    most = std::max({most, error.calibration, error.held_out});
  }
}

/// "70B" of "AWQ of Llama 2 70B, INT4, groups of 128".
std::string size_of_model(std::string_view name) {
  constexpr std::string_view before = "Llama 2 ";
  const std::size_t at = name.find(before);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = name.substr(at + before.size());
  return std::string(rest.substr(0, rest.find(',')));
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
    p.published_left.add((gptq ? 0 : 1) - 0.12 + 0.12 * count[gptq ? 0 : 1]++, 100 * row.measured);
    p.published_left.labels.push_back(size_of_model(row.name));
  }
}

/// What a method makes of an error: "takes back `22 %` of rounding's error". Where it changes nothing, only that.
std::string taken_words(double taken, std::string_view error) {
  const double size = std::abs(taken);
  if (size < 0.05) return "does not change " + std::string(error);
  return (taken > 0 ? "takes back `" : "adds `") + percent_of_change(size) + (taken > 0 ? "` of " : "` to ") +
         std::string(error);
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  const std::string_view with = in.sign == Sign::plus   ? "GPTQ with the wrong sign "
                                : in.sign == Sign::none ? "GPTQ without its update "
                                                        : "GPTQ ";
  // "AWQ `43 %`" after a method that takes back as well; otherwise its verb.
  const bool alike = out.gptq_taken >= 0.05 && out.awq_taken >= 0.05;
  const std::string awq = alike
                              ? "AWQ `" + percent_of_change(out.awq_taken) + "`"
                              : "AWQ " + (std::abs(out.awq_taken) < 0.05 ? "changes nothing"
                                          : out.awq_taken > 0 ? "takes back `" + percent_of_change(out.awq_taken) + "`"
                                                              : "adds `" + percent_of_change(-out.awq_taken) + "`");
  const auto bits = [](const models::MethodError& e) { return "`" + format_text(e.weight_bits, "", 4) + "` bits"; };
  const auto& errors = out.figures.errors;
  return std::string(with) + taken_words(out.gptq_taken, "rounding's error") + " on new tokens at " +
         bits(errors[static_cast<std::size_t>(Method::rtn)]) + " per weight, " + awq +
         ".\nWith activations rounded too and weights at " + bits(errors[static_cast<std::size_t>(Method::both)]) +
         ", SmoothQuant " + taken_words(out.smooth_taken, "an error of") + " `" +
         format_text(out.error_of(Method::both).held_out, "%") + "`.";
}

void write_headings(const Inputs& in, const Outputs& out, Picture& p) {
  p.answer = answer_of(in, out);
  const auto mean = [&p](double taken, std::string_view output, Method m) {
    if (std::abs(taken) >= 0.05)
      p.meanings.push_back(
          {percent_of_change(std::abs(taken)), std::string(output), p.change_words[static_cast<std::size_t>(m)]});
  };
  mean(out.gptq_taken, "gptq_taken", Method::gptq);
  mean(out.awq_taken, "awq_taken", Method::awq);
  mean(out.smooth_taken, "smooth_taken", Method::smooth);
  const auto bits = [&](Method m) {
    return format_text(out.figures.errors[static_cast<std::size_t>(m)].weight_bits, "", 4) + " bits: ";
  };
  p.group_titles = {bits(Method::rtn) + "weights alone rounded", bits(Method::both) + "both operands rounded"};
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
                  .info = "columns not yet rounded make up for the others",
                  .tint = widgets::Tint::series(4),
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
  p.moved.assign(h.cols * h.cols, 0);
  for (std::size_t step = 0; step < h.cols; ++step) {
    const std::span<double> moved = std::span(p.moved).subspan(step * h.cols, h.cols);
    for (std::size_t i = 0; i < weights; ++i) {
      const double before = step > 0 ? h.change[(step - 1) * weights + i] : 0;
      moved[i % h.cols] += std::abs(h.change[step * weights + i] - before) / static_cast<double>(h.rows);
    }
  }
}

std::array<widgets::Curve, 2> error_over_alpha(const std::vector<models::AwqPoint>& points) {
  const widgets::Tint tint = widgets::Tint::series(4);
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
