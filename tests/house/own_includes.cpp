#include "tests/house/own_includes.h"

#include <cctype>
#include <map>
#include <regex>
#include <set>

namespace house {
namespace {

struct OwnHeader {
  std::set<std::string> includes;  ///< headers of ours
  std::set<std::string> defines;   ///< types of namespaces
  std::set<std::string> knows;     ///< types that it declares in any way: within others, without a body, as a parameter
  std::set<std::string> names;     ///< types that it names, but not as members of another
};

bool in_a_name(char c) { return (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '_'; }

/// The line without its comment and without what stands in quotation marks.
std::string bare_line(const std::string& line) {
  static const std::regex quoted(R"re("(\\.|[^"\\])*")re");
  const std::string unquoted = line.find('"') == std::string::npos ? line : std::regex_replace(line, quoted, "0");
  return unquoted.substr(0, unquoted.find("//"));
}

void take_declared(const std::string& line, OwnHeader& out) {
  static const std::regex declared(
      R"((?:struct|class|union|enum|using|typename|concept)(?:\s*\.\.\.)?\s+(?:\[\[\w+\]\]\s+)?([A-Z]\w*))");
  for (auto at = std::sregex_iterator(line.begin(), line.end(), declared); at != std::sregex_iterator(); ++at) {
    const std::string name = (*at)[1];
    out.knows.insert(name);
    const bool in_namespace = line[0] != ' ' && line[0] != '#';
    const bool without_body = line.ends_with(name + ";");
    if (in_namespace && !without_body) out.defines.insert(name);
  }
}

/// A name that begins with a capital and goes on with a small letter is a type's, as the house writes them.
void take_names(const std::string& line, OwnHeader& out) {
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (!in_a_name(line[at])) continue;
    std::size_t end = at;
    while (end < line.size() && in_a_name(line[end])) ++end;
    const bool type = std::isupper(static_cast<unsigned char>(line[at])) != 0 && end - at > 2 &&
                      std::islower(static_cast<unsigned char>(line[at + 1])) != 0;
    const bool member = at > 1 && (line[at - 1] == '.' || line[at - 1] == '>' ||
                                   (line[at - 1] == ':' && at > 2 && in_a_name(line[at - 3])));
    // A namespace before it is written in small letters; a type before it makes it a member.
    std::size_t before = at > 2 ? at - 2 : 0;
    while (member && before > 0 && in_a_name(line[before - 1])) --before;
    const bool in_namespace = member && line[at - 1] == ':' && std::islower(static_cast<unsigned char>(line[before]));
    if (type && (!member || in_namespace)) out.names.insert(line.substr(at, end - at));
    at = end;
  }
}

OwnHeader read_own(const Source& source) {
  OwnHeader out;
  for (const std::string& whole : source.lines) {
    if (whole.starts_with("#include \"")) out.includes.insert(whole.substr(10, whole.find('"', 10) - 10));
    const std::string line = bare_line(whole);
    if (line.empty() || line.starts_with('#')) continue;
    take_declared(line, out);
    take_names(line, out);
  }
  return out;
}

bool reaches(const std::map<std::string, OwnHeader>& headers, const std::string& path, const std::string& name,
             std::set<std::string>& seen) {
  const auto at = headers.find(path);
  if (at == headers.end() || !seen.insert(path).second) return false;
  if (at->second.knows.contains(name)) return true;
  for (const std::string& other : at->second.includes)
    if (reaches(headers, other, name, seen)) return true;
  return false;
}

}  // namespace

std::string missing_own_includes(const std::vector<Source>& sources) {
  std::map<std::string, OwnHeader> headers;
  std::map<std::string, std::string> homes;
  for (const Source& source : sources)
    if (source.path.ends_with(".h")) {
      headers[source.path] = read_own(source);
      for (const std::string& name : headers[source.path].defines) homes.emplace(name, source.path);
    }
  std::string faults;
  for (const auto& [path, header] : headers)
    for (const std::string& name : header.names) {
      const auto home = homes.find(name);
      std::set<std::string> seen;
      if (home != homes.end() && !reaches(headers, path, name, seen))
        faults += path + ": " + name + " stands in " + home->second + "\n";
    }
  return faults;
}

}  // namespace house
