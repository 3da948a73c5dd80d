#include "rewind/function/member_function.h"

#include <gtest/gtest.h>

#include <optional>

#include "rewind/autodiff/gradient_tape.h"
#include "rewind/module/module.h"
#include "rewind/tensor/ops/matmul.h"
#include "tests/support/expect_error.h"

namespace rw {
namespace {

struct Scaling : Module {
  Variable w;
  int calls = 0;  // of the C++ code
  explicit Scaling(float value = 2) : w(value, {.name = "w"}) {}
  Tensor forward(const Tensor& x) {
    ++calls;
    return x * w;
  }
  Tensor scaled(Tensor x, double by, bool training) const { return training ? x * w * by : x; }
  Function<Tensor(const Tensor&)> call{this, &Scaling::forward};
  Function<Tensor(Tensor, double, bool)> scale = rw::function(this, &Scaling::scaled, {.name = "scale"});
  RW_TRACK(w, call, scale)
};

// A function inside of a part, and one in front of it that is made of the whole.
struct Doubling : Module {
  Function<Tensor(const Tensor&)> twice{
      this, [](Doubling& self, const Tensor& x) { return self.part.call(x) + self.part.call(x); }};
  Scaling part{5};
  RW_TRACK(twice, part)
};

float number(const Tensor& t) { return t.item<float>(); }

TEST(MemberFunction, CallsItsModuleAndKeepsTraces) {
  Scaling net;
  EXPECT_EQ(number(net.call(constant(3.0f))), 6);
  net.w.assign(4.0f);
  EXPECT_EQ(number(net.call(constant(3.0f))), 12);
  EXPECT_EQ(net.calls, 1);
  EXPECT_EQ(number(net.scale(constant(3.0f), 2, true)), 24);
  EXPECT_EQ(number(net.scale(constant(3.0f), 2, false)), 3);
  EXPECT_EQ(net.scale.tracing_count(), 2);
  GradientTape tape;
  const Tensor y = net.call(net.w);  // a variable reads as its value
  EXPECT_EQ(number(tape.gradient(y, net.w)), 8);
}

TEST(MemberFunction, ACopyOfTheModuleCallsTheCopy) {
  Scaling net;
  net.call(constant(1.0f));
  Scaling copy = net;
  EXPECT_EQ(copy.call.tracing_count(), 0);
  copy.w = Variable(10.0f);
  EXPECT_EQ(number(copy.call(constant(3.0f))), 30);
  EXPECT_EQ(copy.calls, 2);  // one came with the copy
  EXPECT_EQ(number(net.call(constant(3.0f))), 6);

  std::vector<Scaling> many(3, copy);
  for (Scaling& each : many) {
    each.w = Variable(7.0f);
    EXPECT_EQ(number(each.call(constant(1.0f))), 7);
  }
  many.resize(20, copy);  // they move
  EXPECT_EQ(number(many[1].call(constant(1.0f))), 7);
  EXPECT_EQ(number(many[19].call(constant(1.0f))), 10);
}

TEST(MemberFunction, PartsAndWholesOfACopy) {
  auto outer = std::make_unique<Doubling>();
  Doubling copy(*outer);
  copy.part.w = Variable(1.0f);
  EXPECT_EQ(number(outer->twice(constant(1.0f))), 10);
  outer.reset();
  EXPECT_EQ(number(copy.twice(constant(1.0f))), 2);
}

TEST(MemberFunction, AMoveKeepsTheTraces) {
  Scaling net;
  net.call(constant(1.0f));
  std::optional<Scaling> moved(std::move(net));
  EXPECT_EQ(moved->call.tracing_count(), 1);
  moved->w.assign(9.0f);
  EXPECT_EQ(number(moved->call(constant(1.0f))), 9);
  EXPECT_EQ(number(moved->call(constant({1.0f, 2.0f}))[1]), 18);  // traced by the new object
  EXPECT_EQ(moved->calls, 2);
}

TEST(MemberFunction, AssignedModulesCallThemselves) {
  Scaling a(2), b(3);
  a.call(constant(1.0f));
  b.call(constant(1.0f));
  a = b;
  a.w = Variable(11.0f);
  EXPECT_EQ(number(a.call(constant(1.0f))), 11);
  EXPECT_EQ(number(b.call(constant(1.0f))), 3);
}

TEST(MemberFunction, ACopyOfTheFunctionAloneCallsTheModuleStill) {
  Scaling net;
  const auto call = net.call;
  net.w.assign(6.0f);
  EXPECT_EQ(number(call(constant(1.0f))), 6);
  EXPECT_EQ(net.call.tracing_count(), 1);  // one function
}

// Of another class than the function's own, at the same distance.
struct Borrower : Module {
  Variable w{100.0f};
  int calls = 0;
  Function<Tensor(const Tensor&)> call;
  explicit Borrower(const Scaling& net) : call(net.call) {}
  RW_TRACK(w, call)
};

TEST(MemberFunction, AModuleMayBorrowAFunction) {
  Scaling net;
  const Borrower borrower(net);
  EXPECT_EQ(number(borrower.call(constant(1.0f))), 2);
}

TEST(MemberFunction, HoldsWhatFunctionMadeWithItsTraces) {
  auto f = rw::function([](const Tensor& x) { return x + 1.0f; });
  f(constant(1.0f));
  const Function<Tensor(const Tensor&)> held = f;
  EXPECT_EQ(number(held(constant(1.0f))), 2);
  EXPECT_EQ(f.tracing_count(), 1);
  const Function<Tensor(const Tensor&)> none;
  EXPECT_FALSE(none);
  expect_error<FailedPreconditionError>([&] { none(constant(1.0f)); }, "an empty rw::Function");
}

TEST(MemberFunction, IsAmongTheObjectsOfAModule) {
  Scaling net;
  net.call(constant(1.0f));
  std::vector<std::string> names;
  for (const TrackableChild& child : net.trackable()->children(TrackFor::kSavedModel)) {
    names.push_back(child.name);
    if (child.name != "__call__") continue;
    ASSERT_EQ(child.object->kind(), Trackable::Kind::kFunction);
    EXPECT_EQ(static_cast<const FunctionTrackable&>(*child.object).traces().size(), 1u);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"w", "__call__", "scale"}));
  EXPECT_EQ(net.trackable()->children(TrackFor::kCheckpoint).size(), 1u);
  EXPECT_EQ(net.variables().size(), 1u);
}

TEST(MemberFunction, TracesWhatItsSignatureAsksFor) {
  struct Signed : Module {
    Function<Tensor(const Tensor&, const Tensor&)> call{
        this,
        [](Signed&, const Tensor& a, const Tensor& b) { return a + b; },
        {.input_signature = {{{{-1}, float32, "a"}, {{}, float32, "b"}}}}};
    RW_TRACK(call)
  } module;
  const TrackablePtr object = module.trackable()->children(TrackFor::kSavedModel).at(0).object;
  const auto traces = static_cast<const FunctionTrackable&>(*object).traces();
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].inputs()[0].shape, Shape({-1}));
}

TEST(ConcreteFunctionHandle, IsCalledAndReadAsAPointer) {
  Scaling net;
  const ConcreteFunction f = net.call.get_concrete_function(TensorSpec{{-1}, float32, "x"});
  EXPECT_EQ(number(Tensor(f(constant({3.0f})))[0]), 6);
  EXPECT_EQ(f->inputs()[0].name, "x");
  EXPECT_EQ((*f)({constant({3.0f})}).size(), 1u);
  const Variable v(constant({4.0f}));
  const Tensor y = f(v);
  EXPECT_EQ(number(y[0]), 8);
  EXPECT_EQ(f, net.call.get_concrete_function(TensorSpec{{-1}, float32, "x"}));
  const std::shared_ptr<const ConcreteFunction> shared = f;
  EXPECT_EQ(*shared, f);
  EXPECT_EQ(f.structure().arguments.items.size(), 1u);
  const auto two = rw::function([](const Tensor& x) { return std::tuple(x, x * 2.0f); });
  const auto both = two.get_concrete_function(TensorSpec{});
  EXPECT_EQ(number(both(4)[1]), 8);  // a number takes the argument's type
  expect_error<InvalidArgumentError>([&] { (void)Tensor(both(4)); }, "2 results");
}

TEST(CallStructure, SaysWhatStandsWhere) {
  using Kind = Structure::Kind;
  const auto f = rw::function([](const std::vector<Tensor>& list,
                                 const std::map<std::string, std::pair<Tensor, int>>& named, bool flag,
                                 std::optional<Tensor> none) {
    return std::map<std::string, Tensor>{{"a", list[1]}, {"b", named.at("k").first}};
  });
  const Tensor x = constant(1.0f);
  const CallStructure& s =
      f.get_concrete_function(std::vector{x, x}, std::map<std::string, std::pair<Tensor, int>>{{"k", {x, 3}}},
                              true, std::optional<Tensor>())
          .structure();
  ASSERT_EQ(s.arguments.items.size(), 4u);
  EXPECT_EQ(s.arguments.items[0].kind, Kind::kList);
  EXPECT_EQ(s.arguments.items[0].items[1].index, 1u);
  EXPECT_EQ(s.arguments.items[1].keys, std::vector<std::string>{"k"});
  EXPECT_EQ(s.arguments.items[1].items[0].items[0].index, 2u);
  EXPECT_EQ(s.arguments.items[1].items[0].items[1].integer, 3);
  EXPECT_EQ(s.arguments.items[2].kind, Kind::kBool);
  EXPECT_EQ(s.arguments.items[3].kind, Kind::kNone);
  EXPECT_EQ(s.results.keys, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(s.results.items[1].index, 1u);
}

}  // namespace
}  // namespace rw
