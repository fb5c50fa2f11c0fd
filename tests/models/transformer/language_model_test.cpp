#include "models/transformer/language_model.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>

#include "tests/models/transformer/language_model_files.h"

using models::parse_language_models;
using models_test::shipped_models;

TEST_CASE("at least 25 models are shipped, every id once") {
  std::set<std::string> ids;
  for (const auto& model : shipped_models()) CHECK(ids.insert(model.id).second);
  CHECK(ids.size() >= 25);
  for (const char* wanted :
       {"llama-2-7b", "llama-3-70b", "mixtral-8x7b", "deepseek-v3", "gpt-3", "bloom-176b", "qwen3-235b-a22b"})
    CHECK(ids.count(wanted) == 1);
}

TEST_CASE("every shipped model has its published number of parameters, to the last where that is exact") {
  int checked = 0;
  for (const auto& model : shipped_models()) {
    if (!model.published) continue;
    INFO(model.id << ", published in " << model.published->source);
    const auto count = static_cast<double>(models::count_parameters(model.architecture).total);
    CHECK(std::abs(count - model.published->parameters) <= model.published->rounding);
    CHECK_FALSE(model.published->source.empty());
    ++checked;
  }
  CHECK(checked >= 25);
}

namespace {

std::string with(const std::string& fields) {
  return R"({"id": "tiny", "name": "Tiny", "source": "a test", )" + fields +
         R"("config": {"model_type": "gpt2", "vocab_size": 10, "n_embd": 4, "n_layer": 1, "n_head": 2, )"
         R"("n_positions": 8}})";
}

}  // namespace

TEST_CASE("one model alone or a list of them is read") {
  const auto one = parse_language_models(with(""), "mine.json");
  REQUIRE(one);
  REQUIRE(one->size() == 1);
  CHECK(one->front().name == "Tiny");
  CHECK_FALSE(one->front().published);
  const auto list = parse_language_models(
      "[" + with(R"("published_parameters": 300, "published_rounding": 5, "published_source": "here",)") + "]",
      "mine.json");
  REQUIRE(list);
  REQUIRE(list->front().published);
  CHECK(list->front().published->parameters == 300);
}

TEST_CASE("a wrong model file ends in one sentence that names the model and the field") {
  const auto error = [](const std::string& text) { return parse_language_models(text, "mine.json").error; };
  CHECK(error("[" + with("") + "," + with("") + "]") ==
        "mine.json, model 2: the id \"tiny\" is taken already; another one is expected.");
  CHECK(error(R"({"id": "Tiny One"})") ==
        "mine.json: id may hold lower-case letters, digits, dots, dashes and underscores, up to 64 of them.");
  CHECK(error(R"({"id": "tiny"})") == "mine.json (tiny): name is missing; a text in quotes is expected.");
  CHECK(error(R"({"id": "tiny", "name": "T", "source": "s"})") ==
        "mine.json (tiny): config is missing; an object in the form of a Hugging Face config.json is expected.");
  CHECK(error(with(R"("published_parameters": -1, )")) ==
        "mine.json (tiny): published_parameters is out of range; a number from 0 to 1e15 is expected.");
  CHECK(error(with(R"("weights": 3, )")).find("the key \"weights\" is unknown") != std::string::npos);
  CHECK(error("[3]") == "mine.json, model 1 is number; an object with id, name, source and config is expected.");
  CHECK(error(R"({"id": "tiny", "name": "T", "source": "s", "config": {"model_type": "llama"}})") ==
        "mine.json (tiny) config: vocab_size is missing; a whole number from 1 to 10000000 is expected.");
}
