#include "tests/house/std_includes.h"

#include <cctype>
#include <map>
#include <set>
#include <string_view>

namespace house {
namespace {

/// Names of the library in namespace std, and the header that brings each. What any header of it brings (size_t, move,
/// pair) is not listed.
const std::map<std::string_view, std::string_view>& headers_of_names() {
  static const std::map<std::string_view, std::string_view> names = [] {
    std::map<std::string_view, std::string_view> out;
    const auto add = [&](std::string_view header, std::initializer_list<std::string_view> all) {
      for (const std::string_view name : all) out[name] = header;
    };
    add("algorithm",
        {"sort",   "stable_sort", "min",      "max",         "minmax",      "clamp",       "find_if",     "any_of",
         "all_of", "none_of",     "count_if", "lower_bound", "upper_bound", "max_element", "min_element", "copy",
         "fill",   "rotate",      "reverse",  "transform",   "equal",       "remove_if",   "for_each"});
    add("any", {"any", "any_cast"});
    add("array", {"array", "to_array"});
    add("atomic", {"atomic", "atomic_flag"});
    add("bit", {"bit_cast", "countr_zero", "countl_zero", "bit_width", "bit_ceil", "has_single_bit", "popcount"});
    add("chrono", {"chrono"});
    add("cmath", {"isnan", "isfinite", "isinf", "nan",   "log",   "log2",  "log10",   "exp",
                  "exp2",  "pow",      "sqrt",  "floor", "ceil",  "round", "lround",  "llround",
                  "fmod",  "fmin",     "fmax",  "hypot", "ldexp", "frexp", "copysign"});
    add("complex", {"complex"});
    add("concepts", {"same_as", "convertible_to", "invocable", "derived_from", "integral", "floating_point"});
    add("condition_variable", {"condition_variable"});
    add("cstdint",
        {"int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "uintptr_t"});
    add("deque", {"deque"});
    add("exception", {"exception", "exception_ptr"});
    add("filesystem", {"filesystem"});
    add("functional", {"function", "reference_wrapper"});
    add("limits", {"numeric_limits"});
    add("map", {"map", "multimap"});
    add("memory", {"unique_ptr", "shared_ptr", "weak_ptr", "make_unique", "make_shared"});
    add("mutex", {"mutex", "lock_guard", "unique_lock", "scoped_lock", "once_flag", "call_once"});
    add("numeric", {"accumulate", "iota", "gcd", "lcm", "reduce"});
    add("optional", {"optional", "nullopt", "make_optional"});
    add("random", {"mt19937", "mt19937_64", "uniform_int_distribution"});
    add("set", {"set", "multiset"});
    add("span", {"span"});
    add("stdexcept", {"runtime_error", "logic_error", "out_of_range", "invalid_argument"});
    add("string", {"string", "to_string", "getline"});
    add("string_view", {"string_view"});
    add("thread", {"thread", "jthread", "this_thread"});
    add("tuple", {"tuple", "tie", "make_tuple", "get"});
    add("type_traits", {"is_same_v", "is_enum_v", "is_invocable_v", "decay_t", "enable_if_t", "conditional_t",
                        "invoke_result_t", "remove_cvref_t", "underlying_type_t", "is_integral_v"});
    add("unordered_map", {"unordered_map"});
    add("unordered_set", {"unordered_set"});
    add("variant", {"variant", "visit", "holds_alternative", "get_if", "monostate"});
    add("vector", {"vector"});
    return out;
  }();
  return names;
}

/// Headers of the library that are known to bring another whole.
const std::map<std::string_view, std::set<std::string_view>>& brought_along() {
  static const std::map<std::string_view, std::set<std::string_view>> along{
      {"string_view", {"string"}},  {"string", {"filesystem", "iostream"}},
      {"exception", {"stdexcept"}}, {"tuple", {"map", "array", "memory", "functional"}},
      {"span", {"ranges"}},         {"array", {"span", "tuple"}}};
  return along;
}

struct Header {
  std::set<std::string> library, ours;
  std::set<std::string_view> needed;
};

bool is_name_char(char c) { return (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '_'; }

Header read_header(const Source& source) {
  Header out;
  for (const std::string& whole : source.lines) {
    const std::string line = whole.substr(0, whole.find("//"));
    if (line.starts_with("#include <"))
      out.library.insert(line.substr(10, line.find('>') - 10));
    else if (line.starts_with("#include \""))
      out.ours.insert(line.substr(10, line.find('"', 10) - 10));
    for (std::size_t at = 0; (at = line.find("std::", at)) != std::string::npos;) {
      const bool own = at > 0 && (is_name_char(line[at - 1]) || line[at - 1] == ':');
      std::size_t end = at += 5;
      while (end < line.size() && is_name_char(line[end])) ++end;
      const auto known = headers_of_names().find(std::string_view(line).substr(at, end - at));
      if (!own && known != headers_of_names().end()) out.needed.insert(known->first);
    }
  }
  return out;
}

bool brings(const std::map<std::string, Header>& headers, const std::string& path, std::string_view library,
            std::set<std::string>& seen) {
  const auto at = headers.find(path);
  if (at == headers.end() || !seen.insert(path).second) return false;
  const Header& header = at->second;
  if (header.library.contains(std::string(library))) return true;
  if (const auto along = brought_along().find(library); along != brought_along().end())
    for (const std::string_view other : along->second)
      if (header.library.contains(std::string(other))) return true;
  for (const std::string& other : header.ours)
    if (brings(headers, other, library, seen)) return true;
  return false;
}

}  // namespace

std::string missing_std_includes(const std::vector<Source>& sources) {
  std::map<std::string, Header> headers;
  for (const Source& source : sources)
    if (source.path.ends_with(".h")) headers[source.path] = read_header(source);
  std::string faults;
  for (const auto& [path, header] : headers)
    for (const std::string_view name : header.needed) {
      const std::string_view library = headers_of_names().at(name);
      std::set<std::string> seen;
      if (!brings(headers, path, library, seen))
        faults += path + ": std::" + std::string(name) + " needs <" + std::string(library) + ">\n";
    }
  return faults;
}

}  // namespace house
