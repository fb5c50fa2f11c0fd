#pragma once

namespace app {

/// How a font's em and ascent follow from the line height that Dear ImGui calls its size, from the files' head and hhea
/// tables: Inter 4.0 has 2816 units to the em, ascender 2728, descender -680; JetBrains Mono 2.242 has 1000, 1020 and
/// -300.
struct TypeMetrics {
  double em_per_size, ascent_per_size;
};
inline constexpr TypeMetrics inter_metrics{2816.0 / 3408.0, 2728.0 / 3408.0};
inline constexpr TypeMetrics jetbrains_mono_metrics{1000.0 / 1320.0, 1020.0 / 1320.0};

}  // namespace app
