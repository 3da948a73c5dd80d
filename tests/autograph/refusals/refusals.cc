// Small programs that rewind-autograph must refuse. Behind `refused:` stand words of the message for that
// line, pieces with ... between them, {-1} for the number of the line before. What is refused elsewhere is an
// error of the test.
#include <setjmp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <coroutine>
#include <cstdio>
#include <deque>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>

#include "rewind/rewind.h"

using rw::Tensor;

// clang-format off: what is expected stands on the line that it is about

// ---- numbers of the host's that a tensor decides, with uses that a tensor cannot have

namespace numbers {

Tensor deduced(Tensor x) {
  int k = 0;
  if (x > 0) k = 1;
  auto m = k;  // refused: 'k' changes under a tensor's condition (line {-1}) ... decides a deduced type (auto); write the type: int m
  return x * m;
}
Tensor deduced_by_an_expression(Tensor x) {
  int k = 0;
  if (x > 0) ++k;
  const auto m = k * 2;  // refused: 'k' ... decides a deduced type (auto); write the type: int m
  return x * m;
}
Tensor bound_to_a_reference(Tensor x) {
  int k = 0;
  int& r = k;  // refused: 'k' ... is bound to a reference; copy it into a variable with its type
  if (x > 0) k = 1;
  return x * r;
}
Tensor bound_to_a_const_reference(Tensor x) {
  int k = 0;
  const int& r = k;  // refused: 'k' ... is bound to a reference
  if (x > 0) k = 1;
  return x * r;
}
Tensor address(Tensor x) {
  int k = 0;
  int* p = &k;  // refused: 'k' ... has its address taken
  if (x > 0) k = 1;
  return x * *p;
}
Tensor by_printf(Tensor x) {
  int k = 0;
  if (x > 0) k = 1;
  std::printf("%d\n", k);  // refused: 'k' ... is an argument of a variadic function; print it by rw::print
  return x;
}
Tensor by_a_stream(Tensor x) {
  int k = 0;
  if (x > 0) k = 1;
  std::cout << k;  // refused: 'k' ... is printed by a stream; print it by rw::print
  return x;
}
Tensor index_of_a_vector(Tensor x) {
  std::vector<Tensor> v{x, x * 2};
  int k = 0;
  if (x > 0) k = 1;
  return v[k];  // refused: 'k' ... is an index of a container of the host's; index a tensor: rw::gather(t, i)
}
Tensor index_of_an_array(Tensor x) {
  double table[] = {1.0, 2.0};
  int k = 0;
  if (x > 0) k = 1;
  return x * table[k];  // refused: 'k' ... is the index of an array of the host's
}
Tensor by_at(Tensor x) {
  std::vector<Tensor> v{x, x * 2};
  size_t k = 0;
  while (x > 1) x = x / 2, ++k;
  return v.at(k);  // refused: 'k' ... is an argument of at, which takes the host's numbers
}
Tensor argument_of_a_function(Tensor x) {
  double k = 0.5;
  if (x > 0) k = 0.25;
  return x * std::sqrt(k);  // refused: 'k' ... is an argument of sqrt, which takes the host's numbers; make it a rw::Tensor
}
Tensor argument_of_a_lambda(Tensor x) {
  const auto scaled = [&](int by) { return x * by; };
  int k = 0;
  if (x > 0) k = 1;
  return scaled(k);  // refused: 'k' ... is an argument of operator()
}
Tensor captured_by_copy(Tensor x) {
  int k = 0;
  if (x > 0) k = 1;
  const auto f = [m = k] { return m; };  // refused: 'k' ... is captured with a deduced type; capture it by reference
  return x * f();
}
Tensor size_of_a_shape(Tensor x) {
  int k = 1;
  if (rw::reduce_sum(x) > 0) k = 2;
  return rw::zeros({k});  // refused: 'k' ... takes the host's numbers
}
Tensor attribute(Tensor x) {
  int k = 0;
  if (rw::reduce_sum(x) > 0) k = 1;
  return rw::reduce_sum(x, k);  // refused: 'k' ... is an argument
}
Tensor element_of_a_vector(Tensor x) {
  int k = 0;
  if (x > 0) k = 1;
  std::vector<int> all{k, 2};  // refused: 'k' ... takes the host's numbers
  return x * all[1];
}
Tensor argument_of_a_constructor(Tensor x) {
  int k = 0;
  if (x > 0) k = 1;
  std::vector<Tensor> all(k, x);  // refused: 'k' ... is an argument of a constructor that takes the host's numbers
  return x;
}
Tensor assigned_to_an_element(Tensor x) {
  std::vector<int> all{1, 2};
  int k = 0;
  if (x > 0) k = 1;
  all[0] = k;  // refused: 'k' ... is assigned to an element, a member or a parameter
  return x;
}
Tensor assigned_to_a_parameter(Tensor x, int m) {
  int k = 0;
  if (x > 0) k = 1;
  m = k;  // refused: 'k' ... is assigned to an element, a member or a parameter
  return x * m;
}
Tensor cast_to_an_enum(Tensor x) {
  enum Mode { kA, kB };
  int k = 0;
  if (x > 0) k = 1;
  return Mode(k) == kA ? x : x * 2;  // refused: 'k' ... is cast to a type that holds no tensor
}
Tensor declared_together(Tensor x) {
  std::vector<Tensor> v{x, x, x};
  for (int i = 0, n = 2; i < n; ++i) {
    if (x > 0) ++i;
    x = x - v[n];  // refused: 'n' is declared together with 'i' ... is an index of a container
  }
  return x;
}
Tensor value_of_a_condition(Tensor x) {
  std::vector<Tensor> v{x, x * 2};
  return v[x > 0 && x < 5];  // refused: the value of this condition on tensors is an index of a container
}
Tensor result_of_a_lambda(Tensor x) {
  std::vector<Tensor> v{x, x * 2};
  const auto positive = [](const Tensor& t) { return t > 0 && t < 5; };
  return v[positive(x)];  // refused: the number that this call returns, which a tensor decides, is an index
}
template <class T>
T in_a_template(T x) {
  std::vector<T> v{x, x * 2};
  int k = 0;
  if (x > 0) k = 1;
  return v[k];  // refused: 'k' ... is an index of a container of the host's
}
Tensor instantiated(Tensor x) { return in_a_template(x); }
Tensor parameter(Tensor x, int k) {
  if (x > 0) k = 1;  // refused: the parameter 'k' is the host's and changes under a tensor's condition (line {+0}); copy it into a local variable
  return x * k;
}
Tensor long_double(Tensor x) {
  long double k = 0;
  if (x > 0) k = 1;  // refused: the variable 'k' ... there are no tensors of its type
  return x * double(k);
}
Tensor static_number(Tensor x) {
  static int calls = 0;
  if (x > 0) ++calls;  // refused: the global variable 'calls' changes ... make it a rw::Variable
  return x;
}
struct Counter {
  int count = 0;
  Tensor call(Tensor x) {
    if (x > 0) ++count;  // refused: the member 'count' is the host's and changes ... make it a rw::Tensor or a rw::Variable
    return x;
  }
};
Tensor member_of_a_variable(Tensor x) {
  Counter c;
  if (x > 0) c.count = 1;  // refused: the element or member 'c.count' is the host's
  return x * c.count;
}
Tensor element(Tensor x) {
  int hits[3] = {};
  if (x > 0) ++hits[0];  // refused: the element or member 'hits' is the host's
  return x * hits[0];
}
Tensor by_reference(Tensor x, int& k) {
  if (x > 0) k = 1;  // refused: the parameter 'k' is the host's
  return x;
}
Tensor found_behind_a_loop(Tensor x) {
  std::vector<Tensor> v{x, x * 2};
  size_t i;
  for (i = 0; i < v.size(); ++i)
    if (v[i] > 3) break;  // refused: 'i' ... is an index of a container of the host's
  return x * double(i);
}

enum Unscoped { kOne = 1, kTwo };
enum class Scoped { kOne, kTwo };
Unscoped enumeration_returned(const Tensor& x) {
  return x > 1.0 ? kOne : kTwo;  // refused: is returned as an enumeration's value; return an int
}
int enumerations(Tensor x) {
  Unscoped a = x > 1.0 ? kOne : kTwo;  // refused: initialises a variable of an enumeration's type; make that an int
  a = x > 2.0 ? kOne : kTwo;           // refused: is assigned to a variable of an enumeration's type; make that an int
  const Scoped b = x > 1.0 ? Scoped::kOne : Scoped::kTwo;  // refused: ?: chooses a value of an enumeration
  return a + int(b);
}

}  // namespace numbers

// ---- changes that cannot be put back

namespace changes {

Tensor total;
struct Settings {
  static Tensor scale;
};

Tensor global(Tensor x) {
  if (x > 0) total = x;  // refused: the global variable 'total' changes under a tensor's condition (line {+0}); make it a rw::Variable, or pass it in and return it
  return x;
}
Tensor static_variable(Tensor x) {
  static Tensor last;
  if (x > 0) last = x;  // refused: the global variable 'last'
  return x;
}
Tensor static_member(Tensor x) {
  if (x > 0) Settings::scale = x;  // refused: the global variable 'scale'
  return x;
}
void remember(const Tensor& x) {
  total = x;  // refused: the global variable 'total' changes under a tensor's condition (line {+3})
}
Tensor global_by_a_call(Tensor x) {
  if (x > 0) remember(x);
  return x;
}
Tensor& shared_total() { return total; }
Tensor global_by_a_reference(Tensor x) {
  if (x > 0) shared_total() = x;  // refused: the global variable 'total'
  return x;
}
Tensor& elsewhere();
Tensor by_a_reference_from_elsewhere(Tensor x) {
  if (x > 0) elsewhere() = x;  // refused: what elsewhere refers to changes
  return x;
}
Tensor pointer(Tensor x, Tensor* p) {
  if (x > 0) *p = x;  // refused: what the pointer 'p' points to changes under a tensor's condition (line {+0}), where it cannot be put back; use a variable or a reference
  return x;
}
Tensor pointer_of_a_pointer(Tensor x, std::vector<Tensor*> all) {
  if (x > 0) {
    Tensor* p = all[0];
    *p = x;  // refused: what the pointer 'p' points to changes
  }
  return x;
}
Tensor pointers_in_a_loop(Tensor x, Tensor y) {
  for (Tensor* p : {&x, &y})
    if (x > 0) *p = x * 2;  // refused: what the pointer 'p' points to changes
  return x + y;
}
void assign(Tensor* to, const Tensor& x) { *to = x; }
Tensor pointer_by_a_call(Tensor x, Tensor* p) {
  if (x > 0) assign(p, x);  // refused: what the pointer 'p' points to changes
  return x;
}
struct Node {
  Tensor value;
  void set(const Tensor& v) { value = v; }
};
Tensor shared_pointer(Tensor x, std::shared_ptr<Node> node) {
  if (x > 0) node->value = x;  // refused: what the pointer 'node' points to changes
  return x;
}
Tensor method_behind_a_pointer(Tensor x, Node* node) {
  if (x > 0) node->set(x);  // refused: what the pointer 'node' points to changes
  return x;
}
Tensor element_behind_a_pointer(Tensor x, Tensor* all) {
  if (x > 0) all[1] = x;  // refused: what the pointer 'all' points to changes
  return x;
}
Tensor pointer_itself(Tensor x, Tensor y) {
  const Tensor* best = &x;
  if (y > x) best = &y;  // refused: the pointer 'best' changes under a tensor's condition ... select tensors with the condition instead
  return *best;
}
Tensor smart_pointer_itself(Tensor x) {
  auto best = std::make_shared<Node>();
  if (x > 0) best = std::make_shared<Node>();  // refused: the pointer 'best' changes
  return x;
}
Tensor iterator(Tensor x, std::vector<Tensor> v) {
  auto it = v.begin();
  while (x > 0) x = x - *it++;  // refused: the iterator 'it' changes under a tensor's condition
  return x;
}
Tensor copy_of_a_lambda(Tensor x) {
  Tensor sum = 0;
  auto add = [sum](const Tensor& t) mutable { return sum = sum + t; };  // refused: 'sum', which the lambda of line {+0} keeps a copy of, changes
  if (x > 0) x = add(x);
  return x;
}
Tensor counter_of_a_lambda(Tensor x) {
  auto next = [k = 0]() mutable { return k++; };  // refused: 'k', which the lambda of line {+0} keeps a copy of, changes
  if (x > 0) x = x + next();
  return x;
}
template <class F>
Tensor when_positive(const Tensor& x, F f) {
  if (x > 0) f();
  return x;
}
Tensor lambda_that_another_function_calls(Tensor x) {
  Tensor y = x;
  when_positive(x, [&] { y = x * 2; });  // refused: 'y' of another function changes under a tensor's condition (line {-5}), by a lambda that is called there
  return y;
}
struct Callbacks {
  std::function<void()> done;
};
void finish(const Tensor& x, const Callbacks& callbacks) {
  if (x > 0) callbacks.done();
}
Tensor function_in_a_struct(Tensor x) {
  Tensor y = x;
  finish(x, {.done = [&] { y = x * 2; }});  // refused: 'y' of another function changes
  return y;
}
std::function<void()> maker(Tensor& to, const Tensor& x) {
  return [&to, x] { to = x; };  // refused: 'to' of another function changes
}
Tensor made_by_a_function(Tensor x) {
  Tensor y = x;
  const auto f = maker(y, x);
  if (x > 0) f();
  return y;
}
struct Cache {
  mutable Tensor last;
  Tensor call(const Tensor& x) const {
    last = x;
    return x;
  }
};
Tensor mutable_member(Tensor x) {
  const Cache cache;
  if (x > 0) x = cache.call(x);  // refused: a mutable member of 'cache' changes
  return x;
}
struct Net : rw::Module {
  Tensor last;
  Tensor call(const Tensor& x) {
    last = x;
    return x;
  }
};
Tensor tensor_in_an_object(Tensor x) {
  Net net;
  if (x > 0) x = net.call(x);  // refused: a tensor in the object 'net' changes ... keep it in a rw::Variable, or return it
  return x;
}
Tensor chosen_variable(Tensor x, Tensor y) {
  (x > 0 ? x : y) = x * 2;  // refused: what ?: chooses by a tensor's condition is a value and no variable ... write an if
  return x + y;
}
void twice(Tensor& t) { t = t * 2; }
Tensor chosen_argument(Tensor x, Tensor y) {
  twice(x > y ? x : y);  // refused: what ?: chooses by a tensor's condition is a value and no variable
  return x + y;
}

Tensor stale_reference(Tensor x, Tensor y) {
  const Tensor& r = x > y ? x : y;  // refused: what ?: chooses by a tensor's condition is a value, and 'r' is a reference to a variable that changes later ('y' ... declare it as a value, or write an if
  y = y + 1;
  return r + y;
}
Tensor constant_cast_away(Tensor x, const Tensor& y) {
  if (x > 0) const_cast<Tensor&>(y) = x;  // refused: what a const_cast makes of a constant changes
  return y;
}
Tensor pointer_to_a_function(Tensor x, Tensor* y) {
  auto* const set = assign;
  if (x > 0) set(y, x);  // refused: what the pointer 'y' points to changes
  return x;
}

struct Handle {
  Tensor* p;
  Tensor& operator*() const { return *p; }
};
void set(Tensor& t, const Tensor& to) { t = to; }
Tensor behind_handles(Tensor x, std::vector<Handle> all) {
  std::tuple<Handle, int> one{all[0], 1};
  if (x > 0) set(*all.back(), x * 2);  // refused: what the pointer 'all.back()' points to changes under a tensor's condition
  if (x > 1) *std::get<0>(one) = x;    // refused: what the pointer 'std::get<0>(one)' points to changes
  return x;
}

}  // namespace changes

// ---- references into containers that grow

namespace containers {

Tensor reference(Tensor x) {
  std::vector<Tensor> v{x};
  Tensor& first = v[0];
  while (x > 1) {
    x = x / 2;
    v.push_back(x);  // refused: push_back moves the elements under a tensor's condition (line {-2}), and 'first' (line {-3}) refers to one; take the element by its index instead, or copy it
  }
  return first;
}
Tensor iterator(Tensor x) {
  std::deque<Tensor> v{x, x};
  const auto it = v.begin();
  if (x > 1) v.clear();  // refused: clear moves the elements ... and 'it' (line {-1}) refers to one
  return *it;
}
Tensor loop_variable(Tensor x) {
  std::vector<Tensor> v{x, x};
  for (Tensor& t : v)
    if (x > 1) {
      v.insert(v.begin(), t);  // refused: insert moves the elements ... and 't' (line {-2}) refers to one
      t = x;
    }
  return v[0];
}

}  // namespace containers

// ---- statements that a graph has nothing for

namespace statements {

Tensor go_to(Tensor x) {
again:
  x = x / 2;
  if (x > 1) goto again;  // refused: goto cannot stand under a tensor's condition (line {+0}); use the condition of a loop
  return x;
}
Tensor computed_goto(Tensor x) {
  void* to = &&end;
  if (x > 1) goto* to;  // refused: goto cannot stand under a tensor's condition
end:
  return x;
}
Tensor label(Tensor x) {
  while (x > 1) {
    x = x / 2;
  next:;  // refused: a label cannot stand under a tensor's condition (line {-2})
  }
  return x;
}
Tensor try_block(Tensor x) {
  if (x > 1) {
    try {  // refused: try cannot stand under a tensor's condition ... put it around the whole construct
      x = x / 2;
    } catch (const std::exception&) {
    }
  }
  return x;
}
Tensor thrown(Tensor x) {
  if (x > 1) throw std::runtime_error("too large");  // refused: throw cannot stand under a tensor's condition (line {+0}); check with rw::debugging::Assert
  return x;
}
Tensor thrown_in_an_operand(Tensor x) {
  return x > 1 ? x : throw 1;  // refused: throw cannot stand under a tensor's condition
}
Tensor jump(Tensor x) {
  static jmp_buf place;
  while (x > 1) {
    x = x / 2;
    if (setjmp(place)) break;  // refused: setjmp and longjmp cannot stand under a tensor's condition
  }
  return x;
}
struct Task {
  struct promise_type {
    Tensor value;
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
    std::suspend_never yield_value(Tensor) { return {}; }
  };
};
Task coroutine(Tensor x) {
  while (x > 1) {
    x = x / 2;
    co_yield x;  // refused: a coroutine's co_await or co_yield cannot stand under a tensor's condition
  }
}
Task coroutine_return(Tensor x) {
  if (x > 1) co_return;  // refused: co_return cannot stand under a tensor's condition
  co_yield x;
}
Tensor assembler(Tensor x) {
  if (x > 1) asm volatile("nop");  // refused: asm cannot stand under a tensor's condition
  return x;
}
Tensor variable_in_a_loop(Tensor x) {
  while (Tensor more = x > 1) x = x / 2;  // refused: a loop under a tensor's condition cannot declare a variable in it; declare it before the loop
  return x;
}
Tensor variable_in_a_switch(Tensor x) {
  int k = 0;
  if (x > 0) k = 1;
  switch (int m = k) {  // refused: a switch under a tensor's condition cannot declare a variable in it; declare it before the switch
    case 1: x = x * m;
  }
  return x;
}
Tensor range_of_cases(Tensor x) {
  switch (int64_t(x)) {  // refused: a switch under a tensor's condition takes plain cases at the top of its block
    case 1 ... 3: x = x + 1;
  }
  return x;
}
Tensor variable_of_a_switch(Tensor x) {
  switch (int64_t(x)) {
    case 1:
      double by;  // refused: a variable of a switch under a tensor's condition needs a block of its own: put braces
      by = 2;
      x = x * by;
      break;
    case 2: x = x + 1;
  }
  return x;
}
Tensor& returned_reference(Tensor& x, Tensor& y) {
  if (x > y) return x;  // refused: a function that returns a reference cannot return under a tensor's condition; return a value
  return y;  // refused: a function that returns a reference cannot return under a tensor's condition
}
const Tensor& chosen_reference(const Tensor& x, const Tensor& y) {
  return x > y ? x : y;  // refused: a function that returns a reference cannot choose what to return by a tensor's condition; return a value
}
template <class T>
const T& chosen_reference_of_any(const T& x, const T& y) {
  return (x > y ? x : y);  // refused: a function that returns a reference cannot choose what to return
}
template <class... T>
Tensor folded(const Tensor& x, const T&... more) {
  if (((x > more) || ...)) return x;  // refused: && and || cannot be folded over tensors
  return x * 2;
}
Tensor folds(const Tensor& x) { return folded(x, x * 2, x * 3); }
Tensor calls_it(const Tensor& x) { return chosen_reference_of_any(x, x) + chosen_reference_of_any(1, 2); }

}  // namespace statements

// ---- what macros write

namespace macros {

#define IF_POSITIVE(t) if ((t) > 0)
#define REPEAT_WHILE_POSITIVE(t) while ((t) > 0)
#define BOTH(a, b) ((a) && (b))
#define CHOOSE(c, a, b) ((c) ? (a) : (b))
#define LEAVE return x
#define NOT(a) (!(a))

Tensor condition(Tensor x) {
  IF_POSITIVE(x) x = x * 2;  // refused: the macro IF_POSITIVE writes a condition on a tensor; write it outside of the macro
  return x;
}
Tensor loop(Tensor x) {
  REPEAT_WHILE_POSITIVE(x) x = x - 1;  // refused: the macro REPEAT_WHILE_POSITIVE writes a condition on a tensor
  return x;
}
Tensor logic(Tensor x) {
  if (BOTH(x > 0, x < 5)) x = x * 2;  // refused: a macro writes the operator && on a tensor
  return x;
}
Tensor choice(Tensor x) {
  return CHOOSE(x > 0, x, x * 2);  // refused: a macro writes the operator ?: on a tensor
}
Tensor negation(Tensor x) {
  if (NOT(x > 0)) x = x * 2;  // refused: a macro writes the operator ! on a tensor
  return x;
}
Tensor jump(Tensor x) {
  if (x > 0) LEAVE;  // refused: the macro LEAVE writes a return under a tensor's condition
  return x * 2;
}

}  // namespace macros

// ---- names

namespace names {

Tensor hidden(Tensor x) {
  Tensor y = x;
  const auto set = [&] { y = x * 2; };  // refused: 'y' (line {-1}) changes under a tensor's condition (line {+3}), where its name means another variable; rename one of them
  {
    Tensor y = x;
    if (x > 0) set();
    x = y;
  }
  return x + y;
}

}  // namespace names
