#pragma once
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "chapters/mechanism/lab_interface.h"
#include "widgets/base/picture_version.h"

namespace chapters {

/// A View for labs that have nothing to zoom, select or play.
struct NoView {};

/// A Picture for labs that draw Outputs as they are. Widgets that keep something compare `version`, which changes with
/// the Outputs and is never 0.
struct NoPicture {
  std::uint64_t version = 0;
};

namespace detail {

template <class T>
concept Described = requires(Fields& f, T& t) {
  describe(f, t);
};

template <class... Parts>
concept Documented = requires(const Parts&... parts) {
  { document_of(parts...) } -> std::same_as<models::Result<std::string>>;
};

/// A Picture that draws from the Run itself, which the mechanism puts there.
template <class Picture, class Run>
concept Holding = requires(Picture& p) {
  { p.run } -> std::same_as<std::shared_ptr<const Run>&>;
};

template <class Picture>
concept Publishing = requires(Picture& p) {
  { p.published } -> std::same_as<PublishedMarks&>;
};

/// Sets `marks` to those of a lab's published measurements beside its model's `figures`, none while these are empty;
/// see published_panel.h. The marks are an argument, since their type is not complete here.
void set_published(PublishedMarks& marks, const LabInfo& lab, const Fields& now, const std::vector<double>& figures);

template <class T>
struct PartsOf {
  using Outputs = T;
  using Run = NoRun;
};
template <class O, class R>
struct PartsOf<Computed<O, R>> {
  using Outputs = O;
  using Run = R;
};

/// What a compute function gives for Inputs.
template <class Compute, class Inputs>
struct ResultOf {
  using type = std::invoke_result_t<Compute, const Inputs&>;
};
template <class Compute, class Inputs>
requires std::is_invocable_v<Compute, const Inputs&, Progress&>
struct ResultOf<Compute, Inputs> {
  using type = std::invoke_result_t<Compute, const Inputs&, Progress&>;
};

template <class T>
concept Asking = requires(T& t) {
  { t.requests } -> std::same_as<Requests&>;
};

template <class T>
concept Answering = requires(const T& t) {
  { t.answer } -> std::same_as<const std::string&>;
};

struct ArrangeNothing {};

template <class Inputs, class Outputs, class Picture, class View, class Compute, class Arrange, class Draw>
class LabOf final : public Lab {
  using Given = typename ResultOf<Compute, Inputs>::type;
  using Run = typename PartsOf<Given>::Run;
  static_assert(std::is_same_v<typename PartsOf<Given>::Outputs, Outputs>, "compute gives the lab's Outputs");

  struct Kept final : KeptInputs {
    explicit Kept(const Inputs& of) : inputs(of) {}
    const Inputs inputs;
  };

 public:
  LabOf(const LabInfo& what, Compute how, Arrange order, Draw paint)
      : info_(what), compute_(how), arrange_(order), draw_(paint) {
    refresh();
  }
  LabOf(const LabOf& o) : LabOf(o, o.inputs_) {
    outputs_ = o.outputs_;
    run_ = o.run_;
  }
  LabOf& operator=(const LabOf&) = delete;

  const LabInfo& info() const override { return info_; }
  const Fields& inputs() const override { return input_fields_; }
  const Fields& outputs() const override { return output_fields_; }
  const Fields& view() const override { return view_fields_; }
  using Lab::compute;
  void compute(Progress& progress) override {
    Given computed = [&] {
      if constexpr (std::is_invocable_v<Compute, const Inputs&, Progress&>)
        return compute_(inputs_, progress);
      else
        return compute_(inputs_);
    }();
    keep_feasible();
    if constexpr (std::is_same_v<Given, Outputs>) {
      outputs_ = std::move(computed);
    } else {
      outputs_ = std::move(computed.facts);
      run_ = std::move(computed.run);
    }
    theirs_.reset();
    computed_ = true;
    arranged_ = false;
  }
  void arrange() override {
    if (arranged_) return;
    const Inputs& in = theirs_ ? *theirs_ : inputs_;
    picture_ = picture_of(in);
    if constexpr (Holding<Picture, Run>) picture_.run = run_ ? run_ : std::make_shared<const Run>();
    mark_published(in);
    picture_.version = ++version_;
    drawn_inputs_ = in;
    arranged_ = true;
  }
  const std::string& reason() const override { return outputs_.reason; }
  void draw(widgets::Stage& stage) override {
    arrange();
    if (shows_earlier()) {
      earlier_->touched = earlier_->inputs;
      paint_panels(stage, earlier_->touched, earlier_->outputs, earlier_->picture);
    } else {
      paint_panels(stage, inputs_, outputs_, picture_);
    }
  }
  std::string_view answer() override {
    if (!outputs_.reason.empty()) return outputs_.reason;
    arrange();
    if constexpr (Answering<Picture>)
      return picture_.answer;
    else
      return {};
  }
  bool shows_earlier() const override { return earlier_.has_value() && !outputs_.reason.empty(); }
  Requests* requests() override {
    if constexpr (Asking<View>)
      return &view_.requests;
    else
      return nullptr;
  }
  std::unique_ptr<Lab> clone() const override { return std::make_unique<LabOf>(*this); }
  bool same_inputs(const Lab& other) const override {
    const auto* o = dynamic_cast<const LabOf*>(&other);
    return o && o->inputs_ == inputs_;
  }
  std::unique_ptr<const KeptInputs> keep_inputs() const override { return std::make_unique<const Kept>(inputs_); }
  bool has_inputs(const KeptInputs& kept) const override {
    const auto* k = dynamic_cast<const Kept*>(&kept);
    return k && k->inputs == inputs_;
  }
  std::unique_ptr<Lab> with_inputs(const KeptInputs& kept) const override {
    return std::unique_ptr<Lab>(new LabOf(*this, dynamic_cast<const Kept&>(kept).inputs));
  }
  std::unique_ptr<Lab> clone_with(const KeptInputs& kept) const override {
    std::unique_ptr<LabOf> both(new LabOf(*this, dynamic_cast<const Kept&>(kept).inputs));
    both->outputs_ = outputs_;
    both->run_ = run_;
    return both;
  }
  void take_outputs(Lab&& other) override {
    auto* o = dynamic_cast<LabOf*>(&other);
    if (!o) return;
    keep_feasible();
    outputs_ = std::move(o->outputs_);
    run_ = std::move(o->run_);
    theirs_ = std::move(o->inputs_);
    computed_ = true;
    arranged_ = o->arranged_;
    if (!arranged_) return;
    picture_ = std::move(o->picture_);
    mark_published(*theirs_);
    picture_.version = ++version_;
    drawn_inputs_ = *theirs_;
  }
  void show_published(std::shared_ptr<const std::vector<double>> figures) override {
    if (published_ == figures) return;
    published_ = std::move(figures);
    if (!arranged_) return;
    mark_published(drawn_inputs_);
    picture_.version = ++version_;
  }
  bool shows_published() const override { return Publishing<Picture>; }
  models::Result<std::string> document() const override {
    if constexpr (Documented<Outputs, Run>)
      return document_of(outputs_, run_ ? *run_ : Run{});
    else if constexpr (Documented<Outputs>)
      return document_of(outputs_);
    else
      return models::Result<std::string>::ok({});
  }
  void reset() override { inputs_ = Inputs{}; }
  void refresh() override {
    input_fields_.clear();
    output_fields_.clear();
    view_fields_.clear();
    describe(input_fields_, inputs_);
    describe(output_fields_, outputs_);
    if constexpr (Described<View>) describe(view_fields_, view_);
  }

 private:
  /// A lab of the same kind as `o`, with other Inputs and nothing computed.
  LabOf(const LabOf& o, const Inputs& inputs)
      : info_(o.info_),
        compute_(o.compute_),
        arrange_(o.arrange_),
        draw_(o.draw_),
        inputs_(inputs),
        published_(o.published_) {
    refresh();
  }

  /// What was drawn last while it was feasible.
  struct Earlier {
    Inputs inputs;
    Outputs outputs;
    Picture picture;
    Inputs touched{};  ///< what a drag on it changes in vain; kept, since a copy of texts and lists would allocate
  };

  /// Called before the Outputs change: those that were drawn and are feasible stay at hand, and not the empty ones that
  /// a job's lab draws before its first result. Where there is no memory for that, nothing has been moved.
  void keep_feasible() {
    if (!computed_ || !arranged_ || !outputs_.reason.empty()) return;
    Earlier kept{drawn_inputs_, {}, {}};
    kept.outputs = std::move(outputs_);
    kept.picture = std::move(picture_);
    earlier_ = std::move(kept);
  }

  void paint_panels(widgets::Stage& stage, Inputs& inputs, const Outputs& outputs, const Picture& picture) {
    const widgets::PaintsVersion paints(picture.version);
    stage.run([&] {
      if constexpr (std::is_invocable_v<Draw, widgets::Stage&, Inputs&, const Outputs&, const Picture&, View&>)
        draw_(stage, inputs, outputs, picture, view_);
      else
        draw_(stage, inputs, outputs, view_);
    });
  }

  Picture picture_of(const Inputs& in) const {
    if constexpr (std::is_same_v<Arrange, ArrangeNothing>)
      return Picture{};
    else if constexpr (std::is_invocable_v<Arrange, const Inputs&, const Outputs&, const Run&>)
      return run_ ? arrange_(in, outputs_, *run_) : arrange_(in, outputs_, Run{});
    else
      return arrange_(in, outputs_);
  }

  void mark_published([[maybe_unused]] const Inputs& in) {
    if constexpr (Publishing<Picture>) {
      Inputs now = in;
      Fields fields;
      describe(fields, now);
      const bool known = published_ && outputs_.reason.empty();
      set_published(picture_.published, info_, fields, known ? *published_ : std::vector<double>{});
    }
  }

  LabInfo info_;
  Compute compute_;
  Arrange arrange_;
  Draw draw_;
  Inputs inputs_{};
  Outputs outputs_{};
  std::shared_ptr<const Run> run_;  ///< what was worked out beyond `outputs_`
  View view_{};
  std::optional<Inputs> theirs_;  ///< the Inputs that Outputs taken from a worker belong to
  Picture picture_{};             ///< arranged from `outputs_`, once somebody drew
  bool computed_ = false;         ///< the Outputs have been computed, and are not those that it was made with
  bool arranged_ = false;
  Inputs drawn_inputs_{};           ///< those that `picture_` belongs to
  std::optional<Earlier> earlier_;  ///< the last feasible picture
  std::uint64_t version_ = 0;
  std::shared_ptr<const std::vector<double>> published_;
  Fields input_fields_, output_fields_, view_fields_;
};

}  // namespace detail

/// Makes a lab from its seven parts.
///
/// `Inputs` is equality-comparable; `Outputs` holds described facts and `std::string reason`. `describe(Fields&,
/// Inputs&)`, `describe(Fields&, Outputs&)` and, if there is one, `describe(Fields&, View&)` are found by type, and so
/// is `models::Result<std::string> document_of(const Outputs&)` or `(const Outputs&, const Run&)` where LabInfo names a
/// document. `compute(const Inputs&)` or `compute(const Inputs&, Progress&)` gives Outputs, or `Computed<Outputs, Run>`
/// where it works out more than facts; it is pure in Inputs and Catalog. `Picture arrange(const Inputs&, const
/// Outputs&)` or `(const Inputs&, const Outputs&, const Run&)` makes what only the picture needs: labels, points,
/// ranges. It is pure and computes nothing of the subject; it runs once per change of Outputs, in the job where the lab
/// has one, with the Inputs that the Outputs were computed of. The mechanism sets `Picture::version`, and where the
/// Picture has them `std::shared_ptr<const Run> run`, which is then never null, and `PublishedMarks published`.
/// A `std::string answer` in Picture answers LabInfo::question in one sentence, with figures between backticks.
/// `draw(Stage&, Inputs&, const Outputs&, const Picture&, View&)` declares the panels and paints them.
template <class Inputs, class Outputs, class Picture, class View, class Compute, class Arrange, class Draw>
LabPtr make_lab(const LabInfo& info, Compute compute, Arrange arrange, Draw draw) {
  return std::make_unique<detail::LabOf<Inputs, Outputs, Picture, View, Compute, Arrange, Draw>>(info, compute, arrange,
                                                                                                 draw);
}

/// The same without a Picture: `draw(Stage&, Inputs&, const Outputs&, View&)`, or with a `const NoPicture&` before the
/// View where a widget needs a version.
template <class Inputs, class Outputs, class View, class Compute, class Draw>
LabPtr make_lab(const LabInfo& info, Compute compute, Draw draw) {
  return make_lab<Inputs, Outputs, NoPicture, View>(info, compute, detail::ArrangeNothing{}, draw);
}

}  // namespace chapters
