// Small programs that are refused while a function is traced, by words of the message and the user's line.
// This file is built with debug information and stands outside namespace rw, as users' code does.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <source_location>

#include "rewind/base/call_site.h"
#include "rewind/rewind.h"
#include "rewind/tensor/trace.h"

namespace user_code {
namespace {

using rw::constant;
using rw::Tensor;

bool lines_are_known() {
  static const bool known = rw::CallSite::here().describe().find("traced_test.cc:") != std::string::npos;
  return known;
}

// The lines of this file from a call of refused() on, up to the next one, that a message must name.
std::vector<unsigned> lines_to_name(unsigned from) {
  static const std::vector<std::string> lines = [] {
    std::vector<std::string> all{""};
    std::ifstream file(__FILE__);
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }();
  const auto begins = [](const std::string& line) {
    return line.starts_with("  refused(") || line.starts_with("TEST(");
  };
  while (!begins(lines.at(from))) --from;
  std::vector<unsigned> found;
  for (unsigned i = from; i < lines.size() && (i == from || !begins(lines[i])); ++i)
    if (lines[i].ends_with("// named")) found.push_back(i);
  return found;
}

// The program is refused, in these words, and the lines with the comment `named` are named.
template <class F>
void refused(F f, const std::string& words, std::source_location here = std::source_location::current()) {
  std::string text = "nothing is refused";
  try {
    rw::function(f)(constant(3.0));
  } catch (const rw::Error& e) { text = e.what(); }
  EXPECT_NE(text.find(words), std::string::npos) << "line " << here.line() << ": " << text;
  if (!lines_are_known()) return;
  for (const unsigned line : lines_to_name(here.line()))
    EXPECT_NE(text.find("traced_test.cc:" + std::to_string(line)), std::string::npos)
        << "line " << line << " is not in: " << text;
}
template <class F>
void eager_as_well(F f, const std::string& words) {
  try {
    f(constant(3.0));
    FAIL() << "nothing is refused";
  } catch (const rw::Error& e) {
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

TEST(AutographTraced, BranchesThatDisagree) {
  refused(
      [](Tensor x) {
        if (x > 0) x = rw::cast(x, rw::int32);  // named
        else x = x * 2.0;                       // named
        return x;
      },
      R"(both branches must leave "x" with one dtype: it is int32 after the first and float32 after the second; rw::cast)");
  refused(
      [](Tensor x) {
        std::vector<Tensor> v{x};
        if (x < 9) v.push_back(x * 2.0);  // named
        return v[0];
      },
      R"(both branches must leave "v" in one structure: the first leaves (a list of 2, tensor, tensor), the second (a list of 1, tensor))");
  refused(
      [](Tensor x) {
        std::map<std::string, Tensor> m{{"a", x}};
        if (x > 0) m["b"] = x;  // named
        return m["a"];
      },
      R"("m" in one structure: the first leaves (a list of 2, 'a', tensor, 'b', tensor))");
  refused(
      [](Tensor x) {
        std::optional<Tensor> o;
        if (x > 0) o = x;  // named
        return o ? *o : x;
      },
      R"("o" in one structure)");
  refused(
      [](Tensor x) {
        rw::TensorArray a(rw::float32, {.size = 2});
        if (x > 0) a = rw::TensorArray(rw::int32, {.size = 2});  // named
        return x;
      },
      R"("a" in one structure)");
  refused([](Tensor x) { return x > 0 ? rw::cast(x, rw::int32) : x * 2.0; },
          "the same dtypes: output 0 is int32 in branch 0 and float32 in branch 1");
}
TEST(AutographTraced, ReturnsThatDisagree) {
  refused(
      [](Tensor x) -> Tensor {
        if (x > 0) return rw::cast(x, rw::int32);  // named
        return x;
      },
      "both branches must leave the return value with one dtype: it is int32 after the first and float32");
  refused(
      [](Tensor x) {
        const auto f = [](const Tensor& t) -> std::vector<Tensor> {
          if (t > 0) return {t};  // named
          return {t, t};
        };
        return f(x)[0];
      },
      "both branches must leave the return value in one structure");
  refused(
      [](Tensor x) {
        const auto f = [](const Tensor& t) -> int {
          if (t > 0) return 1;  // named
          return 2;
        };
        return x * f(x);
      },
      "the return value is of type int, and the staged body changes it");
}

class Opaque {
 public:
  explicit Opaque(Tensor t) : t_(std::move(t)) {}
  void set(Tensor t) { t_ = std::move(t); }
  Tensor get() const { return t_; }

 private:
  Tensor t_;
};
Opaque chosen(const Tensor& x) {
  if (x > 0) return Opaque(x);
  return Opaque(x * 2.0);
}
struct Unique {
  Tensor t;
  std::unique_ptr<int> p;
};
TEST(AutographTraced, TypesThatCannotBePutBack) {
  refused([](Tensor x) { return chosen(x).get(); },
          "a staged condition decides which user_code::{anonymous}::Opaque is returned, and the tensors in "
          "it cannot be listed");
  refused(
      [](Tensor x) {
        Opaque o(x);
        if (x > 0) o.set(x * 2.0);  // named
        return o.get();
      },
      R"("o" is of type user_code::{anonymous}::Opaque, which the staged body may change and which cannot be copied and compared; RW_STATE)");
  refused(
      [](Tensor x) {
        Unique u{x, nullptr};
        if (x > 0) u = Unique{x * 2.0, nullptr};  // named
        return u.t;
      },
      R"("u" is of type user_code::{anonymous}::Unique, which the staged body may change and which cannot be copied)");
}
enum class Mode { kFirst, kSecond };
TEST(AutographTraced, ValuesOfTheHost) {
  refused(
      [](Tensor x) {
        Mode m = Mode::kFirst;
        if (x > 0) m = Mode::kSecond;  // named
        return m == Mode::kFirst ? x : x * 2.0;
      },
      R"("m" is of type user_code::{anonymous}::Mode, and the staged body changes it: that happens once, while the function is traced)");
  refused(
      [](Tensor x) {
        std::string s = "a";
        while (x < 9) {  // named
          x = x + 1.0;
          s += "b";
        }
        return s == "a" ? x : x * 2.0;
      },
      R"("s" is of type std::string, and the staged body changes it)");
  refused(
      [](Tensor x) {
        std::mt19937 draws(1);
        if (x > 0) x = x + double(draws() % 7);  // named
        return x;
      },
      R"("draws" is of type std::mersenne_twister_engine, and the staged body changes it)");
  refused(
      [](Tensor x) {
        static rw::Variable a(1.0), b(2.0);
        rw::Variable v = a;
        if (x > 0) v = b;  // named
        return v + x;
      },
      R"("v" is of type rw::Variable, and the staged body changes it)");
}
TEST(AutographTraced, TensorsWithoutAValue) {
  refused(
      [](Tensor x) {
        Tensor y;
        if (x > 0) y = x;  // named
        return x + y;
      },
      R"("y" is set in one branch only, and the other leaves it without a value)");
  refused(
      [](Tensor x) {
        Tensor y;
        while (x < 9) {  // named
          x = x + 1.0;
          y = x;
        }
        return y;
      },
      R"("y" must have a value before the loop: the body may never run)");
  refused(
      [](Tensor x) {
        Tensor y;
        for (Tensor i : rw::range(3)) y = x;  // named
        return y;
      },
      R"("y" must have a value before the loop)");
  refused(
      [](Tensor x) {
        Tensor last;  // set in the iteration before, and not in the first one
        while (x < 9) {
          x = x + last;
          last = x;
        }
        return x;
      },
      "an undefined tensor");
}
TEST(AutographTraced, LoopVariablesThatChange) {
  refused(
      [](Tensor x) {
        while (rw::reduce_sum(x) < 9) x = rw::stack({x, x});  // named
        return x;
      },
      R"("x" enters the loop with shape () and has shape (2,) after one iteration; give shape_invariants)");
  refused(
      [](Tensor x) {
        while (x < 9) x = rw::cast(x, rw::float64) + 1;  // named
        return x;
      },
      R"("x" enters the loop as float32 and is float64 after one iteration; rw::cast converts)");
  refused(
      [](Tensor x) {
        std::vector<Tensor> v{x};
        while (x < 9) {  // named
          x = x + 1.0;
          v.push_back(x);
        }
        return v[0];
      },
      "a list that grows in a staged loop must be an rw::TensorArray");
  refused(
      [](Tensor x) {
        while (x < 9) {  // named
          rw::autograph::set_loop_options({.shape_invariants = {{x, rw::Shape({3})}}});
          x = x + 1.0;
        }
        return x;
      },
      R"("x" enters the loop with shape (), which its invariant (3,) excludes)");
}
TEST(AutographTraced, ListsBehindAStagedContinue) {
  refused(
      [](Tensor x) {
        std::vector<Tensor> v;
        for (int i = 0; i < 3; ++i) {
          if (x > i) continue;  // named
          v.push_back(x);
        }
        return x;
      },
      "a list whose length a tensor decides must be an rw::TensorArray");
}
TEST(AutographTraced, ConditionsAndRanges) {
  refused(
      [](Tensor x) {
        if (rw::stack({x, x}) > 0) x = x * 2.0;  // named
        return x;
      },
      "the condition must be one value: got shape (2,)");
  refused(
      [](Tensor x) {
        while (rw::stack({x, x}) > 0) x = x - 1.0;  // named
        return x;
      },
      "the condition must be one value: got shape (2,)");
  refused(
      [](Tensor x) {
        for (Tensor t : x) x = x - t;  // named
        return x;
      },
      "the range must have an axis to go along: it is a scalar");
  const auto by_float = [](Tensor x) {
    switch (int64_t(x)) {
      case 1: x = x + 1.0; break;
      default: x = x * 2.0;
    }
    return x;
  };
  refused(by_float, "a tensor to switch on must hold an integer: it holds float32");
  eager_as_well(by_float, "a tensor to switch on must hold an integer: it holds float32");
  refused(
      [](Tensor x) {
        switch (int64_t(rw::cast(rw::stack({x, x}), rw::int32))) {  // named
          case 1: x = x + 1.0;
        }
        return x;
      },
      "a tensor to switch on must have one element: its shape is (2,)");
}

bool is_small(const Tensor& x) { return x > 0 && x < 5; }
TEST(AutographTraced, NumbersThatAreOfTheGraph) {
  refused([](Tensor x) { return is_small(x) ? x : x * 2.0; },
          "C++ has no value for this bool: a tensor decides it");
  refused(
      [](Tensor x) {
        if (bool(x > 0)) x = x * 2.0;  // named
        return x;
      },
      "has no value while the function is traced; so C++ cannot branch on it");
  refused(
      [](Tensor x) {
        while (x < 9) {
          x = x + 1.0;
          if (x.item<float>() > 3) break;  // named
        }
        return x;
      },
      "has no value while the function is traced");
}

Tensor depth(const Tensor& n) {
  if (n < 1) return constant(0.0);
  return depth(n - 1.0) + 1.0;
}
TEST(AutographTraced, RecursionWithoutEnd) {
  refused([](Tensor x) { return depth(x); },
          "a function that calls itself in a staged branch never stops being traced");
}
TEST(AutographTraced, TapesThatAreAskedTwice) {
  refused(
      [](Tensor x) {
        rw::GradientTape tape;
        tape.watch(x);
        const Tensor y = x * x;
        Tensor g = 0.0;
        if (x > 1) g = tape.gradient(y, x).tensor();
        else g = tape.gradient(y, x).tensor() * 2.0;
        return g;
      },
      "make it with {.persistent = true}");
  refused(
      [](Tensor x) {
        rw::GradientTape tape;
        tape.watch(x);
        const Tensor y = x * x;
        Tensor g = 0.0;
        if (x > 1) g = tape.gradient(y, x).tensor();
        while (g < 100) g = g + tape.gradient(y, x).tensor();
        return g;
      },
      "make it with {.persistent = true}");
}

// What a class lists does not hold what one that is derived from it adds.
struct Listed {
  Tensor a;
  RW_STATE(a)
};
struct ListedAndMore : Listed {
  Tensor b;
  void set(const Tensor& t) { a = b = t; }
};
struct ListedAlike : Listed {
  Tensor twice() const { return a * 2.0; }
};
struct Plain {
  Tensor a;
};
struct PlainAndMore : Plain {
  Tensor b;
  void set(const Tensor& t) { a = b = t; }
};
TEST(AutographTraced, DerivedStructs) {
  const auto changed = [](auto s) {
    return [s](Tensor x) {
      auto t = s;
      if (x > 1) t.set(x);  // named
      return t.a + t.b;
    };
  };
  refused(changed(ListedAndMore{{constant(1.0)}, constant(2.0)}),
          "RW_STATE(a, b) in a class lists the members that hold tensors");
  refused(changed(PlainAndMore{{constant(1.0)}, constant(2.0)}),
          "RW_STATE(a, b) in a class lists the members that hold tensors");
  const auto alike = [](Tensor x) {
    ListedAlike s{{x}};
    if (x > 1) s.a = x * 3.0;
    return s.twice();
  };
  EXPECT_EQ(rw::function(alike)(constant(2.0)).item<float>(), 12);
}
TEST(AutographTraced, TapesThatALoopAsks) {
  refused(
      [](Tensor x) {
        rw::GradientTape tape;
        tape.watch(x);
        const Tensor y = x * x;
        Tensor g = 0.0;
        while (g < 10) g = g + tape.gradient(y, x).tensor();  // named
        return g;
      },
      "make the tape inside of the loop's body, or with {.persistent = true}");
  refused(
      [](Tensor x) {
        rw::GradientTape tape;
        tape.watch(x);
        const Tensor y = x * x;
        tape.stop();
        for (Tensor i : rw::range(3))
          if (x > cast(i, rw::float32)) x = x + tape.gradient(y, x).tensor();  // named
        return x;
      },
      "make the tape inside of the loop's body, or with {.persistent = true}");
  // Inside of the body, or persistent, it may be asked.
  const auto f = [](Tensor x) {
    rw::GradientTape outside({.persistent = true});
    outside.watch(x);
    const Tensor y = x * x;
    Tensor g = 0.0;
    for (Tensor i : rw::range(2)) {
      rw::GradientTape tape;
      tape.watch(x);
      const Tensor z = x * x * x;
      g = g + tape.gradient(z, x).tensor() + outside.gradient(y, x).tensor();
    }
    return g;
  };
  EXPECT_EQ(f(constant(2.0)).item<float>(), 32);
  EXPECT_EQ(rw::function(f)(constant(2.0)).item<float>(), 32);
}
// A loop of C++'s whose end a tensor decides is unrolled; this one would be for ever.
TEST(AutographTraced, LoopsThatAreUnrolledWithoutEnd) {
  refused(
      [](Tensor x) {
        for (int i = 0; i < 1000000000; ++i) {
          if (x > 10) break;
          x = x + 1.0;
        }
        return x;
      },
      "staged ifs stand in one graph: a loop of C++'s is unrolled");
  const int64_t most = std::exchange(rw::Trace::most_added, 100000);
  refused(
      [](Tensor x) {
        if (x > 10)
          for (int i = 0; i < 1000000000; ++i) x = x * 2.0;  // named; never runs: x is 3
        return x;
      },
      "has taken more than 100000 operations: a loop of C++'s is unrolled");
  rw::Trace::most_added = most;
}

// A lambda that the file does not show changes a tensor: its value of one branch is met in the other one.
TEST(AutographTraced, ChangesThatTheFileDoesNotShow) {
  Tensor kept;
  const std::map<int, std::function<void(const Tensor&)>> hooks{
      {1, [&](const Tensor& t) { kept = t * 2.0; }}};
  void* const hidden = const_cast<void*>(static_cast<const void*>(&hooks));
  refused(
      [hidden, &kept](Tensor x) {
        const auto& all = *static_cast<const std::map<int, std::function<void(const Tensor&)>>*>(hidden);
        kept = x;
        if (x > 0) all.at(1)(x);
        return kept + x;  // named
      },
      "is used outside the trace that made it");
}

// An exception thrown while a construct is traced leaves the variables as they were.
template <class F>
void puts_back(F f) {
  EXPECT_EQ(rw::function(f)(constant(3.0)).template item<float>(), 18);
}
struct Stop : std::exception {};
Tensor stop(const Tensor&) { throw Stop(); }
TEST(AutographTraced, ExceptionsPutVariablesBack) {
  puts_back([](Tensor x) {
    Tensor y = x * 2.0;
    std::vector<Tensor> v{x, y};
    int k = 3;
    try {
      if (x > 0) {
        y = y + 1.0;
        v[1] = y;
        k = 7;
        x = stop(y);
      }
    } catch (const Stop&) { return x + y + v[1] + k; }
    return x;
  });
  puts_back([](Tensor x) {
    Tensor y = x * 2.0;
    int k = 3;
    try {
      if (x > 0) {
        y = y + 1.0;
        ++k;
      } else {
        y = y - 1.0;
        while (y > 0) x = x + stop(y);
      }
    } catch (const Stop&) { return x + y * 2.0 + k; }
    return x;
  });
  puts_back([](Tensor x) {
    Tensor y = x * 2.0;
    int k = 3;
    const auto change = [&](const Tensor& t) {
      y = y + t;
      ++k;
      return stop(t) > 0;
    };
    try {
      if (x > 0 && change(x)) x = x * 2.0;
    } catch (const Stop&) { return x + y * 2.0 + k; }
    return x;
  });
  puts_back([](Tensor x) {
    Tensor y = x * 2.0;
    int k = 3;
    try {
      for (Tensor i : rw::range(3)) {
        y = y + 1.0;
        if (x > 1) continue;
        ++k;
        x = stop(x);
      }
    } catch (const Stop&) { return x + y * 2.0 + k; }
    return x;
  });
}

}  // namespace
}  // namespace user_code
