#pragma once
#include <atomic>
#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "chapters/mechanism/field.h"
#include "models/base/result.h"

namespace chapters {

/// How far a long compute has come, and whether the learner still wants it.
struct Progress {
  std::atomic<double> fraction{0};
  std::atomic<bool> cancelled{false};
};

struct LabInfo {
  std::string_view id;  ///< "chapter/lab", final
  std::string_view title;
  std::string_view question;   ///< one line under the title: what the learner finds out here
  bool job = false;            ///< compute may exceed 5 ms and runs on a worker
  bool hidden = false;         ///< reachable by id only (the gallery)
  std::string_view service{};  ///< who answers the View's `request`: see app/workspace/services.h
  std::string_view document;   ///< not empty: Outputs can be written in a format that other programs open, named here
                               ///< ("Chrome trace")
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
  /// Paints the canvas into the current Dear ImGui window. May change Inputs (drags) and View, never Outputs.
  virtual void draw() = 0;
  /// A copy of Inputs and Outputs; its View is a fresh one, since nobody looks at a copy.
  virtual std::unique_ptr<Lab> clone() const = 0;
  virtual bool same_inputs(const Lab& other) const = 0;  ///< both of the same lab
  /// Takes Outputs computed by a worker's clone of the same lab.
  virtual void take_outputs(const Lab& other) = 0;
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

namespace detail {

template <class T>
concept Described = requires(Fields& f, T& t) {
  describe(f, t);
};

template <class T>
concept Documented = requires(const T& t) {
  { document_of(t) } -> std::same_as<models::Result<std::string>>;
};

template <class Inputs, class Outputs, class View, class Compute, class Draw>
class LabOf final : public Lab {
 public:
  LabOf(const LabInfo& what, Compute how, Draw picture) : info_(what), compute_(how), draw_(picture) { refresh(); }
  LabOf(const LabOf& o)
      : info_(o.info_), compute_(o.compute_), draw_(o.draw_), inputs_(o.inputs_), outputs_(o.outputs_) {
    refresh();
  }
  LabOf& operator=(const LabOf&) = delete;

  const LabInfo& info() const override { return info_; }
  const Fields& inputs() const override { return input_fields_; }
  const Fields& outputs() const override { return output_fields_; }
  const Fields& view() const override { return view_fields_; }
  using Lab::compute;
  void compute(Progress& progress) override {
    if constexpr (std::is_invocable_v<Compute, const Inputs&, Progress&>)
      outputs_ = compute_(inputs_, progress);
    else
      outputs_ = compute_(inputs_);
  }
  const std::string& reason() const override { return outputs_.reason; }
  void draw() override { draw_(inputs_, static_cast<const Outputs&>(outputs_), view_); }
  std::unique_ptr<Lab> clone() const override { return std::make_unique<LabOf>(*this); }
  bool same_inputs(const Lab& other) const override {
    const auto* o = dynamic_cast<const LabOf*>(&other);
    return o && o->inputs_ == inputs_;
  }
  void take_outputs(const Lab& other) override {
    if (const auto* o = dynamic_cast<const LabOf*>(&other)) outputs_ = o->outputs_;
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
  LabInfo info_;
  Compute compute_;
  Draw draw_;
  Inputs inputs_{};
  Outputs outputs_{};
  View view_{};
  Fields input_fields_, output_fields_, view_fields_;
};

}  // namespace detail

/// Makes a lab from its five parts. `Inputs` is equality-comparable; `Outputs` has `std::string reason`.
/// `describe(Fields&, Inputs&)`, `describe(Fields&, Outputs&)` and, if there is one, `describe(Fields&, View&)` are
/// found by type, and so is `models::Result<std::string> document_of(const Outputs&)` where LabInfo names a document.
template <class Inputs, class Outputs, class View, class Compute, class Draw>
LabPtr make_lab(const LabInfo& info, Compute compute, Draw draw) {
  return std::make_unique<detail::LabOf<Inputs, Outputs, View, Compute, Draw>>(info, compute, draw);
}

}  // namespace chapters
