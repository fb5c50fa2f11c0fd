#include "app/platform/fonts.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <string>

#include "app/platform/file.h"

namespace app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_font_bytes = 64u << 20;

/// Does the file begin as a TrueType or OpenType font does? Dear ImGui asserts on anything else.
bool looks_like_font(const fs::path& path) {
  std::array<char, 4> head{};
  std::ifstream in(path, std::ios::binary);
  if (!in.read(head.data(), head.size())) return false;
  const std::string_view tag(head.data(), head.size());
  return tag == "OTTO" || tag == "true" || tag == std::string_view("\0\1\0\0", 4);
}

/// The first of these files that is installed, as a new face or, where `into` is given, for the characters which that
/// lacks.
ImFont* add(ImFontAtlas& atlas, std::initializer_list<std::string_view> names, const std::vector<fs::path>& folders,
            ImFont* into = nullptr) {
  for (const std::string_view name : names) {
    const fs::path path = find_font(name, folders);
    if (path.empty()) continue;
    const models::Result<std::string> bytes = read_file(path, largest_font_bytes);
    if (!bytes || bytes->empty()) continue;
    void* data = ImGui::MemAlloc(bytes->size());  // the atlas frees it
    std::memcpy(data, bytes->data(), bytes->size());
    ImFontConfig config;
    config.MergeMode = into != nullptr;
    config.DstFont = into;
    const std::string shown(name.substr(0, sizeof config.Name - 1));
    std::copy_n(shown.c_str(), shown.size() + 1, config.Name);
    constexpr float reference_px = 15.0f;  // the theme's body size; the size without PushFont
    if (ImFont* font = atlas.AddFontFromMemoryTTF(data, static_cast<int>(bytes->size()), reference_px, &config))
      return font;
  }
  return nullptr;
}

void append_env_folders(std::vector<fs::path>& out, const char* variable) {
  const char* value = std::getenv(variable);
  if (!value) return;
  std::string_view rest(value);
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    if (colon != 0) out.emplace_back(rest.substr(0, colon));
    if (colon == std::string_view::npos) break;
    rest.remove_prefix(colon + 1);
  }
}

}  // namespace

std::vector<fs::path> font_folders() {
  std::vector<fs::path> folders;
  append_env_folders(folders, "RIDGELINE_FONTS");
  if (const char* data_home = std::getenv("XDG_DATA_HOME"); data_home && *data_home)
    folders.emplace_back(fs::path(data_home) / "fonts");
  if (const char* home = std::getenv("HOME"); home && *home) {
    folders.emplace_back(fs::path(home) / ".local/share/fonts");
    folders.emplace_back(fs::path(home) / ".fonts");
  }
  for (const char* root : {"/usr/share/fonts", "/usr/local/share/fonts"}) {
    for (const char* sub : {"opentype/inter", "truetype/inter", "truetype/jetbrains-mono", "opentype/jetbrains-mono",
                            "inter", "jetbrains-mono", "TTF", "OTF", ""})
      folders.emplace_back(fs::path(root) / sub);
  }
  return folders;
}

fs::path find_font(std::string_view file_name, const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    const fs::path path = folder / file_name;
    std::error_code error;
    const std::uintmax_t bytes = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 0;
    if (!error && bytes > 0 && bytes <= largest_font_bytes && looks_like_font(path)) return path;
  }
  return {};
}

widgets::Fonts load_fonts(ImFontAtlas& atlas, const std::vector<fs::path>& folders) {
  const auto inter = {std::string_view("Inter-Regular.otf"), std::string_view("Inter-Regular.ttf")};
  const auto mono = {std::string_view("JetBrainsMono-Regular.ttf"), std::string_view("JetBrainsMono-Regular.otf")};
  widgets::Fonts fonts;
  fonts.sans = add(atlas, inter, folders);
  if (fonts.sans)
    add(atlas, mono, folders, fonts.sans);  // Inter has no ceiling, floor, element-of or angle brackets
  else
    fonts.sans = atlas.AddFontDefault();
  fonts.sans_bold = add(atlas, {"Inter-SemiBold.otf", "Inter-SemiBold.ttf", "Inter-Bold.otf"}, folders);
  if (fonts.sans_bold)
    add(atlas, mono, folders, fonts.sans_bold);
  else
    fonts.sans_bold = fonts.sans;
  fonts.sans_italic = add(atlas, {"Inter-Italic.otf", "Inter-Italic.ttf"}, folders);
  if (fonts.sans_italic) add(atlas, inter, folders, fonts.sans_italic);
  fonts.mono = add(atlas, mono, folders);
  if (fonts.mono)
    add(atlas, inter, folders, fonts.mono);  // superscript minus, subscript letters
  else
    fonts.mono = fonts.sans;
  return fonts;
}

}  // namespace app
