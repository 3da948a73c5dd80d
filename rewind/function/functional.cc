#include "rewind/function/functional.h"

#include "rewind/base/error.h"
#include "rewind/function/staging.h"
#include "rewind/tensor/ops/shape.h"

namespace rw::detail {
namespace {

using Arrays = std::vector<TensorArray>;

Shape element_shape(const Tensor& t) {
  Shape s = t.shape();
  if (s.has_rank()) s.erase(0);
  return s;
}

// The elements, ready to be read one by one.
struct Elements {
  explicit Elements(const ElementsCore& core) {
    if (core.elems.empty()) fail_invalid(core.what, "elems must hold at least one tensor");
    int64_t known = -1;
    for (const Tensor& t : core.elems) {
      if (t.rank() == 0) fail_invalid(core.what, "elements lie along axis 0: elems holds a scalar");
      const int64_t n = t.shape().has_rank() ? t.dim(0) : -1;
      if (n >= 0 && known >= 0 && n != known)
        fail_invalid(core.what, "all tensors in elems must have the same first size: got " +
                                    std::to_string(known) + " and " + std::to_string(n));
      if (n >= 0) known = n;
    }
    count = known >= 0 ? constant(int32_t(known)) : shape(core.elems[0])[0];
    for (const Tensor& t : core.elems)
      arrays.push_back(
          TensorArray(t.dtype(),
                      {.size = count, .clear_after_read = false, .element_shape = element_shape(t)})
              .unstack(t));
  }
  std::vector<Tensor> at(const Tensor& i) const {
    std::vector<Tensor> element;
    for (const TensorArray& a : arrays) element.push_back(a.read(i));
    return element;
  }
  Arrays arrays;
  Tensor count;  // int32
};

TensorList stacked(const Arrays& arrays) {
  TensorList list;
  for (const TensorArray& a : arrays) list.push_back(a.stack());
  return list;
}

void check_results(const char* what, const BodyResult& got, size_t expected) {
  if (got.tensors.size() == expected) return;
  fail_invalid(what, "the function returns " + std::to_string(got.tensors.size()) + " tensors, and " +
                         std::to_string(expected) +
                         " are expected, as many as there are in elems; fn_output_signature says otherwise");
}

Arrays write_all(const char* what, const Arrays& arrays, const Tensor& i, const BodyResult& results) {
  check_results(what, results, arrays.size());
  Arrays next;
  for (size_t k = 0; k < arrays.size(); ++k) {
    const Tensor& t = results.tensors[k];
    if (t.dtype() != arrays[k].dtype())
      fail_invalid(what, "result " + std::to_string(k) + " is " + std::string(name_of(t.dtype())) + ", and " +
                             std::string(name_of(arrays[k].dtype())) +
                             " is expected; say so in fn_output_signature, or convert with rw::cast");
    next.push_back(arrays[k].write(i, t));
  }
  return next;
}

// One step of a scan or fold; the state keeps its structure.
std::vector<Tensor> next_state(const char* what, const StepFn& fn, const std::vector<Tensor>& state,
                               const std::vector<Tensor>& element) {
  BodyResult next;
  NestWriter writer = next.writer();
  fn(state, element, writer);
  if (next.tensors.size() != state.size())
    fail_invalid(what, "the function must return the structure of its first argument: it returns " +
                           std::to_string(next.tensors.size()) + " tensors for " +
                           std::to_string(state.size()));
  return {next.tensors.begin(), next.tensors.end()};
}

}  // namespace

bool no_elements_now(const ElementsCore& core) {
  if (current_trace()) return false;
  for (const Tensor& t : core.elems)
    if (t.impl()->kind == TensorKind::kEager && t.rank() > 0 && t.dim(0) == 0) return true;
  return false;
}

TensorList map_elements(const ElementsCore& core, const MapFn& fn, const MapFnOptions& options) {
  const Elements elems(core);
  Arrays outputs;
  if (options.fn_output_signature.empty()) {
    for (const Tensor& t : core.elems)
      outputs.emplace_back(t.dtype(),
                           TensorArrayOptions{.size = elems.count, .infer_shape = options.infer_shape});
  } else {
    for (const TensorSpec& s : options.fn_output_signature)
      outputs.emplace_back(
          s.dtype, TensorArrayOptions{
                       .size = elems.count, .element_shape = s.shape, .infer_shape = options.infer_shape});
  }
  auto [i, results] =
      while_loop([&](const Tensor& i, const Arrays&) { return i < elems.count; },
                 [&](const Tensor& i, const Arrays& arrays) {
                   BodyResult got;
                   NestWriter writer = got.writer();
                   fn(elems.at(i), writer);
                   return std::tuple(i + 1, write_all(core.what, arrays, i, got));
                 },
                 std::tuple(0, outputs),
                 {.maximum_iterations = elems.count, .parallel_iterations = options.parallel_iterations});
  return stacked(results);
}

TensorList scan_elements(const ElementsCore& core, const LoopState* initial, const StepFn& fn,
                         const ScanFnOptions& options) {
  const Elements elems(core);
  const Tensor last = elems.count - 1;
  auto place = [&](const Tensor& i) { return options.reverse ? last - i : i; };
  std::vector<Tensor> state;
  if (initial) state.assign(initial->tensors.begin(), initial->tensors.end());
  else state = elems.at(place(constant(0)));
  Arrays outputs;
  for (const Tensor& t : state) {
    outputs.emplace_back(
        t.dtype(),
        TensorArrayOptions{.size = elems.count,
                           .element_shape = options.infer_shape ? t.shape() : Shape::unknown_rank(),
                           .infer_shape = options.infer_shape});
    if (!initial) outputs.back() = outputs.back().write(place(constant(0)), t);
  }
  auto [i, end, results] = while_loop(
      [&](const Tensor& i, const std::vector<Tensor>&, const Arrays&) { return i < elems.count; },
      [&](const Tensor& i, const std::vector<Tensor>& before, const Arrays& arrays) {
        const Tensor at = place(i);
        BodyResult next;
        for (const Tensor& t : next_state(core.what, fn, before, elems.at(at))) next.tensors.push_back(t);
        Arrays written = write_all(core.what, arrays, at, next);
        return std::tuple(i + 1, std::vector<Tensor>(next.tensors.begin(), next.tensors.end()), written);
      },
      std::tuple(initial ? 0 : 1, state, outputs),
      {.maximum_iterations = elems.count, .parallel_iterations = options.parallel_iterations});
  return stacked(results);
}

TensorList fold_elements(const ElementsCore& core, const LoopState* initial, const StepFn& fn,
                         bool from_right) {
  const Elements elems(core);
  const Tensor last = elems.count - 1;
  auto place = [&](const Tensor& i) { return from_right ? last - i : i; };
  std::vector<Tensor> state;
  if (initial) state.assign(initial->tensors.begin(), initial->tensors.end());
  else state = elems.at(place(constant(0)));
  auto [i, end] =
      while_loop([&](const Tensor& i, const std::vector<Tensor>&) { return i < elems.count; },
                 [&](const Tensor& i, const std::vector<Tensor>& before) {
                   return std::tuple(i + 1, next_state(core.what, fn, before, elems.at(place(i))));
                 },
                 std::tuple(initial ? 0 : 1, state), {.maximum_iterations = elems.count});
  return {end.begin(), end.end()};
}

}  // namespace rw::detail
