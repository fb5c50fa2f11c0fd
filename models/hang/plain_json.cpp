#include <nlohmann/json.hpp>
#include <utility>

#include "models/base/json_nesting.h"
#include "models/base/json_text.h"
#include "models/hang/plain_tree.h"

namespace models::hang {
namespace {

/// Builds the nodes of a text as it is told of it.
class TreeBuilder : public JsonVisitor {
 public:
  PlainTree tree;
  std::string fault;

  bool open(bool object) override {
    PlainNode node;
    node.kind = object ? PlainNode::Kind::dictionary : PlainNode::Kind::list;
    const std::int32_t at = add(std::move(node));
    if (at < 0) return false;
    open_.push_back(at);
    return true;
  }
  bool close() override {
    open_.pop_back();
    return true;
  }
  bool key(std::string& key) override {
    PlainNode node;
    node.kind = PlainNode::Kind::text;
    node.text = std::move(key);
    return add(std::move(node)) >= 0;
  }
  bool scalar(nlohmann::json&& value) override {
    PlainNode node;
    if (value.is_boolean()) {
      node.kind = PlainNode::Kind::boolean;
      node.integer = value.get<bool>() ? 1 : 0;
    } else if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) {
      node.kind = PlainNode::Kind::real;
      node.real = value.get<double>();
    } else if (value.is_number_integer()) {
      node.kind = PlainNode::Kind::integer;
      node.integer = value.get<std::int64_t>();
    } else if (value.is_number()) {
      node.kind = PlainNode::Kind::real;
      node.real = value.get<double>();
    } else if (value.is_string()) {
      node.kind = PlainNode::Kind::text;
      node.text = std::move(value.get_ref<std::string&>());
    }
    return add(std::move(node)) >= 0;
  }

 private:
  std::int32_t add(PlainNode node) {
    if (tree.nodes.size() >= max_plain_nodes) {
      fault = "The text holds more than 4,000,000 values: dump with fewer records or without stacks.";
      return -1;
    }
    const auto at = static_cast<std::int32_t>(tree.nodes.size());
    tree.nodes.push_back(std::move(node));
    if (open_.empty())
      tree.root = at;
    else
      tree.nodes[static_cast<std::size_t>(open_.back())].items.push_back(at);
    return at;
  }
  std::vector<std::int32_t> open_;
};

}  // namespace

std::int32_t PlainTree::value(std::int32_t node, std::string_view key) const {
  std::int32_t found = -1;
  if (node < 0 || at(node).kind != PlainNode::Kind::dictionary) return found;
  const std::vector<std::int32_t>& items = at(node).items;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2)
    if (at(items[i]).kind == PlainNode::Kind::text && at(items[i]).text == key) found = items[i + 1];
  return found;
}

Result<PlainTree> read_plain_json(std::string_view text) {
  using Read = Result<PlainTree>;
  if (text.size() > max_plain_bytes) return Read::fail("The text is larger than 64 MiB: dump with fewer records.");
  if (json_nesting(text) > max_plain_depth)
    return Read::fail("The text nests deeper than 64 levels, which no dump does.");
  TreeBuilder builder;
  const JsonFailure failure = visit_json(text, builder);
  if (!builder.fault.empty()) return Read::fail(std::move(builder.fault));
  if (failure.kind != JsonFailure::Kind::none || builder.tree.root < 0)
    return Read::fail("It is no JSON: byte " + std::to_string(failure.byte) +
                      " is not what must stand there. Take the file as it was written.");
  return Read::ok(std::move(builder.tree));
}

}  // namespace models::hang
