#include "tests/house/lab_rules.h"

#include <catch2/catch_test_macros.hpp>
#include <map>

#include "tests/house/source_rules.h"
#include "tests/support/base/paths.h"

namespace {

std::string text_of(const house::Source& source) {
  std::string text;
  for (const std::string& line : source.lines) text += line + "\n";
  return text;
}

const std::vector<house::Source>& chapters() {
  static const auto sources = house::read_sources(support::source_file(""), {"chapters"});
  return sources;
}

}  // namespace

TEST_CASE("lab rules: the members of Outputs are read whatever their types look like") {
  const std::string header =
      "struct Row {\n  int other = 0;\n};\n"
      "struct Outputs {\n"
      "  std::string reason;  ///< why; not\n"
      "  double a = 0, b = std::nan(\"\"), c{1.5};\n"
      "  std::vector<std::pair<int, double>> rows;\n"
      "  models::Result<int> held{};\n"
      "  std::array<double, 3> three{1, 2, 3};\n"
      "  bool empty() const { return rows.empty(); }\n"
      "  double last = std::numeric_limits<double>::quiet_NaN();\n"
      "};\n";
  CHECK(house::members_of_outputs(header) ==
        std::vector<std::string>{"reason", "a", "b", "c", "rows", "held", "three", "last"});
  CHECK(house::members_of_outputs("struct Inputs { int a; };").empty());
}

TEST_CASE("lab rules: what stands in Outputs and has no row in describe is named") {
  const std::string header = "struct Outputs {\n  std::string reason;\n  double time_s = 0;\n  Graph graph;\n};\n";
  CHECK(house::undescribed_outputs(header, "f.real(\"t\", out.time_s); f.text(\"g\", o.graph.name);") == "");
  CHECK(house::undescribed_outputs(header, "f.real(\"t\", out.time_s); // out.graph\n").starts_with("Outputs::graph"));
}

TEST_CASE("every lab's Outputs are described facts: what else it worked out is its Run") {
  std::map<std::string, std::string> headers, descriptions;
  for (const auto& source : chapters()) {
    const std::string folder = source.path.substr(0, source.path.rfind('/'));
    const std::string file = source.path.substr(folder.size() + 1);
    if (file == "lab.h") headers[folder] = text_of(source);
    if (file.starts_with("describe")) descriptions[folder] += text_of(source);
  }
  std::string faults;
  std::size_t read = 0;
  for (const auto& [folder, header] : headers) {
    const auto described = descriptions.find(folder);
    if (described == descriptions.end() || folder == "chapters/mechanism") continue;
    ++read;
    INFO(folder);
    CHECK_FALSE(house::members_of_outputs(header).empty());
    if (const std::string fault = house::undescribed_outputs(header, described->second); !fault.empty())
      faults += folder + ": " + fault;
  }
  CHECK(read >= 45);
  CHECK(faults == "");
}

TEST_CASE("lab rules: draw asks nobody for a fact") {
  const std::string path = "chapters/roofline/roofline/draw_walk.cpp";
  CHECK_FALSE(house::drawing_computes_fault(path, "  const auto out = compute(in);").empty());
  CHECK_FALSE(house::drawing_computes_fault(path, "  if (models::parallel::key_holder(run, i) == 2) paint();").empty());
  CHECK(house::drawing_computes_fault(path, "  p.text(at, models::number_label(format));").empty());
  CHECK(house::drawing_computes_fault("chapters/roofline/roofline/arrange.cpp", "  models::roofline(in);").empty());
  CHECK(house::faults_of_lines(chapters(), house::drawing_computes_fault) == "");
}

TEST_CASE("lab rules: no lab keeps anything behind the back of its parts") {
  const std::string path = "chapters/roofline/roofline/compute.cpp";
  CHECK_FALSE(house::hidden_state_fault(path, "  static thread_local const Catalog* of = nullptr;").empty());
  CHECK_FALSE(house::hidden_state_fault(path, "static std::vector<double> figures;").empty());
  CHECK(house::hidden_state_fault(path, "  static const Choices choices = make();").empty());
  CHECK(house::hidden_state_fault(path, "static constexpr int n = 3;").empty());
  CHECK(house::faults_of_lines(chapters(), house::hidden_state_fault) == "");
}
