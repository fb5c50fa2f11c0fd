#include "chapters/serving/prefix_cache/lab.h"
#include "widgets/number/number.h"

/// The sentence that says what the requests find, and what would change it.
namespace chapters::serving::prefix_cache {
namespace {

using models::PrefixEviction;
using widgets::figure;

std::string count_text(std::int64_t n) { return figure(static_cast<double>(n), "", 9); }
std::string blocks_text(std::int64_t n) { return count_text(n) + (n == 1 ? " block" : " blocks"); }
std::string share_text(double percent) { return figure(percent, "%"); }

std::string requests_text(const Outputs& out) {
  return count_text(out.figures.requests) + (out.figures.requests == 1 ? " request" : " requests");
}
/// "35 requests find", "1 request finds".
std::string who_find(const Outputs& out) {
  return requests_text(out) + (out.figures.requests == 1 ? " finds " : " find ");
}

/// That nothing is lost, for requests that find this much.
std::string none_lost(const Outputs& out) {
  if (out.computed_blocks != out.tree.nodes || out.tree.nodes == 1) return ", and none is lost for lack of room";
  return ", and each of " + blocks_text(out.tree.nodes) + " is computed once";
}

std::string recomputed_text(const Outputs& out) {
  return blocks_text(out.recomputed_blocks) + (out.recomputed_blocks == 1 ? " is" : " are") + " recomputed";
}

/// With a cache of so many blocks, least recently used from the leaves on, in the order that is set.
std::string by_size(const Inputs& in, const Outputs& out) {
  if (out.recomputed_blocks == 0)
    return who_find(out) + share_text(out.hit_percent) + " of their blocks in the cache" + none_lost(out) +
           ".\nIn this order " + blocks_text(out.capacity_for_all) + " of cache would be enough for that.";
  const std::string lost = "\nFor lack of room " + recomputed_text(out) + "; a cache of " +
                           blocks_text(out.capacity_for_all) + " would lose none.";
  if (in.order == Order::as_came)
    return who_find(out) + share_text(out.hit_percent) + " of their blocks in the cache " +
           std::string(order_words(in)) + ", and " + share_text(out.along_percent) + " along the tree." + lost;
  if (in.order == Order::along_tree)
    return "Along the tree " + who_find(out) + share_text(out.hit_percent) + " of their blocks in the cache, and " +
           share_text(out.as_came_percent) + " as they came." + lost;
  return "In your order " + who_find(out) + share_text(out.hit_percent) +
         " of their blocks in the cache; as they came " + share_text(out.as_came_percent) + ", along the tree " +
         share_text(out.along_percent) + "." + lost;
}

std::string by_root_first(const Outputs& out) {
  return "If the first blocks of a prompt go first, " + who_find(out) + share_text(out.root_first_percent) +
         " of their blocks; if the last ones do, " + share_text(out.leaf_first_percent) +
         ".\nA prompt is found from its first block on: without that one the others are lost.";
}

std::string by_clock(const Inputs& in, const Outputs& out) {
  return "When blocks stay " + figure(in.ttl_s, "s") + " after their last use, " + who_find(out) +
         share_text(out.hit_percent) + " in the cache; if they stayed for ever, " + share_text(out.ideal_percent) +
         ".\n" + "At the end " + blocks_text(out.cached_blocks) + " are in it.";
}

std::string endless(const Outputs& out) {
  return "In a cache without an end " + who_find(out) + share_text(out.hit_percent) + " of their blocks" +
         none_lost(out) + ".\nIn this order " + blocks_text(out.capacity_for_all) + " of cache would find as much.";
}

}  // namespace

std::string_view order_words(const Inputs& in) {
  if (in.order == Order::along_tree) return "along the tree";
  if (in.order == Order::own) return "in your order";
  return in.at_once && in.source >= Source::agents ? "side by side" : "as they came";
}

std::string answer_of(const Inputs& in, const Outputs& out) {
  if (out.figures.seen_blocks == 0)
    return "No prompt of " + requests_text(out) + " begins with a block of another: no cache would save anything.";
  switch (in.eviction) {
    case PrefixEviction::none:
      return endless(out);
    case PrefixEviction::lru:
      return by_size(in, out);
    case PrefixEviction::lru_root_first:
      return by_root_first(out);
    case PrefixEviction::ttl:
      return by_clock(in, out);
  }
  return {};
}

}  // namespace chapters::serving::prefix_cache
