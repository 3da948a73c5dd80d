// A test case as tensors: its leaves, its calls made one after the other, its gradients. For the files that
// run cases (case_run.cc, bad_call.cc); checks work on plain arrays.
#pragma once

#include <string>
#include <vector>

#include "rewind/autodiff/gradient_tape.h"
#include "rewind/base/error.h"
#include "rewind/kernel/random_streams.h"
#include "rewind/op/attrs.h"
#include "rewind/tensor/tensor.h"
#include "rewind/tensor/variable.h"
#include "tests/support/case_io.h"

namespace rw::test {

Tensor to_tensor(const Array& a);
// None for resources and variants, and for an undefined tensor.
std::optional<Array> to_array(const Tensor& t);
std::vector<std::optional<Array>> to_arrays(const std::vector<Gradient>& gradients);

// The leaves as tensors; a variable's tensor is its handle.
struct Leaves {
  std::vector<Tensor> tensors;
  std::vector<Variable> variables;  // undefined where the leaf is a tensor

  explicit Leaves(const Case& c);
  void watch(GradientTape& tape, size_t k) const {
    if (variables[k].defined()) tape.watch(variables[k]);
    else tape.watch(tensors[k]);
  }
};

AttrValue to_attr(const CaseAttr& a);
// The attributes that the call states, without those that follow from the inputs.
Attrs stated_attrs(const Call& call);
std::vector<Tensor> evaluate(const Case& c, const std::vector<Tensor>& leaf_tensors);

struct Targets {
  std::vector<Tensor> tensors, gradients;
  Targets(const Case& c, const std::vector<Tensor>& outputs);
};

// What a case gives: the outputs with the variables' values behind them, and the gradients.
struct CaseTensors {
  std::vector<Tensor> outputs;
  std::vector<Gradient> gradients;
};
CaseTensors run(const Case& c, const Leaves& in, std::string& stage);
void store(const CaseTensors& from, Result& r);

// TensorFlow's name of the class.
const char* class_name(ErrorCode code);

// Runs body(result); `stage` is what an error's class is prefixed with at that moment.
template <class Body>
Result guarded(Body body) {
  Result r;
  std::string stage;
  auto fail = [&](std::string error, const char* message) {
    r = {};
    r.failed = true;
    r.error = stage + error;
    r.message = message;
  };
  forget_all_random();  // every run draws the same
  try {
    body(r, stage);
  } catch (const Error& e) { fail(class_name(e.code()), e.what()); } catch (const std::exception& e) {
    fail("std::exception", e.what());
  }
  return r;
}

}  // namespace rw::test
