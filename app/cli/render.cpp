#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "app/cli/cli.h"
#include "app/cli/picture.h"
#include "app/platform/csv.h"
#include "app/platform/file.h"
#include "app/platform/headless.h"
#include "app/platform/image.h"
#include "app/platform/svg.h"
#include "app/scenario/link.h"
#include "app/scenario/sentences.h"
#include "app/shell/shell.h"
#include "chapters/mechanism/registry.h"

namespace app::cli {
namespace {

void set_like(chapters::Lab& to, const chapters::Lab& from) {
  for (const auto& f : to.inputs()) {
    const auto* g = from.inputs().find(f.key);
    if (f.kind == chapters::Kind::file)
      f.file() = g->file();
    else
      (void)field_from_json(f, field_to_json(*g));  // two copies of one lab: what one holds the other takes
  }
  for (const auto& f : to.view()) (void)field_from_json(f, field_to_json(*from.view().find(f.key)));
}

/// `scenario`, a link: data in long form; empty: in blocks.
models::Status write_picture(const std::filesystem::path& path, const std::string& kind, const Headless& headless,
                             const widgets::Record& record, const std::string& scenario) {
  if (kind == ".png") return write_png(path, headless.image());
  if (kind == ".svg") return write_file(path, to_svg(record, widgets::theme().background));
  if (record.tables.empty()) return models::Status::fail("This lab shows no data to write as CSV.");
  return write_file(
      path, scenario.empty() ? to_csv(record) : to_long_csv(record, scenario.substr(0, scenario.find('?')), scenario));
}

/// `render home` and `render glossary`: the pages around the labs.
int render_page(const Arguments& a, const Streams& s, Page page) {
  const auto picture = picture_of(a);
  if (!picture) return complain(s, picture.error);
  const std::filesystem::path path = a.value("-o");
  if (path.extension() != ".png") return complain(s, "render " + a.words[0] + " needs -o FILE.png.");
  auto headless = Headless::create(picture->width, picture->height);
  if (!headless) return complain(s, headless.error);
  const auto workspace = fresh_workspace();
  Shell shell(*workspace, {});
  shell.page = page;
  draw_settled(**headless, shell, *picture, nullptr);
  if (const auto written = write_png(path, (*headless)->image()); !written) return complain(s, written.error);
  s.out << path.string() << "\n";
  return 0;
}

/// --question asks one of the lab's questions, --guess answers it.
models::Status ask(const Arguments& a, Shell& shell) {
  if (!a.has("--question")) return models::Status::ok();
  const std::size_t questions = shell.workspace.content.of(shell.workspace.lab().info().id).predictions.size();
  int number = 0;
  if (!parse_int(a.value("--question"), number) || number < 1 || static_cast<std::size_t>(number) > questions)
    return models::Status::fail("--question is \"" + a.value("--question").substr(0, 40) + "\": this lab asks " +
                                std::to_string(questions) + ", counted from 1.");
  follow_question(shell);
  ask_question(shell, static_cast<std::size_t>(number) - 1);
  shell.workspace.current().finish();
  return a.has("--guess") ? answer_question(shell, a.value("--guess")) : models::Status::ok();
}

}  // namespace

int render(const Arguments& a, const Streams& s) {
  if (a.words.size() == 1 && a.words[0] == "home") return render_page(a, s, Page::home);
  if (a.words.size() == 1 && a.words[0] == "glossary") return render_page(a, s, Page::glossary);
  const auto made = make_set_lab(a);
  if (!made) return complain(s, made.error);
  const auto& lab = *made;
  const auto picture = picture_of(a);
  if (!picture) return complain(s, picture.error);
  const Picture& p = *picture;
  const std::filesystem::path path = a.value("-o");
  const std::string kind = path.extension().string();
  if (kind != ".png" && kind != ".svg" && kind != ".csv")
    return complain(s, "render needs -o FILE.png, FILE.svg or FILE.csv.");
  if (a.has("--long") && kind != ".csv") return complain(s, "--long is a form of data: it needs -o FILE.csv.");
  if (const auto there = folder_exists(path); !there) return complain(s, there.error);
  if (a.has("--at")) {
    const auto* time = lab->view().find("time");
    if (!time) return complain(s, std::string(lab->info().id) + " has nothing that plays: --at has no meaning there.");
    if (const auto set = set_field_from_text(*time, a.value("--at")); !set) return complain(s, set.error);
  }
  auto headless = Headless::create(p.width, p.height);
  if (!headless) return complain(s, headless.error);
  const auto workspace = fresh_workspace();
  workspace->open(lab->info().id);
  set_like(workspace->lab(), *lab);
  workspace->finish();
  Shell shell(*workspace, {});
  if (const auto asked = ask(a, shell); !asked) return complain(s, asked.error);
  widgets::Record record;
  draw_settled(**headless, shell, p, &record);
  const auto written = write_picture(path, kind, **headless, record, a.has("--long") ? link_of(*lab) : std::string());
  if (!written) return complain(s, written.error);
  s.out << path.string() << "\n";
  return 0;
}

namespace {

/// One of the pictures that a tour takes of every lab.
struct Shot {
  std::string suffix, words;  ///< end of the file's name; description for those who cannot see the picture
  Picture picture;
};

/// In each theme asked for at the size asked for; and in the first of them on a small screen and in presentation.
std::vector<Shot> shots_of(const Picture& base, bool both) {
  std::vector<Shot> shots;
  const auto add = [&](std::string suffix, std::string words, const Picture& p) {
    shots.push_back({std::move(suffix), std::move(words), p});
  };
  Picture p = base;
  p.presentation = false;
  for (const bool light : {false, true}) {
    if (!both && light != base.light) continue;
    p.light = light;
    add(light ? "-light" : "-dark", light ? "light" : "dark", p);
  }
  p.light = shots.front().picture.light;
  if (p.width != 1280 || p.height != 800) {
    Picture small = p;
    small.width = 1280;
    small.height = 800;
    add("-1280x800", "1280 x 800", small);
  }
  p.presentation = true;
  add("-presentation", "in presentation", p);
  return shots;
}

/// Draws one picture into the folder and its line into the page.
models::Status take(Headless& headless, Shell& shell, const Shot& shot, const std::filesystem::path& folder,
                    const std::string& name, const std::string& title, std::string& page) {
  if (headless.width() != shot.picture.width || headless.height() != shot.picture.height)
    if (auto sized = headless.resize(shot.picture.width, shot.picture.height); !sized) return sized;
  draw_settled(headless, shell, shot.picture, nullptr);
  const std::string file = name + shot.suffix + ".png";
  page += "<p><img src=\"" + file + "\" alt=\"" + title + ", " + shot.words + "\"></p>";
  return write_png(folder / file, headless.image());
}

}  // namespace

int tour(const Arguments& a, const Streams& s) {
  const auto picture = picture_of(a);
  if (!picture) return complain(s, picture.error);
  if (!a.has("-o")) return complain(s, "tour needs -o DIR.");
  std::vector<std::string> slugs;
  for (const auto& chapter : chapters::all_chapters()) slugs.emplace_back(chapter.slug);
  if (!a.words.empty() && std::find(slugs.begin(), slugs.end(), a.words[0]) == slugs.end()) {
    const std::string guess = did_you_mean(a.words[0], slugs);
    return complain(s, "There is no chapter \"" + excerpt(a.words[0]) + "\"" +
                           (guess.empty() ? ". " : ": " + guess + " ") + "Chapters are " + sentence_list(slugs, 40) +
                           ".");
  }
  const std::filesystem::path folder = a.value("-o");
  auto headless = Headless::create(picture->width, picture->height);
  if (!headless) return complain(s, headless.error);
  std::string page =
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Ridgeline, a tour</title>"
      "<style>body{font:16px "
      "Inter,sans-serif;margin:2rem;background:#0f1318;color:#e8edf3}a{color:#5ab8f5}img{max-width:100%;border:1px "
      "solid #2b3541;border-radius:6px}"
      "section{margin:2rem 0}p{color:#93a1b0}</style><h1>Ridgeline, a tour</h1>\n";
  int count = 0;
  const std::vector<Shot> shots = shots_of(*picture, !a.has("--theme"));
  page += "<section><h2>Home</h2>";
  for (const Shot& shot : shots) {
    if (shot.picture.presentation) continue;  // home is no lab
    const auto workspace = fresh_workspace();
    Shell shell(*workspace, {});
    shell.page = Page::home;
    if (const auto taken = take(**headless, shell, shot, folder, "home", "Home", page); !taken)
      return complain(s, taken.error);
    ++count;
  }
  page += "</section>\n";
  for (const auto& chapter : chapters::all_chapters()) {
    if (!a.words.empty() && chapter.slug != a.words[0]) continue;
    page += "<h2>" + std::string(chapter.ordinal) + " " + std::string(chapter.title) + "</h2>\n";
    for (const auto& entry : chapter.labs) {
      const auto lab = entry.make();
      const std::string title(lab->info().title);
      page += "<section><h3>" + title + "</h3><p>" + std::string(lab->info().question) + "</p>";
      std::string name(entry.id);
      std::replace(name.begin(), name.end(), '/', '-');
      const auto workspace = fresh_workspace();
      workspace->open(entry.id);
      workspace->finish();
      for (const Shot& shot : shots) {
        Shell shell(*workspace, {});
        if (const auto taken = take(**headless, shell, shot, folder, name, title, page); !taken)
          return complain(s, taken.error);
        ++count;
      }
      page += "<p>ridgeline " + std::string(entry.id) + "</p></section>\n";
    }
  }
  if (const auto written = write_file(folder / "index.html", page + "</html>\n"); !written)
    return complain(s, written.error);
  s.out << count << " pictures and " << (folder / "index.html").string() << "\n";
  return 0;
}

}  // namespace app::cli
