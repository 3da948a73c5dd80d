"""Random functions of one tensor in plain C++: conditions of tensors, of the host and of promoted numbers in each other,
jumps at any depth, switches, lambdas, calls that change arguments, members and variables, structs, lists, arrays, tuples,
TensorArrays, datasets. Every one ends, and its tensors keep their types and shapes."""
import random

NUMBERS = ["int", "int", "int", "int64_t", "unsigned", "short", "uint8_t", "bool", "double", "float"]
INTEGERS = ("int", "int64_t", "unsigned", "short", "uint8_t")
PLACES = ["function", "lambda", "method", "template", "generic"]
HEADER = """#include <optional>

#include "tests/autograph/check.h"

namespace rw::autograph_test {
namespace {

struct Two {
  Tensor a, b;
  RW_STATE(a, b)
};
struct Three {
  Two two;
  Tensor c;
  RW_STATE(two, c)
};
const double kTable[] = {0.5, -0.25, 0.75};
[[maybe_unused]] Tensor halved(const Tensor& t) { return t * 0.5; }
[[maybe_unused]] void decay(Tensor& t) { t = t * 0.75; }
[[maybe_unused]] Tensor bent(Tensor t) {
  if (t > 1.0) return t * 0.5;
  while (t < -1.0) t = t * 0.5 + 0.25;
  return t;
}
[[maybe_unused]] void push(Tensor& a, const Tensor& b) {
  if (a < b) a = a * 0.5 + b * 0.25;
  else a -= 0.25;
}
[[maybe_unused]] std::tuple<Tensor, Tensor> ordered(const Tensor& a, const Tensor& b) {
  if (a > b) return {b, a};
  return {a, b};
}
template <class T>
[[maybe_unused]] T larger(const T& a, const T& b) {
  return a > b ? a : b;
}
// Over a tensor, or a range of the host's.
template <class R>
[[maybe_unused]] Tensor folded(const R& range, Tensor sum) {
  for (const auto& v : range) {
    if (sum > 4.0) break;
    if (v < 0.25) continue;
    if (sum < -6.0 && v > 1.0) return sum * 0.5;
    sum = sum * 0.5 + v;
  }
  return sum;
}
// A variable; every program that has it begins by setting it.
[[maybe_unused]] Variable& memory() {
  static auto* const variable = new Variable(0.25);
  return *variable;
}

"""
FOOTER = "}  // namespace\n}  // namespace rw::autograph_test\n"


class Program:
    def __init__(self, seed, name):
        self.r = random.Random(seed)
        self.name = name
        self.lines = []
        self.depth = 1
        self.count = 0
        self.scopes = [{}]  # name: kind
        self.loops = []  # "loop" or "switch"
        self.budget = self.r.randint(6, 22)
        self.in_lambda = 0
        self.action = False  # inside of a lambda without a result
        self.last = []  # statements at the end of the next block
        self.place = self.r.choice(PLACES)
        self.remembers = self.r.random() < 0.2

    # ---- variables

    def new(self, stem, kind):
        self.count += 1
        name = f"{stem}{self.count}"
        self.scopes[-1][name] = kind
        return name

    def of(self, *kinds):
        return [n for s in self.scopes for n, k in s.items() if k in kinds]

    def pick(self, *kinds):
        names = self.of(*kinds)
        return self.r.choice(names) if names else None

    def kind(self, name):
        return next(s[name] for s in self.scopes if name in s)

    def line(self, text):
        self.lines.append("  " * self.depth + text)

    # ---- expressions

    def real(self):
        return self.r.choice(["0.25", "0.5", "1.0", "1.5", "2.0", "3.0", "-1.0", "-0.5"])

    def places_of_floats(self):
        places = self.of("f")
        places += [f"{s}.{m}" for s in self.of("two") for m in "ab"]
        places += [f"{v}[{i}]" for v in self.of("list", "array") for i in range(2)]
        places += [f"std::get<{i}>({t})" for t in self.of("tuple") for i in range(2)]
        places += [f"{s}.{m}" for s in self.of("three") for m in ("two.a", "two.b", "c")]
        places += [f"{s}[{i}].{m}" for s in self.of("structs") for i in range(2) for m in "ab"]
        places += [f"(*{o})" for o in self.of("optional")]
        return places

    def two_places(self):
        places = self.places_of_floats()
        return self.r.sample(places, 2)

    def floats(self, depth=2):
        r = self.r
        f = lambda: self.floats(depth - 1)
        if depth <= 0 or r.random() < 0.25:
            return r.choice(self.places_of_floats())
        choices = [
            lambda: f"{f()} * {r.choice(['0.5', '0.25', '0.75', '-0.5'])}",
            lambda: f"({f()} + {f()}) * 0.5",
            lambda: f"({f()} - {f()})",
            lambda: f"({f()} + {self.real()})",
            lambda: f"maximum({f()}, {f()})",
            lambda: f"{r.choice(['halved', 'bent'])}({f()})",
            # Values, not variables: beside a call that changes one, C++ leaves open which value an argument has.
            lambda: f"({self.condition(1, 'tensor')} ? Tensor({f()}) : {f()})",
            lambda: f"({self.condition(1)} ? Tensor({f()}) : {f()})",
        ]
        if self.of("n"):
            choices.append(lambda: f"(cast({self.ints(1)}, float32) * 0.25)")
        if self.of(*NUMBERS):
            choices.append(lambda: f"({f()} + {self.pick(*[k for k in NUMBERS if k != 'bool' and self.of(k)] or ['f'])})")
        if r.random() < 0.15:
            choices.append(lambda: f"folded(stack({{{f()}, {f()}}}), {f()})")
            choices.append(lambda: f"folded(std::vector<Tensor>{{{f()}, {f()}}}, {f()})")
            choices.append(lambda: f"folded(std::array<double, 3>{{{self.real()}, {self.real()}, {self.real()}}}, {f()})")
        if r.random() < 0.25:
            choices.append(lambda: f"larger(Tensor({f()}), Tensor({f()}))")
        if self.remembers and r.random() < 0.5:
            choices.append(lambda: f"({f()} - memory() * 0.5)")
        if self.of("written"):
            choices += [lambda: f"{self.pick('written')}.read({r.randint(0, 2)})", lambda: f"reduce_sum({self.pick('written')}.stack())"]
        if self.of("holder"):
            choices.append(lambda: f"{self.pick('holder')}({f()})")
        if self.of("index"):
            choices.append(lambda: f"({f()} * kTable[{self.pick('index')} % 3])")
        if self.of("index", "real index"):
            choices.append(lambda: f"({f()} - {self.pick('index', 'real index')})")
        if self.of("lambda"):
            choices.append(lambda: f"{self.pick('lambda')}({f()})")
        return r.choice(choices)()

    def ints(self, depth=2):
        r = self.r
        if depth <= 0 or r.random() < 0.3:
            return self.pick("n")
        a = self.ints(depth - 1)
        choices = [lambda: f"({a} + {r.randint(-3, 3)})", lambda: f"({a} * 3 % {r.randint(5, 9)})", lambda: f"({a} - {self.ints(depth - 1)})",
                   lambda: f"math::floordiv({a}, {r.randint(2, 4)})"]
        if self.of("int", "short"):
            choices.append(lambda: f"({a} + {self.pick('int', 'short')})")
        return r.choice(choices)()

    def integer(self, depth=2):
        """An integer of the host's."""
        r = self.r
        names = self.of(*INTEGERS, "index")
        if depth <= 0 or not names or r.random() < 0.3:
            return r.choice(names + [str(r.randint(0, 5))])
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        choices = [lambda: f"({a} + {b})", lambda: f"({a} - {b})", lambda: f"({a} * {r.randint(2, 5)})", lambda: f"({a} / {r.randint(2, 4)})",
                   lambda: f"({a} % {r.randint(2, 7)})", lambda: f"({a} / ({b} % 3 + 5))", lambda: f"-({a})",
                   lambda: f"({self.condition(1)} ? {a} : {b})"]
        if self.of("double"):
            choices.append(lambda: f"int64_t({self.pick('double')}) % 100")
        if self.of("level"):
            choices += [lambda: f"{self.pick('level')}({self.floats(0)})"] * 2
        return r.choice(choices)()

    def number(self, depth=2):
        r = self.r
        names = self.of("double", "float")
        if depth <= 0 or not names or r.random() < 0.3:
            return r.choice(names + [self.real()])
        a, b = self.number(depth - 1), self.number(depth - 1)
        return r.choice([lambda: f"({a} + {b}) * 0.5", lambda: f"({a} * 0.5 - {b})", lambda: f"({a} + {self.integer(1)} % 10)",
                         lambda: f"({self.condition(1)} ? {a} : {b})", lambda: f"double({self.integer(1)} % 50) / 8"])()

    def condition(self, depth=2, by=None):
        r = self.r
        by = by or r.choice(["tensor", "tensor", "tensor", "host"])
        if depth > 0 and r.random() < 0.35:
            a, b = self.condition(depth - 1, by), self.condition(depth - 1)
            return r.choice([f"({a} && {b})", f"({a} || {b})", f"!({a})", f"({b} && {a})" if by == "host" else f"({a} && {b})"])
        if by == "tensor":
            choices = [lambda: f"{r.choice(self.places_of_floats())} {r.choice(['>', '<', '>='])} {self.real()}",
                       lambda: f"{r.choice(self.places_of_floats())} {r.choice(['>', '<'])} {r.choice(self.places_of_floats())}"]
            if self.remembers:
                choices.append(lambda: f"memory() > {self.real()}")
            if r.random() < 0.1:
                choices.append(lambda: f"({r.choice(self.places_of_floats())} - {self.real()})")
            if self.of("n"):
                choices += [lambda: f"{self.pick('n')} % {r.randint(2, 3)} == {r.randint(0, 1)}", lambda: f"{self.pick('n')} > {r.randint(-2, 4)}"]
            if self.of("t"):
                choices.append(lambda: self.pick("t"))
            if self.of("int", "double"):
                choices.append(lambda: f"{r.choice(self.places_of_floats())} > {self.pick('int', 'double')}")
            return r.choice(choices)()
        choices = [lambda: f"{self.integer(1)} {r.choice(['>', '<', '==', '!=', '<='])} {r.randint(0, 5)}"]
        if self.of("bool"):
            choices += [lambda: self.pick("bool")] * 2
        if self.of("double", "float"):
            choices.append(lambda: f"{self.number(1)} > {self.real()}")
        return r.choice(choices)()

    # ---- statements

    def assign(self):
        r = self.r
        kinds = ["f"] * 5 + ["n"] * 2 + ["list", "two"] + ["number"] * 4
        kind = r.choice(kinds)
        if kind == "number" and self.of(*NUMBERS):
            return self.assign_number(self.pick(*NUMBERS))
        if kind == "n" and self.of("n"):
            n = self.pick("n")
            return self.line(r.choice([f"{n} = {self.ints()};", f"++{n};", f"{n}--;", f"{n} += {r.randint(1, 4)};", f"{n} %= 5;"]))
        style = r.random()
        if style < 0.05:
            return self.line("std::swap({}, {});".format(*self.two_places()))
        if style < 0.1:
            return self.line("std::tie({}, {}) = ordered({}, {});".format(*self.two_places(), self.floats(1), self.floats(1)))
        if style < 0.15:
            return self.line("push({}, {});".format(r.choice(self.places_of_floats()), self.floats(1)))
        if style < 0.2 and self.remembers:
            return self.line(f"memory().{r.choice(['assign', 'assign_add'])}({self.floats(1)} * 0.25);")
        if style < 0.3 and self.of("action"):
            return self.line(f"{self.pick('action')}({self.floats(1)});")
        if style < 0.35 and self.of("written"):
            t = self.pick("written")
            return self.line(f"{t} = {t}.write({r.randint(0, 2)}, {self.floats(1)});")
        if style < 0.37 and self.place == "method":
            return self.line(f"shift({self.real()});")
        f = r.choice(self.places_of_floats())
        self.line(r.choice([f"{f} = {self.floats()};"] * 4 + [f"{f} += {self.floats(1)} * 0.25;", f"{f} *= 0.5;", f"decay({f});"]))

    def assign_number(self, name):
        r = self.r
        kind = self.kind(name)
        if kind == "bool":
            return self.line(r.choice([f"{name} = !{name};", f"{name} = {name} && {self.condition(1)};", f"{name} = {self.condition(1)} || {self.condition(1, 'host')};",
                                       f"{name} = !({self.condition(1)});"]))
        if kind in ("double", "float"):
            return self.line(r.choice([f"{name} = {self.number()};", f"{name} *= 0.5;", f"{name} += {self.number(1)};", f"{name} /= 3;"]))
        self.line(r.choice([f"{name} = {self.integer()};", f"++{name};", f"{name}--;", f"{name} += {self.integer(1)};", f"{name} *= 3;", f"{name} /= 2;",
                            f"{name} %= 7;", f"{name} ^= 5;", f"{name} = {self.integer()} % 11;"]))

    def declare(self):
        r = self.r
        what = r.choice(["f", "f", "n", "t", "list", "two", "binding", "unset", "reference", "logic", "array", "tuple", "three", "structs",
                         "ordered", "parts", "written", "called", "holder", "optional", "level"] + ["number"] * 6)
        if what == "f":
            e = self.floats()
            self.line(f"{r.choice(['Tensor', 'auto', 'Tensor'])} {self.new('a', 'f')} = {e};")
        elif what == "n":
            e = r.choice([f"constant({r.randint(-4, 9)})", f"cast(clip_by_value({r.choice(self.places_of_floats())}, -20.0, 20.0), int32)"])
            self.line(f"Tensor {self.new('n', 'n')} = {e};")
        elif what == "t":
            e = f"{r.choice(self.places_of_floats())} > {self.real()}"
            self.line(f"{r.choice(['const Tensor', 'auto'])} {self.new('t', 't')} = {e};")
        elif what == "logic":
            e = f"{self.condition(0, 'tensor')} && {self.condition(1)}"
            self.line(f"auto {self.new('l', 'bool')} = {e};")
        elif what == "list":
            e = f"{{{self.floats(1)}, {self.floats(1)}}}"
            self.line(f"std::vector<Tensor> {self.new('v', 'list')}{e};")
        elif what == "two":
            e = f"{{{self.floats(1)}, {self.floats(1)}}}"
            self.line(f"Two {self.new('s', 'two')}{e};")
        elif what == "binding":
            e = f"std::pair<Tensor, Tensor>{{{self.floats(1)}, {self.floats(1)}}}"
            first, second = self.new("b", "f"), self.new("b", "f")
            self.line(f"auto [{first}, {second}] = {e};")
        elif what == "array":
            e = f"{{{self.floats(1)}, {self.floats(1)}}}"
            kind, dimension = r.choice([("std::array<Tensor, 2>", ""), ("Tensor", "[2]")])
            self.line(f"{kind} {self.new('v', 'array')}{dimension}{e};")
        elif what == "tuple":
            e = f"{self.floats(1)}, {self.floats(1)}"
            self.line(f"std::tuple<Tensor, Tensor> {self.new('v', 'tuple')}({e});")
        elif what == "three":
            e = f"{{{{{self.floats(1)}, {self.floats(1)}}}, {self.floats(1)}}}"
            self.line(f"Three {self.new('s', 'three')}{e};")
        elif what == "structs":
            e = f"{{{{{self.floats(1)}, {self.floats(1)}}}, {{{self.floats(0)}, {self.floats(0)}}}}}"
            self.line(f"{r.choice(['std::vector<Two>', 'std::array<Two, 2>'])} {self.new('s', 'structs')}{{Two{e[1:-1].replace('}, {', '}, Two{')}}};")
        elif what == "ordered":
            e = f"ordered({self.floats(1)}, {self.floats(1)})"
            first, second = self.new("b", "f"), self.new("b", "f")
            self.line(f"auto [{first}, {second}] = {e};")
        elif what == "parts":
            if not self.of("two"):
                return self.assign()
            e = self.pick("two")
            first, second = self.new("b", "f"), self.new("b", "f")
            self.line(f"auto& [{first}, {second}] = {e};")
        elif what == "written":
            self.count += 1
            t, i = f"t{self.count}", f"i{self.count}"
            self.line(f"TensorArray {t}(float32, {{.size = 3, .clear_after_read = false, .element_shape = Shape()}});")
            self.last = [f"{t} = {t}.write({i}, {self.floats(1)});"]
            self.block(f"for (Tensor {i} : rw::range(3))", loop="loop")
            self.scopes[-1][t] = "written"
        elif what == "called":
            self.count += 1
            name = f"c{self.count}"
            loops, self.loops = self.loops, []
            self.in_lambda += 1
            outer_action, self.action = self.action, False
            self.last = [f"return Tensor({self.floats(1)});"]
            self.block(f"Tensor {name} = [&]() -> Tensor", "();")
            self.action = outer_action
            self.in_lambda -= 1
            self.loops = loops
            self.scopes[-1][name] = "f"
        elif what == "holder":
            e, by = self.floats(1), self.real()
            name = self.new("g", "holder")
            self.line(f"const auto {name} = [held = Tensor({e})](const Tensor& z) {{ if (z > held) return z - {by}; return held * 0.5; }};")
        elif what == "optional":
            e = self.floats(1)
            self.line(f"std::optional<Tensor> {self.new('o', 'optional')} = {e};")
        elif what == "level":
            if self.in_lambda > 1:
                return self.assign()
            self.make_level()
        elif what == "reference":
            e = r.choice(self.places_of_floats())
            self.line(f"Tensor& {self.new('r', 'f')} = {e};")
        elif what == "unset":
            condition, a, b = self.condition(1), self.floats(1), self.floats(1)
            name = self.new("u", "f")
            self.line(f"Tensor {name};")
            self.line(f"if ({condition}) {name} = {a};")
            self.line(f"else {name} = {b};")
        else:
            kind = r.choice(NUMBERS)
            e = {"bool": r.choice(["true", "false"]), "double": self.real(), "float": self.real() + "f"}.get(kind, str(r.randint(0, 9)))
            self.line(f"{kind} {self.new('k', kind)} = {e};")

    def block(self, head, tail="", loop=None, names=()):
        """Braces around some statements."""
        self.line(head + " {")
        lasts, self.last = self.last, []
        self.scopes.append(dict(names))
        if loop:
            self.loops.append(loop)
        self.depth += 1
        for first in getattr(self, "first", []):
            self.line(first)
        self.first = []
        for _ in range(self.r.randint(1, 3)):
            self.statement()
        for last in lasts:
            self.line(last)
        self.depth -= 1
        if loop:
            self.loops.pop()
        self.scopes.pop()
        self.line("}" + tail)

    def branches(self):
        r = self.r
        style = r.random()
        if style < 0.12:
            self.count += 1
            c, e = f"c{self.count}", self.floats(1)
            self.block(f"if (Tensor {c} = {e}; {c} > {self.real()})", names={c: "f"})
        elif style < 0.16:
            self.count += 1
            c, e = f"c{self.count}", self.condition(0, "tensor")
            self.block(f"if (const Tensor {c} = Tensor({e}))", names={c: "t"})
        else:
            self.block(f"if ({self.condition()})")
        while r.random() < 0.25:
            self.lines[-1] += f" else if ({self.condition()}) {{"
            self.inner()
        if r.random() < 0.5:
            self.lines[-1] += " else {"
            self.inner()

    def inner(self):
        self.scopes.append({})
        self.depth += 1
        for _ in range(self.r.randint(1, 2)):
            self.statement()
        self.depth -= 1
        self.scopes.pop()
        self.line("}")

    def loop(self):
        r = self.r
        self.count += 1
        i, n = f"i{self.count}", r.randint(1, 3)
        more = f" && {self.condition(1)}" if r.random() < 0.3 else ""
        style = r.choice(["while", "while", "promoted", "do", "for", "range", "range_n", "rows", "host", "host", "values", "endless", "bounded", "forever", "pair", "assigning", "dataset", "elements"])
        if style == "while":
            self.line(f"Tensor {i} = constant(0.0);")
            self.first = [f"{i} = {i} + 1.0;"]
            self.block(f"while ({i} < {n}.0{more})", loop="loop")
        elif style == "promoted":
            self.line(f"int {i} = {n};")
            self.first = [f"--{i};"]
            self.block(f"while ({i} > 0 && {self.condition(1)})", loop="loop")
        elif style == "do":
            self.line(f"Tensor {i} = constant(0);")
            self.first = [f"++{i};"]
            self.block("do", f" while ({i} < {n}{more});", loop="loop")
        elif style == "for":
            self.block(f"for (Tensor {i} = 0; {i} < {n}{more}; {r.choice([f'++{i}', f'{i} += 1', f'{i} = {i} + 1'])})", loop="loop")
        elif style == "range":
            self.block(f"for (Tensor {i} : rw::range({n}))", loop="loop")
        elif style == "range_n" and self.of("n"):
            self.block(f"for (const Tensor& {i} : rw::range({self.pick('n')} % 4))", loop="loop")
        elif style == "pair":
            self.block(f"for (Tensor {i} = 0, j{i} = {n}; {i} < j{i}; ++{i}, j{i} -= 1)", loop="loop")
        elif style == "assigning":
            self.line(f"Tensor {i} = constant({n}.0);")
            self.block(f"while (({i} = {i} - 1.0) >= 0.0{more})", loop="loop")
        elif style == "dataset":
            self.block(f"for (Tensor {i} : data::Dataset::from_tensor_slices(constant({{0.5, -1.0, 2.0}})))", loop="loop", names={i: "f"})
        elif style == "elements":
            self.block(f"for (auto [{i}, e{i}] : data::Dataset::from_tensor_slices(std::tuple{{constant({{0.5, 1.5}}), constant({{-1.0, 3.0}})}}))", loop="loop",
                       names={i: "f", f"e{i}": "f"})
        elif style == "rows":
            self.block(f"for (Tensor {i} : stack({{{self.floats(1)}, {self.floats(1)}}}))", loop="loop", names={i: "f"})
        elif style == "values":
            self.block(f"for (double {i} : {{0.5, -0.25}})", loop="loop", names={i: "real index"})
        elif style == "endless":
            self.line(f"Tensor {i} = constant(0.0);")
            self.first = [f"{i} = {i} + 1.0;", f"if ({i} > {n}.0) break;"]
            self.block("while (true)", loop="loop")
        elif style == "forever":
            self.line(f"int {i} = 0;")
            self.first = [f"if (++{i} > {n}) break;"]
            self.block("for (;;)", loop="loop")
        elif style == "bounded":
            self.block(f"for (int {i} = 0; {i} < 3 && {i} < {self.integer(1)}; ++{i})", loop="loop")
        else:
            self.block(f"for (int {i} = 0; {i} < {n}; {r.choice([f'++{i}', f'{i} += 1', f'{i}++'])})", loop="loop", names={i: "index"})

    def switch(self):
        r = self.r
        if self.of("n") and r.random() < 0.6:
            value = f"int64_t({self.pick('n')})"
            if r.random() < 0.2:
                self.count += 1
                value = f"const Tensor s{self.count} = {self.pick('n')} + {r.randint(-1, 2)}; int64_t(s{self.count})"
        elif self.of(*INTEGERS):
            value = self.pick(*INTEGERS)
        else:
            return self.assign()
        self.line(f"switch ({value}) {{")
        self.depth += 1
        self.loops.append("switch")
        labels = [f"case {c}:" for c in r.sample(range(0, 6), r.randint(1, 3))]
        if r.random() < 0.7:
            labels.insert(r.randint(0, len(labels)), "default:")
        for k, label in enumerate(labels):
            if r.random() < 0.2 and k + 1 < len(labels):
                self.line(label)
                continue
            self.line(label + " {")
            self.inner()
            if r.random() < 0.65:
                self.line("break;")
        self.loops.pop()
        self.depth -= 1
        self.line("}")

    def jump(self):
        r = self.r
        choices = ["return;" if self.action else f"return {self.floats(1)};"]
        if self.loops:
            choices += ["break;"] * 2
        if "loop" in self.loops:
            choices += ["continue;"] * 2
        text = r.choice(choices)
        style = r.random()
        if style < 0.6:
            self.line(f"if ({self.condition(1)}) {text}")
        elif style < 0.8:
            self.line(f"if ({self.condition(1)}) {{")
            self.scopes.append({})
            self.depth += 1
            self.assign()
            self.line(text)
            self.depth -= 1
            self.scopes.pop()
            self.line("}")
        else:
            self.block(f"if ({self.condition(1)})")
            self.lines[-1] += f" else {text}"

    def make_lambda(self):
        if self.in_lambda > 1:
            return self.assign()
        self.count += 1
        f, z = f"f{self.count}", f"z{self.count}"
        loops, self.loops = self.loops, []
        self.in_lambda += 1
        outer_action = self.action
        head = self.r.choice(["[&](Tensor {z})", "[&](const Tensor& {z}) -> Tensor", "[&](auto {z})"]).format(z=z)
        readonly = "const" in head
        acts = self.r.random() < 0.3
        if acts:
            head, readonly = f"[&](const Tensor& {z})", True
        self.action = acts
        self.line(f"const auto {f} = {head} {{")
        self.depth += 1
        self.scopes.append({} if readonly else {z: "f"})
        for _ in range(self.r.randint(1, 3)):
            self.statement()
        if not acts:
            result = self.floats(1)
            self.line(f"return {result};" if readonly or not result.startswith("r") else f"return Tensor({result});")
        self.depth -= 1
        self.scopes.pop()
        self.line("};")
        self.in_lambda -= 1
        self.loops = loops
        self.action = outer_action
        self.scopes[-1][f] = "action" if acts else "lambda"

    def make_level(self):
        """A lambda whose deduced result is an integer."""
        r = self.r
        self.count += 1
        h, z, i = f"h{self.count}", f"z{self.count}", f"i{self.count}"
        self.line(f"const auto {h} = [&](const Tensor& {z}) {{")
        self.depth += 1
        self.line(f"if ({z} > {self.real()}) return {r.randint(0, 9)};")
        if r.random() < 0.5:
            self.line(f"for (int {i} = 0; {i} < 3; ++{i})")
            self.line(f"  if ({z} < {self.condition_number(i)}) return {i} + {r.randint(0, 4)};")
        self.line(f"return int({self.integer(1)} % 8);")
        self.depth -= 1
        self.line("};")
        self.scopes[-1][h] = "level"

    def condition_number(self, i):
        return self.r.choice([i, f"{i} * 0.5", self.real()])

    def statement(self):
        self.budget -= 1
        r = self.r
        if self.budget < 0 or self.depth > 6:
            return self.assign()
        r.choice([self.assign] * 4 + [self.declare] * 3 + [self.branches] * 4 + [self.loop] * 3 + [self.switch] + [self.jump] * 2 +
                 [self.make_lambda] * (self.depth < 3))()

    def text(self):
        place = self.place
        self.scopes[0].update({"x": "f", "y": "f"})
        for _ in range(self.r.randint(0, 3)):
            self.declare()
        if self.remembers:
            self.lines.insert(0, "  memory().assign(0.25);")
        while self.budget > 0:
            self.statement()
        self.line("return x * 0.5 + y;")
        body = "\n".join(self.lines)
        name, start = self.name, "  Tensor y = x * 0.5 + 1.0;\n"
        if place == "function":
            return f"Tensor {name}(Tensor x) {{\n{start}{body}\n}}\nconst Add add_{name}(\"{name}\", {name});\n"
        if place == "lambda":
            return f"const Add add_{name}(\"{name}\", [](Tensor x) -> Tensor {{\n{start}{body}\n}});\n"
        if place == "method":
            shift = "  void shift(double by) {\n    if (x > by) y = y - by;\n  }\n"
            return (f"struct {name} {{\n  Tensor x, y;\n{shift}  Tensor call() {{\n{body}\n}}\n}};\n"
                    f"const Add add_{name}(\"{name}\", [](Tensor x) {{ return {name}{{x, x * 0.5}}.call(); }});\n")
        if place == "generic":
            return (f"const Add add_{name}(\"{name}\", [](Tensor start) {{\n  auto f = [y = start](auto x) mutable -> Tensor {{\n{body}\n  }};\n"
                    f"  return f(start);\n}});\n")
        return (f"template <class T>\nT {name}(T x) {{\n{start.replace('Tensor', 'T')}{body}\n}}\n"
                f"const Add add_{name}(\"{name}\", [](Tensor x) {{ return {name}(x); }});\n")


def write(path, seed, first, count):
    """Programs number `first` and on of a seed."""
    text = "\n".join(Program(f"{seed}:{i}", f"p{i}").text() for i in range(first, first + count))
    path.write_text(HEADER + text + FOOTER)
