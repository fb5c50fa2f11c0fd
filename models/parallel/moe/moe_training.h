#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/parallel/moe/moe_routing.h"
#include "models/parallel/moe/moe_tokens.h"

/// A small mixture of linear experts with a softmax gate, trained for real: what balancing does to load and loss.
namespace models::parallel {

enum class MoeBalance : std::uint8_t {
  none,
  auxiliary,  ///< a loss alpha E sum f_i P_i beside the task's (GShard, Switch)
  bias        ///< a bias for the choice alone, moved by a fixed step against the load's error (DeepSeek-V3)
};
inline constexpr std::size_t moe_balance_count = 3;

struct MoeTrainingSetting {
  MoeTaskSetting task;
  MoeRouting routing;
  MoeBalance balance = MoeBalance::none;
  double alpha = 0.01;  ///< The weight of the auxiliary loss.
  double gamma = 0.01;  ///< step of the bias
  double z_loss = 0;    ///< times the mean square of the logits' log-sum-exp (ST-MoE, Zoph et al. 2022)
  std::int64_t steps = 150, tokens = 256;  ///< Steps of the run; tokens of one step.
  double rate = 0.03;                      ///< Adam's, falling to 0 over the run
  bool operator==(const MoeTrainingSetting&) const = default;
};

/// Facts of the tokens of one step, before its update.
struct MoeStepFacts {
  double loss = 0;           ///< mean square error of the task over the target's mean square with all words alike
  double max_over_mean = 1;  ///< Copies that experts are asked for, before capacity: the most over the mean.
  double dropped = 0;        ///< share of all copies
};

struct MoeTrained {
  std::vector<MoeStepFacts> steps;
  MoeTokens test;                    ///< tokens that were not trained on
  MoeRouted routed;                  ///< How the test tokens are routed.
  double test_loss = 0;              ///< as MoeStepFacts::loss
  std::vector<double> token_error;   ///< The error of each test token, summing to test_loss x tokens.
  std::vector<double> trained_load;  ///< by expert: copies asked for over the last tenth of the training
  std::vector<float> bias;
  double bias_step = 0;       ///< largest change of a bias in the last step
  double router_entropy = 1;  ///< Mean entropy over test tokens of the gate's probabilities, over ln E; 1 without one.
  double auxiliary = 0;       ///< E sum f_i P_i of the test tokens: 1 when even; NaN without a gate
};

inline constexpr std::size_t moe_test_tokens = 2048;

/// The tokens that trainings of one task share: drawing them is a tenth of a training.
struct MoeTrainingTokens {
  MoeTokens train, test;
};
/// `step_tokens` as MoeTrainingSetting::tokens.
MoeTrainingTokens draw_training_tokens(const MoeTaskSetting& task, std::int64_t step_tokens);

/// Trains and tests. Experts are linear maps [moe_inputs][moe_outputs], the gate one [moe_inputs][experts]; both follow
/// Adam (0.9, 0.95). A dropped copy gives nothing and learns nothing; a token without an expert gives 0, as the
/// residual path would. Null where `cancelled` became true. The same setting gives the same result, bit for bit.
/// `tokens` are those that draw_training_tokens gives for the setting.
std::shared_ptr<const MoeTrained> train_moe(const MoeTrainingSetting& setting, const MoeTrainingTokens& tokens,
                                            const std::atomic<bool>* cancelled = nullptr);
std::shared_ptr<const MoeTrained> train_moe(const MoeTrainingSetting& setting,
                                            const std::atomic<bool>* cancelled = nullptr);

}  // namespace models::parallel
