// A formula: the tree is one (children come from inside it, none twice), or there is a sentence with the place of the
// fault.
#include <vector>

#include "tests/fuzz/fuzz.h"
#include "widgets/prose/formula.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using Node = widgets::FormulaNode;
  const auto source = fuzz::text_of(data, size);
  const widgets::Formula f = widgets::parse_formula(source);
  if (!f.error.empty()) {
    fuzz::require_sentence(f.error);
    fuzz::require(f.nodes.empty() && f.error_at <= source.size(), "a faulty formula with nodes", f.error);
    return 0;
  }
  std::vector<int> parents(f.nodes.size(), 0);
  for (const Node& node : f.nodes) {
    fuzz::require(node.kind != Node::Kind::value || node.slot < f.values.keys.size(), "a value that is not there");
    for (const auto child : node.children)
      if (child != Node::none)
        fuzz::require(child < f.nodes.size() && ++parents[child] == 1, "a child that is not there, or has two parents");
  }
  fuzz::require(f.nodes.empty() || (f.root < f.nodes.size() && parents[f.root] == 0), "no root");
  return 0;
}
