// Compiled as it stands and converted.
#include "tests/autograph/mixed/calls.h"

#include "tests/autograph/mixed/shapes.h"

namespace mixed {

#ifdef AUTOGRAPH_CONVERTED
Calls converted_calls() {
#else
Calls plain_calls() {
#endif
  return {
      {"function", in_a_function},
      {"function that calls one", by_a_call},
      {"function by its address", [](Tensor x) { return (*&in_a_function)(x); }},
      {"template", in_a_template<Tensor>},
      {"template that calls one", by_a_call_in_a_template<Tensor>},
      {"member", [](Tensor x) { return Plain{x}.member(); }},
      {"static member", Plain::static_member},
      {"member defined outside", [](Tensor x) { return Plain{x}.declared(); }},
      {"friend", [](Tensor x) { return Plain{x} + 1.0; }},
      {"member of a class inside", [](Tensor x) { return Plain::Inner()(x); }},
      {"template over a class", [](Tensor x) { return applied(Plain::Inner(), x); }},
      {"member of a class template", [](Tensor x) { return Box<Tensor>{x}.open(); }},
      {"template in a class template", [](Tensor x) { return Box<Tensor>{x}.open_as(x); }},
      {"virtual function", [](Tensor x) { return std::unique_ptr<Base>(new Derived)->call(x); }},
      {"virtual function of a class further down",
       [](Tensor x) { return std::unique_ptr<Base>(new Further)->call(x); }},
      {"virtual function by a member",
       [](Tensor x) { return Further().twice(x * 0 + 1) + in_a_function(x); }},
      {"virtual function of a template",
       [](Tensor x) { return std::unique_ptr<Base>(new Layer<int>)->call(x); }},
      {"member with virtual functions", [](Tensor x) { return Holder()(x); }},
      {"object with an operator()", Called()},
      {"object with such a member", CalledByAMember()},
      {"object behind a reference", std::bind(Called(), std::placeholders::_1)},
      {"constructor that makes an object", [](Tensor x) { return Maker().call(x); }},
      {"template that makes an object", [](Tensor x) { return made_by_a_template()->call(x); }},
      {"function that calls a lambda", calls_a_lambda},
      {"lambda that names a function", names_a_function},
      {"lambda", in_a_lambda},
      {"lambda that is returned", returns_a_lambda()},
      {"lambda in a static", has_a_static},
  };
}

#ifdef AUTOGRAPH_CONVERTED
int converted_count() { return counter(); }
#else
int plain_count() { return counter(); }
#endif

}  // namespace mixed
