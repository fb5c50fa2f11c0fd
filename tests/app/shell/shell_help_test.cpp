#include <catch2/catch_test_macros.hpp>

#include <set>

#include "tests/app/shell/shell_fixture.h"

TEST_CASE("F1 opens help with every shortcut of the table; F1 and Escape close it") {
  Opened o;
  o.ui.resize({1600, 1400});
  o.ui.key(ImGuiKey_F1);
  o.ui.frames(3);
  REQUIRE(o.d.shell.help_open);
  const std::string text = o.ui.all_text();
  for (const app::Command& c : app::shortcut_commands()) {
    INFO(c.label);
    CHECK(text.find(c.shortcut) != std::string::npos);
    CHECK(text.find(c.label) != std::string::npos);
  }
  o.ui.key(ImGuiKey_Escape);
  o.ui.frames(3);
  CHECK_FALSE(o.d.shell.help_open);
  o.ui.key(ImGuiKey_F1);
  o.ui.frames(3);
  CHECK(o.d.shell.help_open);
  o.ui.key(ImGuiKey_F1);
  o.ui.frames(3);
  CHECK_FALSE(o.d.shell.help_open);
}

TEST_CASE("no two shortcuts share a key, and each has a place in help") {
  std::set<ImGuiKeyChord> chords;
  for (const app::Command& c : app::shortcut_commands()) {
    INFO(c.label);
    CHECK(chords.insert(c.chord).second);
    CHECK(std::string_view(c.section) != "");
    CHECK_FALSE(c.shortcut.empty());
  }
}

TEST_CASE("help leads home, into a lesson and to the glossary") {
  Opened o;
  o.ui.key(ImGuiKey_F1);
  o.ui.frames(3);
  o.ui.click("help/Glossary");
  o.ui.frames(3);
  CHECK(o.d.shell.page == app::Page::glossary);
  CHECK_FALSE(o.d.shell.help_open);
  o.ui.key(ImGuiKey_F1);
  o.ui.frames(3);
  o.ui.click("help/Home");
  o.ui.frames(3);
  CHECK(o.d.shell.page == app::Page::home);
}

TEST_CASE("commands that cannot act are not offered") {
  Opened o;
  const auto offers = [&](std::string_view label) {
    for (const app::Command& c : app::all_commands(o.d.shell))
      if (c.label == label) return true;
    return false;
  };
  CHECK_FALSE(offers("Next panel or lesson step"));
  CHECK_FALSE(offers("Undo"));
  o.d.type_value("inputs/Traffic", "3 GB");
  CHECK(offers("Undo"));
  o.d.command("play lesson");
  CHECK(o.d.shell.lesson.playing);  // and not "Next panel or lesson step", which could do nothing
  CHECK(offers("Next panel or lesson step"));
}

TEST_CASE("F6 goes round the panels, each reached in fewer than ten presses") {
  Opened o;
  o.ui.resize({1600, 1000});
  o.ui.frames(2);
  std::set<std::string> seen;
  std::string walk;
  for (int i = 0; i < 7; ++i) {
    o.ui.key(ImGuiKey_F6);
    o.ui.frames(3);
    const ImGuiWindow* window = o.ui.context()->NavWindow;
    REQUIRE(window);
    const std::string_view name = window->Name;
    walk += window->Name;
    walk += ' ';
    for (const char* panel : {"rail", "top", "inputs", "outputs", "drawer"})
      if (name.find(std::string("/") + panel + "_") != std::string_view::npos) seen.insert(panel);
  }
  for (const char* panel : {"rail", "top", "inputs", "drawer"}) {
    INFO(panel << " in " << walk);
    CHECK(seen.contains(panel));
  }
}

TEST_CASE("the glossary shows all terms, finds by name and by meaning, and leads to the lab") {
  Opened o;
  o.d.command("glossary");
  o.ui.frames(3);
  REQUIRE(o.d.shell.page == app::Page::glossary);
  const std::size_t n = o.w.content.glossary.size();
  CHECK(n >= 143);
  CHECK(o.ui.text_present(std::to_string(n) + " of " + std::to_string(n) + " terms"));
  o.ui.type("kv cache");  // the box has the keyboard
  o.ui.frames(2);
  CHECK(o.ui.text_present("KV cache"));
  CHECK_FALSE(o.ui.text_present("2:4 sparsity"));
  const auto& terms = o.w.content.glossary;
  const auto kv = std::find_if(terms.begin(), terms.end(), [](const auto& t) { return t.term == "KV cache"; });
  REQUIRE(kv != terms.end());
  CHECK(o.ui.text_present(kv->meaning.substr(0, 30)));
  o.ui.key(ImGuiKey_Escape);
  o.ui.key(ImGuiKey_Escape);
  o.ui.frames(2);
  CHECK(o.d.shell.page == app::Page::lab);
  // The palette shows a term's meaning, and does not jump elsewhere. (A term that is a lab's title too opens the lab.)
  o.d.command("GQA:");
  o.ui.frames(2);
  CHECK(o.d.shell.page == app::Page::glossary);
  CHECK(std::string_view(o.d.shell.glossary.query) == "GQA");
  CHECK(o.d.open_lab() == "roofline/roofline");
  o.ui.click("terms/" + o.w.title_of(kv->lab));
  o.ui.frames(2);
  CHECK(o.d.shell.page == app::Page::lab);
  CHECK(o.d.open_lab() == kv->lab);
}

TEST_CASE("terms are linked at their first occurrence, and never in code, formulas, links, headings or values") {
  const std::vector<app::Term> terms = {{"KV cache", "Keys and values.", ""},
                                        {"cache", "A copy nearby.", ""},
                                        {"ridge", "Where the roofs meet.", ""},
                                        {"NIC", "Network card.", ""}};
  const auto linked = [&](std::string_view text) { return app::link_terms(text, terms); };
  CHECK(linked("The KV cache, a kv cache.") == "The [KV cache](<term:KV cache>), a kv [cache](<term:cache>).");
  CHECK(linked("ridges and ridge") == "[ridges](<term:ridge>) and ridge");
  CHECK(linked("bridge, ridgeline, nic, picnic") == "bridge, ridgeline, nic, picnic");
  for (const char* same : {"`ridge`", "$ridge$", "{ridge}", "[ridge](lab:x)", "# ridge\n", "```\nridge\n```\n"})
    CHECK(linked(same) == same);
  CHECK(linked("`ridge` ridge") == "`ridge` [ridge](<term:ridge>)");
  CHECK(linked("") == "");
}

TEST_CASE("a term in the prose explains itself on hover, and a click opens the glossary there") {
  Opened o;
  o.ui.resize({1600, 1200});
  o.w.settings.drawer_height = 500;
  o.w.content.glossary = {{"zebra", "An animal with stripes.", ""}};
  o.w.content.labs.find("roofline/roofline")->second.prose[0] = "A zebra is not a roof.\n";
  o.ui.frames(3);
  o.ui.hover("drawer/zebra");
  CHECK(o.ui.text_present("An animal with stripes."));
  o.ui.click("drawer/zebra");
  o.ui.frames(2);
  CHECK(o.d.shell.page == app::Page::glossary);
}

TEST_CASE("another word for a term is found in the palette and on the glossary's page, and explained in prose") {
  Opened o;
  o.d.command("matmul");
  o.ui.frames(2);
  REQUIRE(o.d.shell.page == app::Page::glossary);
  CHECK(o.ui.text_present("General matrix multiply"));
  CHECK(o.ui.text_present("Also: matrix product, matmul"));
  const std::string linked = app::link_terms("A matmul of two.\n", o.w.content.glossary);
  CHECK(linked.starts_with("A [matmul](<term:GEMM>) of two."));
}

TEST_CASE("the Concept begins with what can be done after the lab, where it is checked, and what should come first") {
  Opened o;
  o.ui.resize({1600, 1200});
  o.w.settings.drawer_height = 500;
  o.ui.frames(3);
  CHECK(o.ui.text_present("After this lab you can"));
  const std::string& text = app::concept_with_aims(o.d.shell);
  const app::LabContent& content = o.w.content.of("roofline/roofline");
  CHECK(text.find("- " + content.objectives[0].can + " Check: Arithmetic intensity, Ridge point.\n") !=
        std::string::npos);
  CHECK(text.find("Better first: [Memory hierarchy](lab:roofline/hierarchy).") != std::string::npos);
  CHECK(text.ends_with(content.prose[0]));
  o.ui.click("drawer/Memory hierarchy");
  o.ui.frames(2);
  CHECK(o.d.open_lab() == "roofline/hierarchy");
}

TEST_CASE("every letter that is typed right after Ctrl+K arrives, in order") {
  Opened o;
  ImGuiIO& io = ImGui::GetIO();
  io.AddKeyEvent(ImGuiMod_Ctrl, true);
  io.AddKeyEvent(ImGuiKey_K, true);
  io.AddKeyEvent(ImGuiKey_K, false);
  io.AddKeyEvent(ImGuiMod_Ctrl, false);
  const std::string typed = "roofline/roofline?chip=h100_sxm&bytes=2e9";
  for (const char c : typed) io.AddInputCharacter(static_cast<unsigned>(c));
  for (int i = 0; i < 60; ++i) o.ui.frames(1);
  CHECK(o.d.shell.palette.open);
  CHECK(std::string_view(o.d.shell.palette.query) == typed);
  o.ui.type("x");
  o.ui.frames(2);
  CHECK(std::string_view(o.d.shell.palette.query) == typed + "x");
}
