#include "tests/house/source_rules.h"

#include <algorithm>
#include <regex>

namespace house {

std::string line_length_fault(const std::string& line) {
  const auto characters =
      std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  return characters <= 120 ? "" : "the line has " + std::to_string(characters) + " characters; 120 is the most";
}

std::string colour_fault(const std::string& path, const std::string& line) {
  static const std::regex colour(R"(IM_COL32\s*\(|ImVec4\s*(\w+\s*)?[({]\s*[0-9.])");
  if (path.starts_with("widgets/base/theme")) return {};
  if (line.find("IM_COL32") == std::string::npos && line.find("ImVec4") == std::string::npos) return {};  // cheaper
  if (!std::regex_search(line, colour)) return {};
  return "a colour outside widgets/base/theme";
}

std::string shared_choice_fault(const std::string& path, const std::string& line) {
  static const std::regex shared(R"(\.shared\s*=[^=])");
  if (!path.starts_with("chapters/") || path.starts_with("chapters/mechanism/shared_choices.")) return {};
  if (line.find(".shared") == std::string::npos || !std::regex_search(line, shared)) return {};
  return "a shared choice is declared in chapters/mechanism/shared_choices.h; call its function";
}

std::string bare_press_fault(const std::string& path, const std::string& line) {
  if (path.starts_with("widgets/base/press_area.") || line.find("ImGui::InvisibleButton(") == std::string::npos)
    return {};
  return "Dear ImGui's invisible button asserts on a side of zero; call widgets::press_area";
}

std::string headless_text_faults(const Source& source) {
  static const std::regex comment_begins(R"(^\s*///<?\s*of\b)", std::regex::icase);
  static const std::regex comment_behind(R"(///<\s*of\b)", std::regex::icase);
  static const std::regex whole_text(R"re("Of ([^"\\]|\\.)*[^ `"\\]")re");
  static const std::regex comment_line(R"(^\s*///)");
  const std::string name = source.path.substr(source.path.rfind('/') + 1);
  const bool describes = name.starts_with("describe") || source.path.starts_with("chapters/described/");
  std::string faults;
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    const std::string& line = source.lines[i];
    if (line.find("///") != std::string::npos) {
      const bool goes_on = i > 0 && std::regex_search(source.lines[i - 1], comment_line);
      if (std::regex_search(line, comment_behind) || (!goes_on && std::regex_search(line, comment_begins)))
        faults += at_line(source, i, "the comment begins with \"of\"; say what the thing is") + "\n";
    }
    if (!source.path.starts_with("chapters/") || line.find("\"Of ") == std::string::npos) continue;
    if (describes || std::regex_search(line, whole_text))
      faults += at_line(source, i, "the text begins with \"Of\"; say what the thing is") + "\n";
  }
  return faults;
}

std::string file_length_fault(const Source& source) {
  if (source.lines.size() <= 400) return {};
  return source.path + " has " + std::to_string(source.lines.size()) + " lines; split it at 400";
}

std::string faults_of_lines(const std::vector<Source>& sources,
                            const std::function<std::string(const std::string&, const std::string&)>& fault) {
  std::string faults;
  for (const Source& source : sources)
    for (std::size_t i = 0; i < source.lines.size(); ++i)
      if (const std::string what = fault(source.path, source.lines[i]); !what.empty())
        faults += at_line(source, i, what) + "\n";
  return faults;
}

}  // namespace house
