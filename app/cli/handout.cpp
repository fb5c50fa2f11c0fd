#include <algorithm>
#include <filesystem>
#include <ostream>

#include "app/cli/cli.h"
#include "app/cli/picture.h"
#include "app/content/handout.h"
#include "app/platform/file.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"

namespace app::cli {
namespace {

/// The chapter of that slug or number. Fails with the nearest.
models::Result<const chapters::Chapter*> chapter_of(const std::string& word) {
  using ByName = models::Result<const chapters::Chapter*>;
  std::vector<std::string> slugs;
  for (const chapters::Chapter& chapter : chapters::all_chapters()) {
    if (chapter.slug == word || chapter.ordinal == word) return ByName::ok(&chapter);
    slugs.emplace_back(chapter.slug);
  }
  const std::string guess = did_you_mean(word, slugs);
  return ByName::fail("There is no chapter \"" + excerpt(word) + "\"" + (guess.empty() ? ". " : ": " + guess + " ") +
                      "Chapters are " + sentence_list(slugs, 40) + ".");
}

/// The lab at its defaults in the light theme, its picture alone: as wide as a page at about 200 dots per inch.
models::Result<HandoutLab> lab_on_paper(Headless& headless, std::string_view id) {
  using OnPaper = models::Result<HandoutLab>;
  Picture picture;
  picture.width = headless.width();
  picture.height = headless.height();
  picture.light = picture.alone = picture.canvas_only = true;
  picture.scale = 1.4;
  const auto workspace = fresh_workspace();
  workspace->open(id);
  workspace->finish();
  Shell shell(*workspace, {});
  draw_settled(headless, shell, picture, nullptr);
  HandoutLab lab = handout_lab(workspace->lab(), workspace->content.of(id));
  auto png = png_bytes(headless.image());
  if (!png) return OnPaper::fail(std::move(png.error));
  lab.png = std::move(*png);
  return OnPaper::ok(std::move(lab));
}

}  // namespace

int handout(const Arguments& a, const Streams& s) {
  if (a.words.empty()) return complain(s, "handout needs a chapter: ridgeline handout roofline -o roofline.html.");
  const auto chapter = chapter_of(a.words[0]);
  if (!chapter) return complain(s, chapter.error);
  const std::filesystem::path path = a.value("-o");
  if (path.extension() != ".html") return complain(s, "handout needs -o FILE.html.");
  if (const auto there = folder_exists(path); !there) return complain(s, there.error);
  auto headless = Headless::create(1400, 800);
  if (!headless) return complain(s, headless.error);
  Handout paper{std::string((*chapter)->ordinal), std::string((*chapter)->title), {}};
  for (const chapters::LabEntry& entry : (*chapter)->labs) {
    if (entry.make()->info().hidden) continue;
    auto lab = lab_on_paper(**headless, entry.id);
    if (!lab) return complain(s, lab.error);
    paper.labs.push_back(std::move(*lab));
  }
  if (const auto written = write_file(path, handout_html(paper)); !written) return complain(s, written.error);
  s.out << path.string() << "\n";
  return 0;
}

}  // namespace app::cli
