#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "app/platform/json.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/cli_run.h"

using app::Json;
using support::Ran;
using support::run_cli;

TEST_CASE("plan ranks what fits and says what the second lost") {
  const Ran r =
      run_cli({"plan", "--model", "llama-3-8b", "--chip", "h100_sxm", "--gpus", "8", "--batch", "128", "--top", "3"});
  INFO(r.out);
  CHECK(r.status == 0);
  CHECK(r.error == "");
  CHECK(r.out.find(" plans can run, ") != std::string::npos);
  CHECK(r.out.find(" fit 78 GB a GPU, with 2 GB kept free.") != std::string::npos);
  CHECK(r.out.find("The second lost ") != std::string::npos);
  CHECK(r.out.find("\n  3 ") != std::string::npos);
  CHECK(r.out.find("\n  4 ") == std::string::npos);
}

TEST_CASE("plan as JSON has the keys of the lab, in order of time, and seconds that add up") {
  const Ran r = run_cli({"plan", "--model", "llama-3-70b", "--chip", "h100_sxm", "--gpus", "64", "--json"});
  REQUIRE(r.status == 0);
  const Json doc = Json::parse(r.out);
  CHECK(doc["plans_fit"].get<int>() <= doc["plans_total"].get<int>());
  REQUIRE(doc["plans"].size() == 10);
  double before = 0;
  for (const Json& plan : doc["plans"]) {
    CHECK(plan["step_time_s"].get<double>() >= before);
    before = plan["step_time_s"].get<double>();
    CHECK(plan["fits"].get<bool>());
    CHECK(plan["memory_bytes"].get<double>() <= 80e9);
    CHECK(plan["tensor_parallel"].get<int>() * plan["context_parallel"].get<int>() *
              plan["pipeline_parallel"].get<int>() * plan["data_parallel"].get<int>() ==
          64);
    double sum = 0;
    for (const auto& [cause, seconds] : plan["seconds"].items()) sum += seconds.get<double>();
    CHECK(support::near(sum, before, 1e-9));
  }
}

TEST_CASE("plan refuses bad input in one sentence, and says what cannot be") {
  const auto refused = [](std::vector<std::string> options) {
    options.insert(options.begin(), "plan");
    const Ran r = run_cli(options);
    CHECK(r.out == "");
    CHECK(r.status == 2);
    return r.error;
  };
  CHECK(refused({"--chip", "h100_sxm", "--gpus", "8"}).find("plan needs --model") != std::string::npos);
  CHECK(refused({"--model", "nothing", "--chip", "h100_sxm", "--gpus", "8"}).find("nothing") != std::string::npos);
  CHECK(refused({"--model", "llama-3-8b", "--chip", "h100_sxm", "--gpus", "0"}).find("from 1 to 1,000,000") !=
        std::string::npos);
  CHECK(refused({"--model", "llama-3-8b", "--chip", "h100_sxm", "--gpus", "8", "--format", "int8"})
            .find("bf16, fp8 or fp4") != std::string::npos);
  CHECK(refused({"--model", "llama-3-8b", "--chip", "a100_80_sxm", "--gpus", "8", "--format", "fp8"})
            .find("no peak for FP8") != std::string::npos);
  const Ran none = run_cli({"plan", "--model", "llama-3-70b", "--chip", "h100_sxm", "--gpus", "8"});
  CHECK(none.status == 1);
  CHECK(none.error.find("plans fits 78 GB a GPU; the least that one needs is ") != std::string::npos);
  const Ran cannot = run_cli({"plan", "--model", "llama-3-8b", "--chip", "h100_sxm", "--gpus", "1021", "--batch", "7"});
  CHECK(cannot.status == 1);
  CHECK(cannot.error.find("is no multiple of the replicas of any plan; 1021 would be.") != std::string::npos);
}

TEST_CASE("plan prices your own plan and leads from it to the fastest") {
  const std::vector<std::string> job{
      "plan", "--model", "llama-3-70b", "--chip", "h100_sxm", "--gpus", "64", "--plan", "tp=8,pp=4,recompute=full"};
  const Ran r = run_cli(job);
  INFO(r.out);
  CHECK(r.status == 0);
  CHECK(r.out.find("Your plan, TP 8 x PP 4 x DP 2 (") != std::string::npos);
  CHECK(r.out.find("; rank ") != std::string::npos);
  CHECK(r.out.find("Against the fastest it loses:") != std::string::npos);
  CHECK(r.out.find("The way to the fastest, one change at a time:") != std::string::npos);
  CHECK(r.out.find("layers recomputed to ") != std::string::npos);
  std::vector<std::string> with_json = job;
  with_json.push_back("--json");
  const Json doc = Json::parse(run_cli(with_json).out);
  double at_s = doc["yours"]["step_time_s"].get<double>();
  REQUIRE(doc["yours"]["way"].size() > 1);
  for (const Json& step : doc["yours"]["way"]) at_s -= step["gain_s"].get<double>();
  CHECK(support::near(at_s, doc["plans"][0]["step_time_s"].get<double>(), 1e-9));
  // The same on other software and another network.
  const Ran slow = run_cli({"plan", "--model", "llama-3-8b", "--chip", "h100_sxm", "--gpus", "64", "--batch", "64",
                            "--software", "fsdp_compiled", "--port", "3.125e9", "--latency", "30e-6", "--json"});
  const Ran fast = run_cli({"plan", "--model", "llama-3-8b", "--chip", "h100_sxm", "--gpus", "64", "--batch", "64",
                            "--software", "fsdp_compiled", "--json"});
  REQUIRE(slow.status == 0);
  CHECK(Json::parse(slow.out)["plans"][0]["step_time_s"].get<double>() >
        Json::parse(fast.out)["plans"][0]["step_time_s"].get<double>());
}

// What `ridgeline help plan` says that a plan may have.
TEST_CASE("plan takes every word of its help") {
  const auto yours = [](const std::string& model, const std::string& gpus, const std::string& plan,
                        std::vector<std::string> more = {}) {
    std::vector<std::string> call{"plan",    "--model", model,   "--chip", "h100_sxm", "--gpus", gpus,
                                  "--batch", "32",      "--top", "1",      "--plan",   plan,     "--json"};
    call.insert(call.end(), more.begin(), more.end());
    const Ran r = run_cli(call);
    INFO(plan << " " << r.error);
    REQUIRE(r.out != "");
    return Json::parse(r.out)["yours"];
  };
  const std::string help = run_cli({"help", "plan"}).out;
  const std::size_t from = help.find("order=") + 6;
  std::string orders = help.substr(from, help.find_first_of(" \n", from) - from) + "|";
  std::size_t tried = 0;
  for (std::size_t bar = orders.find('|'); bar != std::string::npos; bar = orders.find('|')) {
    const std::string order = orders.substr(0, bar);
    orders.erase(0, bar + 1);
    const bool loops = order == "interleaved_zb" || order == "breadth_first";
    const Json plan = yours("llama-3.2-1b", "8", "pp=4,mbs=2,order=" + order + (loops ? ",vp=2" : ""));
    CHECK(plan["step_time_s"].get<double>() > 0);
    ++tried;
  }
  CHECK(tried == 11);
  // Modules alone and together: each costs time and spares memory.
  const Json kept = yours("llama-3.2-1b", "8", "tp=2");
  double all_bytes = kept["memory_bytes"].get<double>();
  for (const std::string modules : {"norms", "activation", "mlp", "norms+activation", "norms+activation+mlp"}) {
    const Json plan = yours("llama-3.2-1b", "8", "tp=2,recompute=" + modules);
    CHECK(plan["memory_bytes"].get<double>() < kept["memory_bytes"].get<double>());
    CHECK(plan["step_time_s"].get<double>() > kept["step_time_s"].get<double>());
    all_bytes = std::min(all_bytes, plan["memory_bytes"].get<double>());
  }
  CHECK(all_bytes == yours("llama-3.2-1b", "8", "tp=2,recompute=block")["memory_bytes"].get<double>());
  CHECK(yours("llama-3.2-1b", "8", "tp=2,recompute=attention", {"--software", "megatron_2022"})["memory_bytes"] <
        yours("llama-3.2-1b", "8", "tp=2", {"--software", "megatron_2022"})["memory_bytes"]);
  const Json split = yours("llama-3.2-1b", "8", "tp=2,sp=off");
  CHECK_FALSE(split["sequence_parallel"].get<bool>());
  CHECK(split["memory_bytes"] > kept["memory_bytes"]);
  CHECK(yours("llama-3.2-1b", "8", "tp=2", {"--moments", "bf16"})["memory_bytes"] < kept["memory_bytes"]);
  CHECK(yours("llama-3.2-1b", "8", "tp=2", {"--gradients", "bf16"})["memory_bytes"] < kept["memory_bytes"]);
  const Json optimizer = yours("llama-3.2-1b", "8", "tp=2,offload=optimizer");
  CHECK(optimizer["memory_bytes"] < kept["memory_bytes"]);
  const Json activations = yours("llama-3.2-1b", "8", "tp=2,offload=activations");
  CHECK(activations["memory_bytes"] < kept["memory_bytes"]);
  CHECK(activations["seconds"]["copies to the host"].get<double>() > 0);
  CHECK(yours("llama-3.2-1b", "8", "tp=2,offload=both")["memory_bytes"] < optimizer["memory_bytes"]);
  CHECK(yours("llama-3.2-1b", "8", "tp=2", {"--lora", "rank=16,base=nf4"})["memory_bytes"] <
        yours("llama-3.2-1b", "8", "tp=2", {"--lora", "rank=16"})["memory_bytes"]);
  CHECK(yours("llama-3.2-1b", "8", "tp=2", {"--segments", "fixed"})["memory_bytes"] > kept["memory_bytes"]);
  CHECK(yours("llama-3.2-1b", "8", "tp=8,sp=off", {"--switches", "node"})["step_time_s"] <
        yours("llama-3.2-1b", "8", "tp=8,sp=off")["step_time_s"]);
  CHECK(yours("llama-3-8b", "32", "zero=0", {"--switches", "infiniband"})["step_time_s"] <
        yours("llama-3-8b", "32", "zero=0")["step_time_s"]);
  CHECK(yours("deepseek-v2-lite", "16", "tp=2,ep=8,etp=1")["memory_bytes"] >
        yours("deepseek-v2-lite", "16", "tp=2,ep=8,etp=2")["memory_bytes"]);
  CHECK(yours("llama-3.2-1b", "8", "cp=4", {"--context-by", "gather"})["step_time_s"] !=
        yours("llama-3.2-1b", "8", "cp=4", {"--context-by", "ring"})["step_time_s"]);
}

TEST_CASE("plan refuses what is no plan, no software and no rate, each with a sentence") {
  const auto refused = [](const std::string& option, const std::string& value) {
    const Ran r =
        run_cli({"plan", "--model", "llama-3-8b", "--chip", "h100_sxm", "--gpus", "8", "--batch", "64", option, value});
    CHECK(r.status == 2);
    CHECK(r.out == "");
    return r.error;
  };
  CHECK(refused("--plan", "tp=8,zp=2").find("knows no \"zp\"") != std::string::npos);
  CHECK(refused("--plan", "tp=8,tp=4").find("names tp twice") != std::string::npos);
  CHECK(refused("--plan", "tp").find("axes are written tp=8,pp=4") != std::string::npos);
  CHECK(refused("--plan", "zero=4").find("0, 1, 2 or 3 is expected") != std::string::npos);
  CHECK(refused("--plan", "tp=3").find("does not divide the 32 heads") != std::string::npos);
  CHECK(refused("--plan", "offload=all").find("none, optimizer, activations or both is expected") != std::string::npos);
  CHECK(refused("--lora", "on=attention").find("--lora needs rank=") != std::string::npos);
  CHECK(refused("--lora", "rank=16,on=head").find("query_value, attention or all_linear is expected") !=
        std::string::npos);
  CHECK(refused("--lora", "rank=0").find("from 1 to 1,024 is expected") != std::string::npos);
  CHECK(refused("--segments", "some").find("expandable or fixed is expected") != std::string::npos);
  CHECK(refused("--switches", "all").find("none, node, infiniband or both is expected") != std::string::npos);
  CHECK(refused("--plan", "order=backwards").find("v_half or v_min is expected") != std::string::npos);
  CHECK(refused("--plan", "recompute=some").find("mlp and experts with + between them") != std::string::npos);
  CHECK(refused("--plan", "recompute=attention").find("keeps no scores") != std::string::npos);
  CHECK(refused("--plan", "recompute=norms+mla").find("keeps no latents") != std::string::npos);
  CHECK(refused("--plan", "recompute=experts").find("has no experts") != std::string::npos);
  CHECK(refused("--plan", "sp=yes").find("on or off is expected") != std::string::npos);
  CHECK(refused("--gradients", "fp8").find("bf16 or fp32 is expected") != std::string::npos);
  CHECK(refused("--context-by", "spiral").find("ring, gather or all_to_all is expected") != std::string::npos);
  CHECK(refused("--plan", "tp=2,order=dualpipe").find("there is one stage") != std::string::npos);
  CHECK(refused("--software", "word").find("--software is \"word\"") != std::string::npos);
  CHECK(refused("--port", "fast").find("bytes a second") != std::string::npos);
  CHECK(refused("--keep-free", "-1").find("bytes from 0") != std::string::npos);
  CHECK(refused("--gpus-per-node", "2.5").find("a whole number") != std::string::npos);
}

TEST_CASE("check prints the planner's errors beside those of a constant MFU") {
  const Ran r = run_cli({"check", "distributed/planner"});
  INFO(r.out);
  CHECK(r.status == 0);
  CHECK(r.out.find("planner, dense, grade A, A100 and H100: ") != std::string::npos);
  CHECK(r.out.find("a constant MFU a chip: median ") != std::string::npos);
  CHECK(r.out.find("7 of 8 out of memory do not") != std::string::npos);
}
