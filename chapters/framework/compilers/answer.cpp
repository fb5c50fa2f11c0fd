#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "chapters/framework/compilers/lab.h"
#include "models/base/integer_math.h"
#include "widgets/number/number.h"

namespace chapters::framework::compilers {
namespace {

using models::as_double;
using widgets::figure;

/// "`2` graphs", "`1` graph".
std::string graphs_figure(std::int64_t n) { return figure(as_double(n), "") + (n == 1 ? " graph" : " graphs"); }

/// Why it is so, or what it cost.
std::string second_line(const Inputs& in, const Outputs& out) {
  if (out.eager_percent >= 50)
    return figure(out.eager_percent, "%") + " of the calls run eager: no more than " + graphs_figure(out.graphs) +
           " may be compiled.";
  if (!(out.saving_s > 0))
    return "A call takes " + figure(out.steady_call_s, "s") + " in the mean and " + figure(out.eager_call_s, "s") +
           " eager, compiling aside.";
  if (out.padding >= 50)
    return figure(out.padding, "%") + " of the tokens that run are padding; compiling took " +
           figure(out.compile_s, "s") + ".";
  if (out.capture_s > 0.5 * out.compile_s)
    return figure(as_double(out.captures), "") +
           (out.captures == 1 ? " capture of a CUDA graph took " : " captures of CUDA graphs took ") +
           figure(out.capture_s, "s") + "; a call saves " + figure(out.saving_s, "s") + ".";
  std::string line = graphs_figure(out.graphs);
  // The way has a rule for lengths of its own, not the one that is set.
  if (models::inference::rules_of(in.way, {.policy = in.policy}).policy != in.policy)
    line += " (" + out.policy_used + ")";
  line += " took " + figure(out.compile_s, "s");
  if (in.breaks > 0) line += " with all graph breaks";
  return std::move(line) + "; a call saves " + figure(out.saving_s, "s") + ".";
}

}  // namespace

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (in.way == CompileWay::eager) {
    const std::string words = "Eager calls take " + figure(out.eager_call_s, "s") + " each and compile nothing.\n";
    if (!(out.best_won_s > 0)) return words + "No compiler is ahead of them at the end of this stream.";
    return words + "The best compiler here is " + out.best_way + ": it wins " + figure(out.best_won_s, "s") +
           " over the stream. Kernels by hand are left out.";
  }
  const bool pytorch =
      in.way == CompileWay::standard || in.way == CompileWay::reduce_overhead || in.way == CompileWay::max_autotune;
  const std::string name = (pytorch ? "PyTorch's " : "") + std::string(way_name(in.way));
  std::string first;
  if (std::isfinite(out.ahead_from))
    first = name + " stays ahead of eager from call " + figure(out.ahead_from, "") + " on and wins " +
            figure(out.won_s, "s") + " over the stream.";
  else if (std::isfinite(out.pays_after) && out.guards_s > out.saving_s)
    // What is left of a difference that an assumed time nearly takes: how many calls it needs is noise.
    first = name + " loses " + figure(-out.won_s, "s") + " to eager: guards, by a guess, take " +
            figure(out.guards_s, "s") + " per call, and " + figure(out.saving_s, "s") + " are saved.";
  else if (std::isfinite(out.pays_after))
    first = name + " loses " + figure(-out.won_s, "s") + " to eager here; with no new graph it needs " +
            figure(out.pays_after, "") + " such calls to win.";
  else
    first = name + " loses " + figure(-out.won_s, "s") + " to eager, and more such calls do not help.";
  return std::move(first) + "\n" + second_line(in, out);
}

}  // namespace chapters::framework::compilers
