#include "rewind/runtime/remake.h"

#include "rewind/base/error.h"
#include "rewind/runtime/history.h"
#include "rewind/runtime/holdings.h"
#include "rewind/runtime/touch.h"

namespace rw {

// Depth first with a stack of its own: a frame waits for the oldest input that
// is missing. What was made for a frame is pinned until the frame has run, so
// that making the others does not drop it again.
void History::make(RecipeOutput& wanted) {
  if (wanted.data) return;
  std::vector<Frame> frames = std::move(frames_);
  frames.push_back({&wanted, {}});
  try {
    while (!frames.empty()) {
      Frame& f = frames.back();
      Recipe& r = f.wanted->recipe();
      if (f.wanted->filed && !read_back(*f.wanted)) continue;
      RecipeOutput* first = nullptr;
      double most = -1;
      for (size_t i = 0; i < r.num_inputs && !f.wanted->data; ++i) {
        const RecipeInput& in = r.inputs()[i];
        if (!in.made) continue;
        RecipeOutput& o = in.recipe->outputs()[in.output];
        if (o.data || &o == first) continue;
        if (!first) {
          first = &o;
          continue;
        }
        if (most < 0) most = work_to_make(*first);
        const double work = work_to_make(o);
        if (work <= most) continue;
        first = &o;
        most = work;
      }
      if (first) {
        frames.push_back({first, {}});
        continue;
      }
      if (!f.wanted->data) run_again(r, *f.wanted);
      RecipeOutput* done = f.wanted;
      const SmallVector<RecipeOutput*, 2> pinned = std::move(f.pinned);
      frames.pop_back();
      if (!frames.empty()) {
        pin(*done);
        frames.back().pinned.push_back(done);
      }
      for (RecipeOutput* o : pinned) unpin(*o);
    }
  } catch (...) {
    for (const Frame& f : frames)
      for (RecipeOutput* o : f.pinned) unpin(*o);
    throw;
  }
  frames_ = std::move(frames);
}

void History::run_again(Recipe& r, const RecipeOutput& wanted) {
  SmallVector<Value, 4> values(r.num_inputs);
  SmallVector<const Value*, 4> inputs(r.num_inputs);
  SmallVector<View, 4> views(r.num_inputs);
  ++clock_;
  struct Pins {
    History& history;
    SmallVector<RecipeOutput*, 4> list;
    ~Pins() {
      for (RecipeOutput* o : list) history.unpin(*o);
    }
  } pins{*this, {}};
  for (size_t i = 0; i < r.num_inputs; ++i) {
    const RecipeInput& in = r.inputs()[i];
    Value& v = values[i];
    const Form& form = forms_[in.form];
    v.dtype = form.dtype;
    v.shape = form.shape;
    v.size = v.shape.num_elements();
    char* start = nullptr;
    if (in.made) {
      RecipeOutput& o = in.recipe->outputs()[in.output];
      pin(o);
      pins.list.push_back(&o);
      start = static_cast<char*>(o.data);
    } else {
      v.storage = Ref<Storage>(in.leaf);
      start = static_cast<char*>(in.leaf->buffer.data());
    }
    v.data = start + form.offset;
    inputs[i] = &v;
    views[i] = v.view();
  }
  ValueList outputs =
      run_eager_on(*r.op, r.attrs, {inputs.data(), inputs.size()}, {views.data(), views.size()});
  ++stats_.remade;
  for (size_t i = 0; i < r.num_outputs; ++i) {
    RecipeOutput& o = r.outputs()[i];
    if (o.data || !o.written() || (!o.handle && &o != &wanted)) continue;
    RW_CHECK(outputs[i].storage->buffer.bytes() == bytes_of(o));
    unlist_holding(*outputs[i].storage);
    arrive(o, outputs[i].storage->buffer.release());
  }
}

ValueList run_movable(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs, bool remember) {
  const size_t n = inputs.size();
  const bool keeps_values = op.stateful || op.runtime;  // variables, lists, functions: for good
  SmallVector<Value, 4> placed;
  SmallVector<const Value*, 4> given(inputs.begin(), inputs.end());
  SmallVector<View, 4> views(n);
  ValueList outputs;
  placed.reserve(n);
  if (keeps_values) {
    for (size_t i = 0; i < n; ++i) {
      if (inputs[i]->movable()) given[i] = &placed.emplace_back(settled(*inputs[i]));
      views[i] = given[i]->view();
    }
    return run_eager_on(op, attrs, {given.data(), n}, {views.data(), n});
  }
  if (op.view && n > 0) {  // another shape of the same memory, wherever that is
    Value first = *inputs[0];
    const Touched touched(inputs.subspan(1));
    views[0] = first.view();
    for (size_t i = 1; i < n; ++i) {
      views[i] = inputs[i]->view();
      views[i].data = touched.data(i - 1);
    }
    return run_eager_on(op, attrs, inputs, {views.data(), n});
  }
  Touched touched(inputs);
  for (size_t i = 0; i < n; ++i) {
    views[i] = inputs[i]->view();
    if (!inputs[i]->movable()) continue;
    views[i].data = touched.data(i);
    if (!op.shares) continue;
    Value& v = placed.emplace_back(*inputs[i]);
    v.data = touched.data(i);
    given[i] = &v;
  }
  outputs = run_eager_on(op, attrs, {given.data(), n}, {views.data(), n});
  if (op.shares) {
    for (Value& out : outputs) {
      for (size_t i = 0; i < n; ++i) {
        if (out.storage != inputs[i]->storage) continue;
        remember = false;  // parts of an input
        if (!inputs[i]->movable()) break;
        out.data = static_cast<char*>(inputs[i]->data) +
                   (static_cast<char*>(out.data) - static_cast<char*>(touched.data(i)));
        break;
      }
    }
  }
  if (remember) write_down(op, attrs, inputs, {outputs.data(), outputs.size()}, touched);
  return outputs;
}

void write_down(const Op& op, const Attrs& attrs, std::span<const Value* const> inputs,
                std::span<Value> outputs, Touched& touched) {
  History& h = History::get();
  const std::lock_guard lock(h.mutex);
  h.write(op, attrs, inputs, outputs);
  touched.let_go(h);
}

}  // namespace rw
