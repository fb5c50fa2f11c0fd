#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/content/load_catalog.h"
#include "app/workspace/workspace.h"
#include "chapters/mechanism/catalog.h"
#include "tests/support/base/files.h"
#include "tests/support/base/gzip.h"
#include "tests/support/base/paths.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/reader_choice.h"
#include "tests/support/lab/sample_files.h"

namespace {

/// A person with folders of their own, and some files of theirs.
struct Opener {
  Opener() {
    if (chapters::catalog().chips.empty())
      chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
    w = std::make_unique<app::Workspace>(
        support::bundled_content(),
        models::Result<app::UserPaths>::ok({folder / "data", folder / "config", folder / "state"}));
    folder.write("config.json",
                 R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024,
                     "n_ctx": 1024, "vocab_size": 50257})");
    folder.write("runs.csv", "name,flops,bytes,time_s\nmatmul,2e12,4e9,0.004\n");
    folder.write("arrivals.csv", "time,prompt,output\n0,100,20\n1,200,30\n2,50,60\n");
  }
  ~Opener() {
    w.reset();
    chapters::set_catalog(app::load_catalog(support::source_file("assets"), {}).catalog);
  }
  std::string open(const std::string& name, app::Action* remedy = nullptr) {
    return w->opening.open_and_wait((folder / name).string(), remedy).error;
  }
  std::string lab() const { return std::string(w->lab().info().id); }
  std::string file_in(const char* key) const { return w->lab().inputs().find(key)->file().path; }

  support::Folder folder;
  std::unique_ptr<app::Workspace> w;
};

}  // namespace

TEST_CASE("each file goes to the lab that reads it, from any lab, one that reads others too") {
  Opener o;
  for (const char* from :
       {"roofline/iron-law", "profiling/trace-viewer", "serving/batching", "precision/number-line"}) {
    INFO(from);
    REQUIRE(o.w->open(from));
    CHECK(o.open("config.json") == "");  // a model: chosen where there is such a choice, else in the lab that reads it
    CHECK(o.lab() == (from == std::string("serving/batching") ? from : "roofline/transformer-layer"));
    const auto* model = chapters::catalog().model(o.w->lab().inputs().find("model")->choice_id());
    REQUIRE(model);
    CHECK(model->architecture.model_type == "gpt2");
    CHECK(model->architecture.layers == 12);
    REQUIRE(o.w->open(from));
    CHECK(o.open("runs.csv") == "");
    CHECK(o.lab() == "roofline/roofline");
    CHECK(o.file_in("measured") == (o.folder / "runs.csv").string());
    REQUIRE(o.w->open(from));
    CHECK(o.open("arrivals.csv") == "");
    support::take_reader(*o.w, "serving/batching");
    CHECK(o.lab() == "serving/batching");
    CHECK(o.file_in("trace") == (o.folder / "arrivals.csv").string());
  }
  CHECK(o.w->files.opened.front() == (o.folder / "arrivals.csv").string());
  CHECK(o.w->files.opened.size() == 3);
}

TEST_CASE("a file that no lab takes gets a true sentence, and a way to the lab that reads such files") {
  Opener o;
  REQUIRE(o.w->open("profiling/trace-viewer"));
  o.folder.write("mamba.json", R"({"model_type": "mamba", "hidden_size": 2048})");
  app::Action remedy;
  const std::string refused = o.open("mamba.json", &remedy);
  CHECK(refused.find("Transformer layer does not take \"mamba.json\": model_type is \"mamba\"") == 0);
  CHECK(o.lab() == "profiling/trace-viewer");
  REQUIRE(remedy.label == "Open Transformer layer");
  remedy.run();
  CHECK(o.lab() == "roofline/transformer-layer");

  o.folder.write("x.png", std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 17));
  REQUIRE(o.w->open("serving/batching"));
  CHECK(o.open("x.png").find("No lab reads \"x.png\": it looks like a picture (PNG). ") == 0);
  o.folder.write("x.csv", std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 17));
  CHECK(o.open("x.csv").find("No lab reads \"x.csv\"") == 0);
  o.folder.write("other.csv", "a,b\n1,2\n");
  REQUIRE(o.w->open("roofline/iron-law"));
  const std::string both = o.open("other.csv");
  CHECK(both.find("No lab reads \"other.csv\": it looks like a text that nothing here knows. Roofline: ") == 0);
  CHECK(both.find(" Batching: ") != std::string::npos);
  CHECK(o.w->files.opened.empty());
}

TEST_CASE("folders, pipes, files that are not there and empty ones are refused at once, and nothing changes") {
  Opener o;
  REQUIRE(o.w->open("roofline/transformer-layer"));
  const auto before = o.w->lab().clone();
  CHECK(o.w->opening.open_and_wait(o.folder.path.string()).error.find("is a folder: choose a file in it.") !=
        std::string::npos);
  REQUIRE(::mkfifo((o.folder / "pipe.json").c_str(), 0600) == 0);
  CHECK(o.open("pipe.json") == "\"pipe.json\" is a device or a pipe: choose a file on the disk.");
  CHECK_FALSE(o.open("none.json").empty());
  o.folder.write("empty.json", "");
  CHECK_FALSE(o.open("empty.json").empty());
  for (const std::string& text : {std::string(100000, '['), std::string("{\"lab\": 7, \"inputs\": 1}"),
                                  std::string("{\"chips\": [{}]}"), std::string("{\"steps\": [[]]}"),
                                  std::string("{\"lab\": \"roofline/roofline\", \"inputs\": {\"measured\": 1}}")}) {
    o.folder.write("bad.json", text);
    const std::string sentence = o.open("bad.json");
    INFO(sentence);
    CHECK(sentence.back() == '.');
    CHECK(sentence.find('\n') == std::string::npos);
  }
  CHECK(o.lab() == "roofline/transformer-layer");
  CHECK(o.w->lab().same_inputs(*before));
}

TEST_CASE("a chip becomes one that every lab offers, and can be taken away again") {
  Opener o;
  o.folder.write("mine.json",
                 R"({"id": "my_chip", "name": "My chip", "vendor": "Me", "architecture": "mine",
                     "confidence": "medium", "year_available": 2025, "peak_flops_per_s": {"bf16": 400e12},
                     "memory_bytes": 64e9, "memory_bandwidth_bytes_per_s": 2e12})");
  REQUIRE(o.w->open("roofline/roofline"));
  o.w->messages().clear();
  CHECK(o.open("mine.json") == "");
  CHECK(o.folder.read("config/chips/mine.json").find("my_chip") != std::string::npos);
  CHECK(o.w->lab().inputs().find("chip")->set_choice_id("my_chip"));
  REQUIRE_FALSE(o.w->messages().empty());
  const app::Message message = o.w->messages().back();
  CHECK(message.text.find("The chip My chip is kept with your own") == 0);
  REQUIRE(message.action.label == "Take it away");
  CHECK(o.w->lab().inputs().find("chip")->set_choice_id("h100_sxm"));
  message.action.run();
  o.w->finish_catalog();
  CHECK_FALSE(std::filesystem::exists(o.folder / "config/chips/mine.json"));
  CHECK_FALSE(o.w->lab().inputs().find("chip")->set_choice_id("my_chip"));
}

TEST_CASE("somebody's scenario that names files asks before it touches them") {
  Opener o;
  o.folder.write("s.json", R"({"lab": "roofline/transformer-layer", "inputs": {"batch": 7, "config": "config.json"}})");
  REQUIRE(o.w->open("roofline/iron-law"));
  CHECK(o.open("s.json") == "");
  REQUIRE(o.w->opening.asked());
  CHECK(o.w->opening.asked()->origin == "s.json");
  CHECK(o.w->opening.asked()->files == std::vector<std::string>{(o.folder / "config.json").string()});
  CHECK(o.lab() == "roofline/iron-law");
  o.w->opening.answer(app::FilesAnswer::cancel);
  CHECK_FALSE(o.w->opening.asked());
  CHECK(o.lab() == "roofline/iron-law");

  CHECK(o.open("s.json") == "");
  o.w->opening.answer(app::FilesAnswer::leave_out);
  CHECK(o.lab() == "roofline/transformer-layer");
  CHECK(o.w->lab().inputs().find("batch")->number() == 7);
  CHECK(o.file_in("config") == "");

  CHECK(o.open("s.json") == "");
  o.w->opening.answer(app::FilesAnswer::open);
  o.w->opening.wait();
  CHECK(o.file_in("config") == "");  // its config is the model now, by name
  REQUIRE(chapters::catalog().model(o.w->lab().inputs().find("model")->choice_id()));
  CHECK(chapters::catalog().own_entry(chapters::OwnEntry::Kind::model, o.w->lab().inputs().find("model")->choice_id()));
  // The person's own list of scenarios does not ask.
  CHECK(o.w->open_scenario(R"({"lab": "roofline/roofline", "inputs": {"measured": ")" +
                           (o.folder / "runs.csv").string() + "\"}}")
            .error == "");
  CHECK_FALSE(o.w->opening.asked());
}

TEST_CASE("a link and a lesson that name files ask, and a file that is not there is said when it is opened") {
  Opener o;
  REQUIRE(o.w->open("roofline/iron-law"));
  CHECK(o.w->open_link("ridgeline://roofline/roofline?measured=/no/such/runs.csv").error == "");
  REQUIRE(o.w->opening.asked());
  CHECK(o.w->opening.asked()->files == std::vector<std::string>{"/no/such/runs.csv"});
  o.w->messages().clear();
  o.w->opening.answer(app::FilesAnswer::open);
  o.w->opening.wait();
  CHECK(o.lab() == "roofline/iron-law");
  REQUIRE(o.w->messages().size() == 1);
  CHECK(o.w->messages()[0].failure);
  CHECK(o.w->messages()[0].text.find("/no/such/runs.csv") != std::string::npos);

  o.folder.write("lesson.json",
                 R"({"id": "x", "title": "X", "steps": [{"lab": "roofline/roofline", "title": "One", "say": "Look.",
                     "inputs": {"measured": "runs.csv"}, "view": {}}]})");
  const auto lessons = o.w->content.lessons.size();
  CHECK(o.open("lesson.json") == "");
  REQUIRE(o.w->opening.asked());
  CHECK(o.w->opening.asked()->files == std::vector<std::string>{(o.folder / "runs.csv").string()});
  CHECK(o.w->content.lessons.size() == lessons);
  o.w->opening.answer(app::FilesAnswer::leave_out);
  REQUIRE(o.w->content.lessons.size() == lessons + 1);
  CHECK(o.w->content.lessons.back().steps[0].inputs.find("runs.csv") == std::string::npos);
}

TEST_CASE("files opened last and folders of exports come back; a bad list of them is set aside") {
  const support::Folder folder;
  app::store::Files files;
  for (int i = 0; i < 20; ++i) files.add_opened("/a/" + std::to_string(i) + ".json");
  files.add_opened("/b/x.csv");
  files.add_opened("/a/19.json");
  files.folder["png"] = "/pictures";
  CHECK(files.opened.size() == app::store::Files::most);
  CHECK(files.opened[0] == "/a/19.json");
  CHECK(files.opened[1] == "/b/x.csv");
  CHECK(files.folders() == std::vector<std::string>{"/a", "/b", "/pictures"});
  CHECK(save(folder / "files.json", files).notice == "");
  app::store::Files again;
  CHECK(load(folder / "files.json", again).notice == "");
  CHECK(again == files);
  folder.write("files.json", R"({"version": 1, "opened": [7, "/a.csv"], "folder": {"png": []}})");
  app::store::Files part;
  CHECK(load(folder / "files.json", part).found == app::store::Found::set_aside);
  CHECK(part.opened == std::vector<std::string>{"/a.csv"});
}

TEST_CASE("a file is known by its content, whatever it is called, and the open lab has the first word") {
  using chapters::FileKind;
  Opener o;
  struct Row {
    FileKind kind;
    const char *name, *lab, *key;
  };
  for (const Row& row : {Row{FileKind::topology_table, "topo.txt", "distributed/topology", "file"},
                         Row{FileKind::collective_log, "nccl.log", "distributed/collectives", "log_file"},
                         Row{FileKind::allocator_events, "events.dat", "framework/allocator", "snapshot"},
                         Row{FileKind::memory_timeline, "timeline", "framework/memory-timeline", "file"},
                         Row{FileKind::kernel_measurements, "measured.log", "roofline/roofline", "measured"}}) {
    INFO(row.name);
    o.folder.write(row.name, support::sample_file(row.kind));
    REQUIRE(o.w->open("roofline/iron-law"));
    CHECK(o.open(row.name) == "");
    CHECK(o.lab() == row.lab);
    CHECK(o.file_in(row.key) == (o.folder / row.name).string());
  }
  // Arrivals without the ids of their prompts' blocks are not for the lab that asks for these.
  o.folder.write("requests.json", "time,prompt,output\n0,100,20\n1,200,30\n");
  REQUIRE(o.w->open("roofline/iron-law"));
  CHECK(o.open("requests.json") == "");
  support::take_reader(*o.w, "serving/batching");
  CHECK(o.lab() == "serving/batching");
  CHECK(o.file_in("trace") == (o.folder / "requests.json").string());
  o.folder.write("acme.txt", support::sample_file(FileKind::model_config));
  REQUIRE(o.w->open("roofline/iron-law"));
  CHECK(o.open("acme.txt") == "");
  CHECK(o.lab() == "roofline/transformer-layer");
  CHECK(o.w->lab().inputs().find("model")->choice_id() == "acme");
  o.folder.write("snap.json.gz", support::gzipped(support::sample_file(FileKind::memory_snapshot)));
  for (const char* open : {"framework/memory-timeline", "framework/allocator"}) {
    REQUIRE(o.w->open(open));
    CHECK(o.open("snap.json.gz") == "");
    CHECK(o.lab() == open);
    CHECK_FALSE(o.w->opening.asked_reader());
  }
}

TEST_CASE("where several labs read a file the person says which, or none; each button opens it") {
  Opener o;
  o.folder.write("snap", support::sample_file(chapters::FileKind::memory_snapshot));
  for (const std::size_t chosen : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    REQUIRE(o.w->open("roofline/iron-law"));
    CHECK(o.open("snap") == "");
    REQUIRE(o.w->opening.asked_reader());
    CHECK(o.w->opening.asks());
    const app::FoundReaders& found = o.w->opening.asked_reader()->found;
    CHECK(found.looks_like == "a memory snapshot of PyTorch");
    REQUIRE(found.readers.size() == 2);
    const std::string lab = chosen < 2 ? found.readers[chosen].lab : "roofline/iron-law";
    const std::string key = chosen < 2 ? found.readers[chosen].key : "";
    CHECK(o.lab() == "roofline/iron-law");
    o.w->opening.choose_reader(chosen);
    CHECK_FALSE(o.w->opening.asks());
    CHECK(o.lab() == lab);
    if (!key.empty()) CHECK(o.file_in(key.c_str()) == (o.folder / "snap").string());
  }
  CHECK(o.w->files.opened.size() == 1);
}

TEST_CASE("what no lab reads is named by what it looks like, with who reads similar things") {
  Opener o;
  o.folder.write("fr.json", R"({"version": "2.10", "pg_config": {}, "entries": []})");
  CHECK(o.open("fr.json").find("Hang does not take \"fr.json\": No dump holds a record of a call") == 0);
  o.folder.write("bench.log", "============ Serving Benchmark Result ============\nSuccessful requests: 7\n");
  CHECK(o.open("bench.log") ==
        "Batching does not take \"bench.log\": The run that begins in line 1 does not say how long it took.");
  o.folder.write("snap.pickle", std::string("\x80\x04\x95\x10\0\0\0\0\0\0\0}\x94(\x8c\x08segments\x94]", 24));
  const std::string pickle = o.open("snap.pickle");
  CHECK(pickle.find("Allocator: This is a pickle") != std::string::npos);
  CHECK(pickle.find("json.dump") != std::string::npos);
  o.folder.write("diary.txt", "dear diary\n");
  // A text is tried in each lab that reads such texts; where many refuse it, they are named, and what it looks like.
  const std::string diary = o.open("diary.txt");
  CHECK(diary.starts_with("No lab reads \"diary.txt\": it looks like a text that nothing here knows. "));
  CHECK(diary.find("Topology") != std::string::npos);
  CHECK(diary.find("open one of these labs and then the file") != std::string::npos);
  CHECK(diary.size() < 300);
}

TEST_CASE("the list of files to open has the suffixes of all that labs read") {
  Opener o;
  const auto suffixes = o.w->opening.suffixes();
  for (const char* suffix :
       {".json", ".json.gz", ".gz", ".sqlite", ".csv", ".jsonl", ".safetensors", ".pickle", ".pkl", ".log", ".txt"}) {
    INFO(suffix);
    CHECK(std::find(suffixes.begin(), suffixes.end(), suffix) != suffixes.end());
  }
}

TEST_CASE("a file with a byte order mark or in UTF-16 is the same file") {
  Opener o;
  const auto units = [](const std::string& text) {
    std::string out = "\xFF\xFE";
    for (const char c : text) out += std::string{c, '\0'};
    return out;
  };
  for (const chapters::FileKind kind : support::sampled_kinds) {
    if (kind == chapters::FileKind::safetensors) continue;
    INFO(static_cast<int>(kind));
    const std::string text = support::sample_file(kind);
    std::vector<std::string> labs;
    for (const std::string& written : {text, "\xEF\xBB\xBF" + text, units(text)}) {
      o.folder.write("file", written);
      REQUIRE(o.w->open("roofline/iron-law"));
      CHECK(o.open("file") == "");
      if (o.w->opening.asked_reader()) o.w->opening.choose_reader(0);
      labs.push_back(o.lab());
    }
    CHECK(labs == std::vector<std::string>(3, labs[0]));
    CHECK(labs[0] != "roofline/iron-law");
  }
}
