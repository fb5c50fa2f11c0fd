#include "chapters/kernels/lab/lab.h"
#include "models/base/line_diff.h"

namespace chapters::kernels::lab {

void refresh_edited_lines(std::string_view source, View& view) {
  if (view.shown_source == view.edited_source && !view.shown_lines.empty()) return;
  view.shown_source = view.edited_source;
  view.shown_lines.clear();
  const auto diff = models::diff_lines(source, view.shown_source);
  const auto lines = models::split_lines(view.shown_source);
  for (std::size_t i = 0; i < lines.size(); ++i) view.shown_lines.push_back({lines[i], diff.changed[i]});
}

bool asks_for_files(std::string_view text) {
  for (std::size_t at = text.find_first_of("#%"); at != std::string_view::npos; at = text.find_first_of("#%", at + 1)) {
    const std::size_t word = text.find_first_not_of(" \t", at + (text[at] == '%' ? 2 : 1));
    if (word == std::string_view::npos) return false;
    if (text[at] == '%' && text.substr(at, 2) != "%:") continue;
    const std::string_view rest = text.substr(word);
    if (rest.starts_with("include") || rest.starts_with("import") || rest.starts_with("embed")) return true;
  }
  return false;
}

}  // namespace chapters::kernels::lab
