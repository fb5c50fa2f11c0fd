#include "models/transformer/bare_config.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

TEST_CASE("a bare config.json is told from a model in our own form by its keys") {
  CHECK(models::is_bare_config(support::read_text(support::data_file("configs/llama-3-8b.json"))));
  CHECK(models::is_bare_config(R"({"architectures": ["GPT2LMHeadModel"]})"));
  CHECK_FALSE(models::is_bare_config(R"({"id": "x", "name": "X", "config": {"model_type": "gpt2"}})"));
  CHECK_FALSE(models::is_bare_config(R"([{"model_type": "gpt2"}])"));
  CHECK_FALSE(models::is_bare_config(R"({"model_type": )"));
  CHECK_FALSE(models::is_bare_config(""));
}

TEST_CASE("a config is called as the last part of its own name or path, and an id is made of any name") {
  CHECK(models::name_in_config(R"({"_name_or_path": "meta-llama/Llama-2-7b-hf"})") == "Llama-2-7b-hf");
  CHECK(models::name_in_config(R"({"_name_or_path": "/home/a/out/checkpoint-500/"})") == "checkpoint-500");
  for (const char* none : {R"({"_name_or_path": ""})", R"({"_name_or_path": 7})", R"({"_name_or_path": "./"})", "{}",
                           "[", R"({"_name_or_path": "a\u0007b"})"})
    CHECK(models::name_in_config(none) == "");
  CHECK(models::model_id_of("Acme 13B (v2)") == "acme-13b-v2");
  CHECK(models::model_id_of("modèle") == "mod-le");
  CHECK(models::model_id_of("--") == "model");
  CHECK(models::model_id_of(std::string(500, 'A')) == std::string(64, 'a'));
}

TEST_CASE("a bare config is the model that its sizes make, and a bad one says what parse_config says") {
  const std::string text = support::read_text(support::data_file("configs/llama-3-8b.json"));
  const auto model = models::parse_bare_model(text, "config.json", "Acme 8B", "a test");
  REQUIRE(model);
  CHECK(model->id == "acme-8b");
  CHECK(model->name == "Acme 8B");
  CHECK(models::count_parameters(model->architecture).total == 8030261248);  // the checkpoint's tensor sizes
  const auto bad = models::parse_bare_model(R"({"model_type": "llama", "hidden_size": -1})", "my.json", "x", "");
  CHECK_FALSE(bad);
  CHECK(bad.error.find("my.json") != std::string::npos);
  CHECK(bad.error.back() == '.');
}
