#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "chapters/mechanism/lab.h"
#include "tests/faults/injection.h"

/// A lab computes while every request for memory fails in turn: it keeps the Outputs that it had, or has the new ones.

namespace {

struct MeagreInputs {
  double amount = 1;
  std::string note = "a text that is too long for a short string";
  bool operator==(const MeagreInputs&) const = default;
};
struct MeagreOutputs {
  std::vector<double> amounts;
  std::string reason;
};
struct MeagrePicture {
  std::string answer;
  std::uint64_t version = 0;
};

void describe(chapters::Fields& f, MeagreInputs& in) {
  f.real("amount", in.amount, {"Amount", "B"}, {.range = {0, 10}});
}
void describe(chapters::Fields&, MeagreOutputs&) {}

models::Result<std::string> document_of(const MeagreOutputs& out) {
  std::string text;
  for (const double amount : out.amounts) text += std::to_string(amount) + "\n";
  return models::Result<std::string>::ok(text);
}

MeagreOutputs compute_meagre(const MeagreInputs& in) {
  MeagreOutputs out;
  out.amounts.assign(3, in.amount);
  out.amounts.push_back(in.amount + 1);
  return out;
}
MeagrePicture arrange_meagre(const MeagreInputs&, const MeagreOutputs& out) {
  return {"There are `" + std::to_string(out.amounts.size()) + "` amounts in this lab."};
}
void draw_meagre(widgets::Stage&, MeagreInputs&, const MeagreOutputs&, const MeagrePicture&, chapters::NoView&) {}

chapters::LabPtr meagre_lab() {
  return chapters::make_lab<MeagreInputs, MeagreOutputs, MeagrePicture, chapters::NoView>(
      {"meagre/meagre", "Meagre", "What is left?", {.document = "text"}}, compute_meagre, arrange_meagre, draw_meagre);
}

void set_amount(const chapters::Lab& lab, double amount) { lab.inputs().find("amount")->set_number(amount); }

}  // namespace

TEST_CASE("a lab that there is no memory to compute keeps its outputs") {
  const auto after = meagre_lab();
  set_amount(*after, 2);
  after->compute();
  const std::string computed = *after->document();
  faults::at_every_call("compute a lab", faults::What::memory, [&](faults::Attempt& attempt) {
    const auto lab = meagre_lab();
    lab->compute();
    lab->answer();  // arranges the picture, as drawing does
    const std::string before = *lab->document();
    set_amount(*lab, 2);
    const bool returned = faults::armed(attempt, [&] { lab->compute(); });
    const std::string found = *lab->document();
    if (returned && found != computed) FAIL("called computed, and is not: " << found);
    if (!returned && found != before) FAIL("the outputs are lost: \"" << found << "\"");
    if (lab->answer() != "There are `4` amounts in this lab.") FAIL("the picture is lost");
  });
}
