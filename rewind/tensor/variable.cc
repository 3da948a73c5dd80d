#include "rewind/tensor/variable.h"

#include <mutex>
#include <ostream>
#include <unordered_map>

#include "rewind/base/error.h"
#include "rewind/op/object.h"
#include "rewind/runtime/variable_cell.h"
#include "rewind/tensor/apply.h"
#include "rewind/tensor/live_variables.h"
#include "rewind/tensor/name_scope.h"
#include "rewind/tensor/tensor_impl.h"
#include "rewind/tensor/thread_state.h"
#include "rewind/tensor/trace.h"
#include "rewind/tensor/variable_watch.h"

namespace rw {

namespace {

struct LiveStates {
  std::mutex mutex;
  std::unordered_map<const void*, uint64_t> numbers;  // by the state's address
  std::unordered_map<const Object*, std::weak_ptr<const void>> by_cell;
  uint64_t made = 0;
};
// Never destroyed: variables of static storage may outlive it.
LiveStates& live_states() {
  static auto* const states = new LiveStates;
  return *states;
}

}  // namespace

static const Object* cell_behind(const Tensor& handle) {
  return static_cast<const Ref<Object>*>(handle.impl()->data)->get();
}

bool is_variable_state(const void* address) {
  const std::lock_guard lock(live_states().mutex);
  return live_states().numbers.contains(address);
}

uint64_t variable_number(const void* id) {
  const std::lock_guard lock(live_states().mutex);
  const auto at = live_states().numbers.find(id);
  return at == live_states().numbers.end() ? 0 : at->second;
}

struct Variable::State {
  State(Tensor resource, std::string full_name, DType type, Shape fits, bool is_trainable)
      : handle(std::move(resource)),
        name(std::move(full_name)),
        dtype(type),
        shape(std::move(fits)),
        trainable(is_trainable) {
    const std::lock_guard lock(live_states().mutex);
    live_states().numbers[this] = ++live_states().made;
  }
  ~State() {
    const std::lock_guard lock(live_states().mutex);
    live_states().numbers.erase(this);
    if (!original) live_states().by_cell.erase(cell_behind(handle));
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Tensor handle;
  std::string name;
  DType dtype;
  Shape shape;
  bool trainable;
  std::shared_ptr<const State> original = nullptr;  // of an argument: the variable that was passed
};

const Variable::State& Variable::state() const {
  if (!state_) fail_precondition("Variable", "this variable is undefined: it was default-constructed");
  return *state_;
}

Variable::Variable(const Operand& initial_value, VariableOptions options) {
  const Tensor& initial = initial_value.tensor(options.dtype);
  if (options.dtype != DType::kInvalid && initial.dtype() != options.dtype)
    fail_invalid("Variable", "the initial value is " + std::string(name_of(initial.dtype())) + ", not " +
                                 std::string(name_of(options.dtype)) + "; rw::cast converts");
  if (!options.shape.has_rank()) options.shape = initial.shape();
  create(initial, current_name_scope() + options.name + ":0", std::move(options.shape), options.trainable);
}

Variable Variable::copy() const {
  const State& s = state();
  Variable made;
  made.create(value(), s.name, s.shape, s.trainable);
  return made;
}

void Variable::create(const Tensor& initial, std::string name, Shape shape, bool trainable) {
  for (Trace* trace = thread_state().trace; trace; trace = trace->part_of_outer ? trace->outer() : nullptr) {
    if (!trace->may_create_variables)
      fail_staged("Variable", "variable " + name +
                                  " is created in a later trace of a function; make variables outside the "
                                  "function, or on its first call only and keep them");
    trace->created_variables = true;
  }
  if (!shape.compatible_with(initial.shape()))
    fail_invalid("Variable", "the initial value has shape " + initial.shape().to_string() +
                                 ", which does not fit " + shape.to_string());
  const Tensor lifted = is_symbol(initial) ? value_outside(initial) : initial;
  Value handle = Value::allocate(cpu_device(), DType::kResource, {});
  *static_cast<Ref<Object>*>(handle.data) =
      Ref<Object>::adopt(new VariableCell(name, initial.dtype(), shape));
  state_ = std::make_shared<State>(make_tensor(std::move(handle)), std::move(name), initial.dtype(),
                                   std::move(shape), trainable);
  {
    const std::lock_guard lock(live_states().mutex);
    live_states().by_cell[cell_behind(state_->handle)] = state_;
  }
  const OutsideTraces outside;
  assign(lifted);
}

Variable Variable::behind(const Tensor& handle) {
  Variable v;
  if (handle.dtype() != DType::kResource || is_symbol(handle)) return v;
  const std::lock_guard lock(live_states().mutex);
  const auto at = live_states().by_cell.find(cell_behind(handle));
  if (at != live_states().by_cell.end()) v.state_ = std::static_pointer_cast<const State>(at->second.lock());
  return v;
}

const std::string& Variable::name() const { return state().name; }
DType Variable::dtype() const { return state().dtype; }
const Shape& Variable::shape() const { return state().shape; }
bool Variable::trainable() const { return state().trainable; }
const Tensor& Variable::handle() const { return state().handle; }

const void* Variable::id() const {
  const State* s = state_.get();
  for (; s && s->original; s = s->original.get())
    for (Trace* t = thread_state().trace; t; t = t->outer()) t->note_identity(s->handle);
  return s;
}

Variable Variable::as_argument() const {
  const State& s = state();
  Variable v;
  const auto made =
      std::make_shared<State>(make_tensor(Value(*s.handle.impl())), s.name, s.dtype, s.shape, s.trainable);
  made->original = state_;
  v.state_ = made;
  return v;
}

const std::shared_ptr<const void> Variable::identity() const {
  std::shared_ptr<const State> s = state_;
  while (s && s->original) s = s->original;
  return s;
}

// Traces keep a list of the variables they use.
static void note_in_traces(const Variable& v) {
  for (Trace* t = thread_state().trace; t; t = t->part_of_outer ? t->outer() : nullptr) t->note_variable(v);
}

static void hear_read(const Variable& v) {
  if (thread_state().trace) note_in_traces(v);
  if (thread_state().recorders || thread_state().trace) watch_variable(v);
}

const Tensor& Variable::written() const {
  if (thread_state().trace) note_in_traces(*this);
  return state().handle;
}

Tensor Variable::value() const {
  const State& s = state();
  hear_read(*this);
  return apply_one(RW_OP("ReadVariableOp"), {&s.handle}, {{"dtype", s.dtype}});
}

Tensor Variable::sparse_read(const Operand& indices) const {
  const State& s = state();
  hear_read(*this);
  return apply_one(RW_OP("ResourceGather"), {&s.handle, &indices.tensor()}, {{"dtype", s.dtype}});
}

const Variable& Variable::assign(const Operand& value) const {
  const State& s = state();
  const Tensor& v = value.tensor(s.dtype);
  if (v.dtype() != s.dtype)
    fail_invalid("assign", "variable " + s.name + " is " + std::string(name_of(s.dtype)) + ", the value is " +
                               std::string(name_of(v.dtype())) + "; rw::cast converts");
  if (!s.shape.compatible_with(v.shape()))
    fail_invalid("assign", "variable " + s.name + " has shape " + s.shape.to_string() + ", the value has " +
                               v.shape().to_string());
  apply(RW_OP("AssignVariableOp"), {&written(), &v});
  return *this;
}

const Variable& Variable::assign_add(const Operand& delta) const {
  const State& s = state();
  apply(RW_OP("AssignAddVariableOp"), {&written(), &delta.tensor(s.dtype)});
  return *this;
}

const Variable& Variable::assign_sub(const Operand& delta) const {
  const State& s = state();
  apply(RW_OP("AssignSubVariableOp"), {&written(), &delta.tensor(s.dtype)});
  return *this;
}

#define RW_SCATTER(method, op)                                                             \
  const Variable& Variable::method(const Operand& indices, const Operand& updates) const { \
    const State& s = state();                                                              \
    apply(RW_OP(op), {&written(), &indices.tensor(), &updates.tensor(s.dtype)});           \
    return *this;                                                                          \
  }
RW_SCATTER(scatter_update, "ResourceScatterUpdate")
RW_SCATTER(scatter_add, "ResourceScatterAdd")
RW_SCATTER(scatter_sub, "ResourceScatterSub")
RW_SCATTER(scatter_mul, "ResourceScatterMul")
RW_SCATTER(scatter_div, "ResourceScatterDiv")
RW_SCATTER(scatter_max, "ResourceScatterMax")
RW_SCATTER(scatter_min, "ResourceScatterMin")
#undef RW_SCATTER

std::string Variable::repr() const {
  const StopRecording silent;
  const Tensor v = value();
  std::string text = v.repr();  // <tf.Tensor: shape=..., dtype=..., numpy=...>
  const size_t numpy = text.find(", numpy=");
  return "<tf.Variable '" + name() + "' shape=" + shape().to_string() +
         " dtype=" + std::string(name_of(dtype())) + (numpy == std::string::npos ? ">" : text.substr(numpy));
}

std::ostream& operator<<(std::ostream& out, const Variable& variable) { return out << variable.repr(); }

}  // namespace rw
