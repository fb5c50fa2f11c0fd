
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/scenario/scenario.h"
#include "chapters/mechanism/catalog.h"
#include "tests/support/base/files.h"
#include "tests/support/lab/cli_run.h"

using support::Ran;
using support::refused_by_cli;
using support::run_cli;

using app::Json;
using Catch::Approx;
using support::Folder;

namespace {

std::vector<std::string> eval(std::vector<std::string> rest) {
  rest.insert(rest.begin(), "eval");
  return rest;
}

/// The bytes of a 7B-class Llama, as a person's file would read: parameters are checked against the published
/// 6,738,415,616.
constexpr const char* llama_2_7b =
    R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
  "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 32000, )"
    R"("max_position_embeddings": 4096,
  "tie_word_embeddings": false, "rms_norm_eps": 1e-05, "hidden_act": "silu", "torch_dtype": "float16"})";

}  // namespace

TEST_CASE("help and version go to standard output; help names every call of the program") {
  for (const char* word : {"--help", "-h", "help"}) {
    const Ran r = run_cli({word});
    CHECK(r.status == 0);
    CHECK(r.error == "");
    for (const char* call : {"list", "eval", "render", "tour", "sweep", "solve", "sensitivity", "check"})
      CHECK(r.out.find(std::string("ridgeline ") + call) != std::string::npos);
  }
  CHECK(run_cli({"--version"}).out.find("ridgeline 0.") == 0);
  CHECK(run_cli({"eval", "--help"}).out.find("ridgeline eval LAB") == 0);
  CHECK(run_cli({"roofline/roofline", "--help"}).out.find("--set chip=") != std::string::npos);
}

TEST_CASE("list is a line a lab; of one lab inputs with key, unit and range, outputs and presets; JSON has all") {
  const Ran brief = run_cli({"list"});
  CHECK(brief.status == 0);
  CHECK(brief.out.find("\n  roofline/roofline ") != std::string::npos);
  CHECK(brief.out.find("Which ceiling stops this operation") != std::string::npos);
  CHECK(brief.out.find("--set") == std::string::npos);
  // A line a lab, one for its chapter, and none that begins with more than two spaces: nothing of a lab's own.
  CHECK(brief.out.find("\n   ") == std::string::npos);
  const Ran text = run_cli({"list", "roofline/roofline"});
  CHECK(text.status == 0);
  CHECK(text.out.find("--set chip=") != std::string::npos);
  CHECK(text.out.find("\n  intensity   Arithmetic intensity, FLOP/B\n") != std::string::npos);
  CHECK(text.out.find("--preset \"Four generations\"") != std::string::npos);
  CHECK(text.out.find("iron-law") == std::string::npos);
  CHECK(refused_by_cli({"list", "roofline/rofline"}).find("did you mean \"roofline/roofline\"?") != std::string::npos);
  const Ran r = run_cli({"list", "--json"});
  REQUIRE(r.status == 0);
  const Json doc = Json::parse(r.out);
  const auto chapter = std::find_if(doc.begin(), doc.end(), [](const Json& c) { return c["chapter"] == "roofline"; });
  REQUIRE(chapter != doc.end());
  bool found = false;
  for (const auto& lab : (*chapter)["labs"]) {
    if (lab["id"] != "roofline/roofline") continue;
    found = true;
    for (const auto& in : lab["inputs"]) {
      if (in["key"] == "bytes") {
        CHECK(in["unit"] == "B");
        CHECK(in["range"].size() == 2);
        CHECK(in["scale"] == "log");
      }
      if (in["key"] == "chip")
        CHECK(std::find(in["options"].begin(), in["options"].end(), "h100_sxm") != in["options"].end());
    }
    REQUIRE(lab["presets"].size() > 3);
    for (const auto& preset : lab["presets"]) {
      CHECK_FALSE(preset["name"].get<std::string>().empty());
      CHECK(preset["set"].is_object());
    }
    std::vector<std::string> outputs;
    for (const auto& out : lab["outputs"]) outputs.push_back(out["key"]);
    for (const char* key : {"intensity", "ridge", "attainable_flops_per_s", "time_s", "regime"})
      CHECK(std::find(outputs.begin(), outputs.end(), key) != outputs.end());
  }
  CHECK(found);
}

// 2 x 4096^3 flops over 3 x 2 x 4096^2 bytes is an intensity of n / 3 = 1365.33; H100 SXM: 989.4e12 / 3.35e12 = 295.3
// (NVIDIA datasheet).
TEST_CASE("eval prints the contract's keys of the roofline lab, with quantities in SI") {
  const Ran r =
      run_cli(eval({"roofline/roofline", "--set", "chip=h100_sxm", "--set", "format=bf16", "--set", "operation=custom",
                    "--set", "flops=137.438953472 GFLOP", "--set", "bytes=100.663296MB", "--json"}));
  CHECK(r.error == "");
  REQUIRE(r.status == 0);
  const Json doc = Json::parse(r.out);
  CHECK(doc["lab"] == "roofline/roofline");
  CHECK(doc["feasible"] == true);
  CHECK(doc["reason"] == "");
  CHECK(doc["inputs"]["chip"] == "h100_sxm");
  CHECK(doc["inputs"]["flops"] == 137438953472.0);
  CHECK(doc["inputs"]["bytes"] == 100663296.0);
  CHECK(doc["outputs"]["intensity"].get<double>() == Approx(4096.0 / 3));
  CHECK(doc["outputs"]["ridge"].get<double>() == Approx(295.3).epsilon(1e-3));
  CHECK(doc["outputs"]["attainable_flops_per_s"].get<double>() == Approx(989.4e12).epsilon(1e-3));
  CHECK(doc["outputs"]["time_s"].get<double>() >= 137438953472.0 / 989.5e12);
  CHECK(doc["outputs"]["regime"] == "compute");
  const Ran text = run_cli(eval({"roofline/roofline"}));
  CHECK(text.status == 0);
  CHECK(text.out.find("-> intensity = ") != std::string::npos);
}

// Parameters: 6,738,415,616 as published for Llama-2-7B. The main job of the transformer lab on a real file.
TEST_CASE("eval of the transformer layer takes a config.json and prints the contract's keys") {
  const Folder folder;
  folder.write("config.json", llama_2_7b);
  const Ran r = run_cli(eval({"roofline/transformer-layer", "--set", "config=" + (folder / "config.json").string(),
                              "--set", "chip=h100_sxm", "--set", "phase=decode", "--json"}));
  CHECK(r.error == "");
  REQUIRE(r.status == 0);
  const Json doc = Json::parse(r.out);
  CHECK(doc["outputs"]["parameters_total"] == 6738415616);
  CHECK(doc["outputs"]["parameters_active"] == 6738415616);
  for (const char* key : {"flops_per_token", "flops_total", "bytes_total", "time_s"}) {
    INFO(key);
    CHECK(doc["outputs"][key].get<double>() > 0);
  }
  CHECK(doc["outputs"]["operations"].size() > 5);
  CHECK(doc["inputs"]["phase"] == "decode");
  // Decode at batch 1 reads every weight: 13.48 GB in 16 bits at 3.35 TB/s is at least 4.0 ms.
  CHECK(doc["outputs"]["time_s"].get<double>() > 3.9e-3);
}

TEST_CASE("a deep link is as good as a lab with --set, and later settings win") {
  const Ran r = run_cli(
      eval({"roofline/roofline?chip=b200_sxm&operation=custom&flops=1e12", "--set", "chip=a100_80_sxm", "--json"}));
  REQUIRE(r.status == 0);
  CHECK(Json::parse(r.out)["inputs"]["chip"] == "a100_80_sxm");
  CHECK(Json::parse(r.out)["inputs"]["flops"] == 1e12);
  CHECK(run_cli(eval({"ridgeline://roofline/roofline?chip=b200_sxm", "--json"})).status == 0);
}

TEST_CASE("a scenario file sets what it says, and --set goes over it") {
  const Folder folder;
  folder.write("s.json",
               R"({"lab": "roofline/roofline", "version": 1, "inputs": {"chip": "a100_80_sxm", "operation": "custom", )"
               R"("bytes": 2e9}})");
  const Ran r = run_cli(eval({"--scenario", (folder / "s.json").string(), "--set", "bytes=3GB", "--json"}));
  CHECK(r.error == "");
  REQUIRE(r.status == 0);
  CHECK(Json::parse(r.out)["inputs"]["chip"] == "a100_80_sxm");
  CHECK(Json::parse(r.out)["inputs"]["bytes"] == 3e9);
  CHECK(refused_by_cli(eval({"roofline/transformer-layer", "--scenario", (folder / "s.json").string()})) ==
        "The scenario is for roofline/roofline, not for roofline/transformer-layer.");
}

TEST_CASE("bad input is one sentence that names what, where and what is allowed") {
  CHECK(refused_by_cli({"evaluate", "roofline/roofline"}) ==
        "There is no lab \"evaluate\". `ridgeline list` names all.");  // a lab and a file for it
  CHECK(refused_by_cli({"evel"}) == "There is no command \"evel\": did you mean \"eval\"?");
  CHECK(refused_by_cli({"eval", "roofline"}).find("\"roofline\" is a chapter: name one of its labs, roofline/") == 0);
  CHECK(refused_by_cli({"iron-law"}) ==
        "There is no lab \"iron-law\": did you mean \"roofline/iron-law\"? `ridgeline list` names all.");
  CHECK(refused_by_cli(eval({"roofline/roofline", "--set", "chip=H100"})) ==
        "chip is \"H100\": did you mean \"h100_sxm\", \"h100_nvl\" or \"h100_pcie\"? `ridgeline list LAB` names all " +
            std::to_string(chapters::catalog().chip_choices.size()) + ".");
  CHECK(refused_by_cli(eval({"roofline/roofline", "--preset", "four generation"}))
            .find("roofline/roofline has no preset \"four generation\": did you mean \"Four generations\"? It has ") ==
        0);
  CHECK(refused_by_cli({"roofline/rofline"}) ==
        "There is no lab \"roofline/rofline\": did you mean \"roofline/roofline\"? `ridgeline list` names all.");
  CHECK(refused_by_cli(eval({})) == "Name a lab: `ridgeline list` shows them all.");
  CHECK(refused_by_cli(eval({"nothing/like-it"})) ==
        "There is no lab \"nothing/like-it\". `ridgeline list` names all.");
  CHECK(refused_by_cli(eval({"roofline/roofline", "--sett", "chip=x"})) ==
        "There is no option --sett here: did you mean \"--set\"? Allowed are --set, --preset, --scenario and --json.");
  CHECK(refused_by_cli(eval({"roofline/roofline", "--set"})) == "--set needs a value after it.");
  CHECK(refused_by_cli(eval({"roofline/roofline", "--set", "chip"})) == "--set needs key=value; it is \"chip\".");
  CHECK(refused_by_cli(eval({"roofline/roofline", "again"})) ==
        "The file again cannot be opened: check the path and that it may be read.");  // a file for the lab
  CHECK(refused_by_cli(eval({"roofline/roofline", "a", "b"})).find("\"b\" is one word too many") == 0);
  CHECK(refused_by_cli(eval({"roofline/roofline", "--set", "chp=h100_sxm"}))
            .find("roofline/roofline has no input \"chp\": did you mean \"chip\"? It has ") == 0);
  CHECK(refused_by_cli(eval({"roofline/roofline", "--set", "chip=h9000"})).find("chip is \"h9000\": allowed are ") ==
        0);
  CHECK(refused_by_cli(eval({"roofline/roofline", "--set", "bytes=lots"})).find("bytes: ") == 0);
  CHECK(refused_by_cli(eval({"roofline/roofline", "--set", "bytes=3 s"})).find("bytes: ") == 0);
  CHECK(refused_by_cli(eval({"roofline/roofline", "--set", "bytes=-1"})).find("bytes is -1") == 0);
  CHECK(refused_by_cli(eval({"roofline/roofline", "--set", "bytes=nan"})).find("bytes: ") == 0);
  CHECK(refused_by_cli(eval({"roofline/roofline", "--set", "bytes=1e999"})).find("bytes") == 0);
  CHECK(refused_by_cli(eval({"roofline/roofline", "--set", "batch=1.5"}))
            .find("batch is 1.5: a whole number from 1 to ") == 0);
}

TEST_CASE("hostile scenario and input files end in a sentence") {
  const Folder folder;
  const auto scenario = [&](const std::string& text) {
    folder.write("s.json", text);
    return refused_by_cli(eval({"--scenario", (folder / "s.json").string()}));
  };
  CHECK(scenario("{").find("The scenario is not a JSON object") == 0);
  CHECK(scenario("\xff\xfe{}").find("The scenario is not a JSON object") == 0);
  CHECK(scenario(std::string(200000, '[')).find("nested deeper than 64 levels") != std::string::npos);
  CHECK(scenario(R"({"lab": "roofline/roofline", "inputs": {"chip": 7}})").find("chip is 7: allowed are ") == 0);
  CHECK(scenario(R"({"lab": "roofline/roofline", "inputs": {"chip": "h100_sxm", "bogus": 1}})")
            .find("roofline/roofline has no input \"bogus\"") == 0);
  CHECK(scenario(R"({"lab": "roofline/roofline", "inputs": [], "view": {}})") ==
        "inputs is []: an object of keys and values is expected.");
  CHECK(scenario(R"({"lab": "roofline/roofline", "inputs": {}, "view": {"zoom of it": 1}})")
            .find("has no view setting") != std::string::npos);
  CHECK(refused_by_cli(eval({"--scenario", (folder / "none.json").string()})) ==
        "The file " + (folder / "none.json").string() + " cannot be opened: check the path and that it may be read.");
  folder.write("empty.json", "");
  CHECK(refused_by_cli(eval({"--scenario", (folder / "empty.json").string()})).find("is empty or cannot be read") !=
        std::string::npos);
  CHECK(refused_by_cli(eval({"--scenario", folder.path.string()})).find(folder.path.string()) != std::string::npos);
  CHECK(refused_by_cli(eval({"roofline/transformer-layer", "--set", "config=" + (folder / "none.json").string()}))
            .find("config: The file ") == 0);
}

TEST_CASE(
    "a config.json that cannot be read is bad input: a sentence, exit status 2 and nothing printed, in every call") {
  const Folder folder;
  const auto call = [&](const std::string& text, std::vector<std::string> words) {
    folder.write("config.json", text);
    words.insert(words.end(), {"--set", "config=" + (folder / "config.json").string()});
    return refused_by_cli(words);
  };
  const std::string mamba = R"({"model_type": "mamba", "hidden_size": 2048})";
  for (const std::string& text : {mamba, std::string("{\"model_type\": \"lla"), std::string("\0\1\xff", 3),
                                  std::string("[1, 2]"), std::string(300, '[')})
    CHECK(call(text, {"eval", "roofline/transformer-layer", "--json"}).find("config: ") == 0);
  CHECK(call(mamba, {"eval", "roofline/transformer-layer"}).find("mamba") != std::string::npos);
  CHECK(call(mamba, {"sweep", "roofline/transformer-layer", "--over", "batch=1:8:3", "--output", "time_s"})
            .find("mamba") != std::string::npos);
  CHECK(call(mamba, {"sensitivity", "roofline/transformer-layer", "--output", "time_s"}).find("mamba") !=
        std::string::npos);
  CHECK(call(mamba, {"render", "roofline/transformer-layer", "-o", (folder / "x.png").string()}).find("mamba") !=
        std::string::npos);
}

// The A100 has no FP8 units (NVIDIA A100 datasheet), so that format is a state which the model refuses.
TEST_CASE("what is not feasible exits with 1 and says why on standard error, in eval, sweep and sensitivity") {
  const std::vector<std::string> state = {"roofline/roofline", "--set", "chip=a100_80_sxm", "--set", "format=fp8"};
  const auto call = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), state.begin(), state.end());
    words.insert(words.end(), more.begin(), more.end());
    return run_cli(words);
  };
  const Ran as_json = call({"eval"}, {"--json"});
  const Json doc = Json::parse(as_json.out);
  REQUIRE(doc["feasible"] == false);
  const std::string reason = doc["reason"].get<std::string>() + "\n";
  CHECK(reason.find("states no dense FP8 peak") != std::string::npos);
  CHECK(as_json.status == 1);
  CHECK(as_json.error == reason);
  CHECK(doc["outputs"]["time_s"].is_null());
  const Ran text = call({"eval"}, {});
  CHECK(text.status == 1);
  CHECK(text.error == reason);
  CHECK(text.out.find("->") == std::string::npos);
  const Ran swept = call({"sweep"}, {"--over", "bytes=1e9:4e9:3", "--output", "time_s"});
  CHECK(swept.status == 1);
  CHECK(swept.error == reason);
  const Ran moved = call({"sensitivity"}, {"--output", "time_s"});
  CHECK(moved.status == 1);
  CHECK(moved.error == reason);
  CHECK(moved.out == "");
  // Some points alone are no failure: they are counted, and the first is explained.
  const Ran some = call({"sweep"}, {"--over", "format=bf16,fp8,int8", "--output", "time_s"});
  CHECK(some.status == 0);
  CHECK(some.error == "1 of 3 points have no value; at the first of them: " + reason);
}

TEST_CASE("a preset is a start that --set goes over") {
  const Ran r = run_cli(eval({"roofline/roofline", "--preset", "Fuse attention", "--set", "chip=b200_sxm", "--json"}));
  CHECK(r.error == "");
  REQUIRE(r.status == 0);
  CHECK(Json::parse(r.out)["inputs"]["chip"] == "b200_sxm");
  CHECK_FALSE(Json::parse(r.out)["inputs"]["operation"] ==
              Json::parse(run_cli(eval({"roofline/roofline", "--json"})).out)["inputs"]["operation"]);
}

TEST_CASE("paths in a scenario file count from its folder, wherever the program was started") {
  const Folder folder;
  std::filesystem::create_directory(folder / "mine");
  folder.write("mine/config.json", llama_2_7b);
  folder.write("mine/s.json", R"({"lab": "roofline/transformer-layer", "inputs": {"config": "config.json"}})");
  const Ran r = run_cli(eval({"--scenario", (folder / "mine/s.json").string(), "--json"}));
  CHECK(r.error == "");
  REQUIRE(r.status == 0);
  CHECK(Json::parse(r.out)["outputs"]["parameters_total"] == 6738415616);
}

TEST_CASE("a path that is not UTF-8 is shown as well as it can be and stops nothing") {
  const Folder folder;
  folder.write("config-\xff.json", llama_2_7b);
  const Ran r = run_cli(
      eval({"roofline/transformer-layer", "--set", "config=" + (folder / "config-\xff.json").string(), "--json"}));
  CHECK(r.error == "");
  REQUIRE(r.status == 0);
  CHECK(Json::parse(r.out)["outputs"]["parameters_total"] == 6738415616);
}

TEST_CASE("sweep gives CSV with one line a point, and the same as JSON") {
  const std::vector<std::string> call = {"sweep",    "roofline/roofline", "--set",  "operation=custom",
                                         "--set",    "flops=1e12",        "--over", "bytes=1e9:4e9:4",
                                         "--output", "intensity"};
  const Ran csv = run_cli(call);
  CHECK(csv.error == "");
  CHECK(csv.status == 0);
  CHECK(csv.out == "bytes,intensity\n1e+09,1000\n2e+09,500\n3e+09,333.3333333333333\n4e+09,250\n");
  auto with_json = call;
  with_json.push_back("--json");
  const Json doc = Json::parse(run_cli(with_json).out);
  CHECK(doc["lab"] == "roofline/roofline");
  CHECK(doc["output"] == "intensity");
  REQUIRE(doc["points"].size() == 4);
  CHECK(doc["points"][1] == Json({{"bytes", 2e9}, {"intensity", 500.0}}));
  const Ran two = run_cli(
      {"sweep", "roofline/roofline", "--over", "chip=a100_80_sxm,h100_sxm", "--over", "kv_reads", "--output", "ridge"});
  CHECK(two.status == 0);
  CHECK(std::count(two.out.begin(), two.out.end(), '\n') == 5);
  CHECK(two.out.find("chip,kv_reads,ridge\na100_80_sxm,false,") == 0);
  CHECK(refused_by_cli({"sweep", "roofline/roofline", "--output", "ridge"}) ==
        "sweep needs --over key=LO:HI:N, once or twice.");
  CHECK(refused_by_cli({"sweep", "roofline/roofline", "--over", "bytes=1:2:3"}).find("sweep needs --output KEY: ") ==
        0);
  CHECK(refused_by_cli({"sweep", "roofline/roofline", "--over", "bytes=2:1:3", "--output", "ridge"})
            .find("bytes can be swept from ") == 0);
  CHECK(refused_by_cli({"sweep", "roofline/roofline", "--over", "bytes=1:2:3", "--output", "rigde"})
            .find("did you mean \"ridge\"?") != std::string::npos);
}

// At 1e12 flops, an intensity of 500 FLOP/B is 2 GB.
TEST_CASE("solve finds the input, or says why none does and exits with 1") {
  const std::vector<std::string> call = {"solve",    "roofline/roofline", "--set", "operation=custom",
                                         "--set",    "flops=1e12",        "--for", "bytes=1e8:1e11",
                                         "--output", "intensity=500",     "--json"};
  const Ran r = run_cli(call);
  CHECK(r.error == "");
  REQUIRE(r.status == 0);
  const Json doc = Json::parse(r.out);
  CHECK(doc["found"] == true);
  CHECK(doc["bytes"].get<double>() == Approx(2e9).epsilon(1e-6));
  auto hopeless = call;
  hopeless[7] = "bytes=1e8:1e9";
  const Ran none = run_cli(hopeless);
  CHECK(none.status == 1);
  CHECK(Json::parse(none.out)["found"] == false);
  CHECK(Json::parse(none.out)["why"].get<std::string>().find("stays between") != std::string::npos);
  CHECK(refused_by_cli({"solve", "roofline/roofline", "--output", "ridge=1"}) == "solve needs --for key=LO:HI.");
  CHECK(refused_by_cli({"solve", "roofline/roofline", "--for", "bytes=1:9", "--output", "ridge"}) ==
        "solve needs --output KEY=VALUE, such as --output time_s=0.01.");
  CHECK(refused_by_cli({"solve", "roofline/roofline", "--for", "chip", "--output", "ridge=1"}) ==
        "chip is not a number: solve needs one.");
}

TEST_CASE("sensitivity lists the inputs, the one that moves the output most first") {
  const Ran csv = run_cli({"sensitivity", "roofline/roofline", "--set", "operation=custom", "--output", "intensity"});
  CHECK(csv.error.find(" inputs are left out: none of them moves intensity.\n") != std::string::npos);
  CHECK(csv.out.find("\nlaunch_cost,") == std::string::npos);  // it moves the time alone
  CHECK(csv.out.find("\nbytes,") != std::string::npos);
  CHECK(csv.status == 0);
  CHECK(csv.out.find("input,low_input,high_input,low_intensity,high_intensity\n") == 0);
  const Json doc = Json::parse(
      run_cli({"sensitivity", "roofline/roofline", "--set", "operation=custom", "--output", "intensity", "--json"})
          .out);
  CHECK(doc["inputs"].size() > 3);
  const auto moved = [](const Json& row) {
    return std::abs(row["high_output"].get<double>() - row["low_output"].get<double>());
  };
  CHECK(moved(doc["inputs"][0]) >= moved(doc["inputs"][1]));
  CHECK(moved(doc["inputs"][0]) > 0);
  CHECK(refused_by_cli({"sensitivity", "roofline/roofline", "--output", "regime"}) ==
        "regime is not a number: sensitivity needs one.");
}

TEST_CASE("what is said twice, and an output without a place, are refused with a sentence") {
  CHECK(refused_by_cli({"eval", "roofline/roofline", "--preset", "FP4 on Blackwell", "--preset", "Fuse attention"})
            .find("--preset is given twice: it takes one value.") != std::string::npos);
  CHECK(refused_by_cli({"eval", "roofline/roofline", "--set", "m=1", "--set", "m=2"}).find("m is set twice.") !=
        std::string::npos);
  CHECK(refused_by_cli({"tour", "-o", ""}).find("-o needs the name of a file or a folder.") != std::string::npos);
  CHECK(refused_by_cli({"tour", "-o", "http://example.org/x"}).find("an address cannot be written to") !=
        std::string::npos);
}
