#pragma once
#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "chapters/mechanism/field.h"
#include "models/base/result.h"
#include "widgets/stage/stage.h"

namespace chapters {

/// How far a long compute has come, and whether the learner still wants it.
struct Progress {
  std::atomic<double> fraction{0};
  std::atomic<bool> cancelled{false};
};

/// What holds for some labs.
struct LabTraits {
  bool job = false;     ///< compute may exceed 5 ms and runs on a worker
  bool hidden = false;  ///< reachable by id only (the gallery)
  /// Name of the app's service that does the work which this lab's Requests ask for; empty: the lab asks for none.
  std::string_view service{};
  /// Not empty: Outputs can be written in a format that other programs open, named here ("Chrome trace").
  std::string_view document{};
};

struct LabInfo : LabTraits {
  LabInfo(std::string_view id_of, std::string_view title_of, std::string_view question_of, const LabTraits& traits = {})
      : LabTraits(traits), id(id_of), title(title_of), question(question_of) {}
  std::string_view id;  ///< "chapter/lab", final
  std::string_view title;
  std::string_view question;  ///< one line under the title: what the learner finds out here
};

/// What a lab asks of the program, and what it is told meanwhile. A View that asks for something has a member
/// `Requests requests`; the app looks at it once a frame. Its `describe` may name these members, so that scenarios and
/// tests reach them.
struct Requests {
  std::string work;       ///< what LabInfo::service is to do, in its own words; "stop" ends it. Empty: nothing.
  std::string open_link;  ///< a link or the id of a lab to go to; empty: none
  bool awake = false;     ///< the picture moves by itself (a clock), so the window must not sleep
  // Of the work, written by the app:
  bool running = false;
  double fraction = 0;  ///< 0 to 1
  std::string status;   ///< one line for the learner
};

/// One running copy of a lab: its Inputs, Outputs and View behind the two descriptions.
/// Not thread-safe; a worker computes on a clone.
class Lab {
 public:
  virtual ~Lab() = default;
  virtual const LabInfo& info() const = 0;
  virtual const Fields& inputs() const = 0;
  virtual const Fields& outputs() const = 0;
  virtual const Fields& view() const = 0;  ///< empty where a lab describes none
  /// Outputs from Inputs. Pure; the same Inputs give the same Outputs.
  virtual void compute(Progress& progress) = 0;
  void compute() {
    Progress ignored;
    compute(ignored);
  }
  /// Empty when feasible; otherwise one sentence that says why the Outputs mean nothing.
  virtual const std::string& reason() const = 0;
  /// Paints the panels onto a stage. May change Inputs (drags) and View, never Outputs. The first time after a change
  /// of Outputs it arranges their Picture. While the Outputs are infeasible it paints the last feasible ones, if there
  /// were any.
  virtual void draw(widgets::Stage& stage) = 0;
  /// The answer to the lab's question in one sentence, figures between backticks; the reason where there is none. Empty
  /// for a lab that gives none.
  virtual std::string_view answer() = 0;
  /// Infeasible, and there is an earlier picture that `draw` paints instead.
  virtual bool shows_earlier() const = 0;
  /// What the View asks of the program; null where it asks for nothing.
  virtual Requests* requests() = 0;
  /// A copy of Inputs and Outputs; its View is a fresh one, since nobody looks at a copy.
  virtual std::unique_ptr<Lab> clone() const = 0;
  virtual bool same_inputs(const Lab& other) const = 0;  ///< both of the same lab
  /// Moves the Outputs out of a worker's clone of the same lab, which is left without.
  virtual void take_outputs(Lab&& other) = 0;
  /// The Outputs as the file that `info().document` names; empty where the lab has none. May take long: not for the
  /// interface's thread.
  virtual models::Result<std::string> document() const = 0;
  /// Back to the default-constructed Inputs.
  virtual void reset() = 0;
  /// Describes anew, after the Catalog's choices changed.
  virtual void refresh() = 0;
};
using LabPtr = std::unique_ptr<Lab>;

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

template <class T>
concept Documented = requires(const T& t) {
  { document_of(t) } -> std::same_as<models::Result<std::string>>;
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
 public:
  LabOf(const LabInfo& what, Compute how, Arrange order, Draw paint)
      : info_(what), compute_(how), arrange_(order), draw_(paint) {
    refresh();
  }
  LabOf(const LabOf& o)
      : info_(o.info_),
        compute_(o.compute_),
        arrange_(o.arrange_),
        draw_(o.draw_),
        inputs_(o.inputs_),
        outputs_(o.outputs_) {
    refresh();
  }
  LabOf& operator=(const LabOf&) = delete;

  const LabInfo& info() const override { return info_; }
  const Fields& inputs() const override { return input_fields_; }
  const Fields& outputs() const override { return output_fields_; }
  const Fields& view() const override { return view_fields_; }
  using Lab::compute;
  void compute(Progress& progress) override {
    Outputs computed = [&] {
      if constexpr (std::is_invocable_v<Compute, const Inputs&, Progress&>)
        return compute_(inputs_, progress);
      else
        return compute_(inputs_);
    }();
    keep_feasible();
    outputs_ = std::move(computed);
    theirs_.reset();
    computed_ = true;
    arranged_ = false;
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
  void take_outputs(Lab&& other) override {
    auto* o = dynamic_cast<LabOf*>(&other);
    if (!o) return;
    keep_feasible();
    outputs_ = std::move(o->outputs_);
    theirs_ = std::move(o->inputs_);
    computed_ = true;
    arranged_ = false;
  }
  models::Result<std::string> document() const override {
    if constexpr (Documented<Outputs>)
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
    stage.run([&] {
      if constexpr (std::is_invocable_v<Draw, widgets::Stage&, Inputs&, const Outputs&, const Picture&, View&>)
        draw_(stage, inputs, outputs, picture, view_);
      else
        draw_(stage, inputs, outputs, view_);
    });
  }

  void arrange() {
    if (arranged_) return;
    if constexpr (std::is_same_v<Arrange, ArrangeNothing>)
      picture_ = Picture{};
    else
      picture_ =
          arrange_(static_cast<const Inputs&>(theirs_ ? *theirs_ : inputs_), static_cast<const Outputs&>(outputs_));
    picture_.version = ++version_;
    drawn_inputs_ = theirs_ ? *theirs_ : inputs_;
    arranged_ = true;
  }

  LabInfo info_;
  Compute compute_;
  Arrange arrange_;
  Draw draw_;
  Inputs inputs_{};
  Outputs outputs_{};
  View view_{};
  std::optional<Inputs> theirs_;  ///< the Inputs that Outputs taken from a worker belong to
  Picture picture_{};             ///< of `outputs_`, once somebody drew
  bool computed_ = false;         ///< the Outputs have been computed, and are not those that it was made with
  bool arranged_ = false;
  Inputs drawn_inputs_{};           ///< those that `picture_` belongs to
  std::optional<Earlier> earlier_;  ///< the last feasible picture
  std::uint64_t version_ = 0;
  Fields input_fields_, output_fields_, view_fields_;
};

}  // namespace detail

/// Makes a lab from its six parts.
///
/// `Inputs` is equality-comparable; `Outputs` holds described facts and `std::string reason`. `describe(Fields&,
/// Inputs&)`, `describe(Fields&, Outputs&)` and, if there is one, `describe(Fields&, View&)` are found by type, and so
/// is `models::Result<std::string> document_of(const Outputs&)` where LabInfo names a document. `compute(const
/// Inputs&)` or `compute(const Inputs&, Progress&)` gives Outputs; it is pure in Inputs and Catalog. `Picture
/// arrange(const Inputs&, const Outputs&)` makes what only the picture needs: labels, points, ranges. It is pure and
/// runs once per change of Outputs, where something is drawn, with the Inputs that the Outputs were computed of. The
/// mechanism sets `Picture::version`.
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
