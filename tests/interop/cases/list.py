"""Lists of tensors. A list is no value that can be compared: chains of ops end in one that gives tensors."""
import case as _case
from case import *

F32 = dict(element_dtype="float32")
ANY = lit(-1)


def case(op, inputs, attrs=None, golden=True, **kw):  # the chains differ, the last ops do not: keep them all
    _case.case(op, inputs, attrs, golden=golden, **kw)


def typed(t): return dict(element_dtype=t)
def from_tensor(x, shape=ANY): return call("TensorListFromTensor", [x, shape])
def reserve(n, shape=ANY, t="float32"): return call("TensorListReserve", [shape, lit(n)], typed(t))
def empty(shape=ANY, most=-1, t="float32"): return call("EmptyTensorList", [shape, lit(most)], typed(t))
def push(h, x): return call("TensorListPushBack", [h, x])
def put(h, i, x, **attrs): return call("TensorListSetItem", [h, lit(i), x], attrs)
def resize(h, n): return call("TensorListResize", [h, lit(n)])
def sparse(n=3, shape=ANY): return put(reserve(n, shape), 1, f((2,)))


def stack(h, shape=ANY, t="float32", **kw):
    attrs = typed(t)
    if "num_elements" in kw: attrs["num_elements"] = kw.pop("num_elements")
    case("TensorListStack", [h, shape], attrs, **kw)
def get(h, i, shape=ANY, t="float32", **kw): case("TensorListGetItem", [h, lit(i), shape], typed(t), **kw)
def pop(h, shape=ANY, t="float32", **kw): case("TensorListPopBack", [h, shape], typed(t), **kw)
def gather(h, i, shape=ANY, t="float32", **kw): case("TensorListGather", [h, lit(i, "int32"), shape], typed(t), **kw)
def concat(h, shape=ANY, leading=[], t="float32", **kw):
    case("TensorListConcatV2", [h, shape, lit(leading, "int64")], typed(t), **kw)
def length(h, **kw): case("TensorListLength", [h], **kw)


three = from_tensor(f((3, 2)))
for t in ["float32", "float64", "float16", "bfloat16", "int32", "int8", "int64", "bool"]:
    stack(from_tensor(rnd((3, 2), t)), t=t)
    get(from_tensor(rnd((3, 2), t)), 1, t=t)
    stack(put(reserve(3, lit([2]), t), 1, rnd((2,), t)), t=t)
stack(from_tensor(s(["a", "bc", ""])), t="string")
for shape in [(3,), (1, 2), (2, 3, 2), (3, 0), (2, 1, 1, 2)]: stack(from_tensor(f(shape)))
stack(from_tensor(f((0, 2)), lit([2])))
stack(from_tensor(f((3, 2)), lit([2], "int64")))
stack(from_tensor(f((3, 2)), lit([-1])), lit([2]))
stack(three, num_elements=3)
stack(from_tensor(f((300, 7))), golden=False)

# Unset elements are zeros.
stack(sparse())
stack(sparse(), lit([2]))
stack(reserve(3, lit([2])))
stack(reserve(2), lit([2, 1]))
stack(empty(lit([2])))
stack(resize(three, 5))
stack(resize(three, 2))
stack(put(three, 1, f((2,))))
stack(put(three, 4, f((2,)), resize_if_index_out_of_bounds=True))
stack(put(three, 2, f((2,)), resize_if_index_out_of_bounds=True))
stack(push(push(empty(), f((2,))), f((2,))))
stack(push(three, f((2,))))
get(sparse(), 1)
get(sparse(), 0)
get(reserve(3), 0, lit([2, 1]))
get(reserve(3, lit([-1, 2])), 0, lit([3, -1]))
get(three, 2, lit([2], "int64"))
get(push(empty(), f(())), 0)

pop(three)
pop(reserve(2), lit([2]))
pop(push(empty(), f((2, 2))))
pop(call("TensorListPopBack", [three, ANY], F32))
stack(push(call("TensorListPopBack", [three, ANY], F32), f((2,))))

length(three)
length(empty())
length(reserve(4))
length(push(three, f((2,))))
for t in ["int32", "int64"]:
    for h, label in [(three, "unknown"), (from_tensor(f((3, 2)), lit([2])), "known"), (reserve(3, lit([-1, 2])), "partly")]:
        case("TensorListElementShape", [h], dict(shape_type=t), label=f"{t} {label}")

for at in [[0, 2], [1], [2, 1, 0]]: gather(three, at)
gather(three, [0, 0], grad=())  # TensorFlow's gradient keeps one of the two
gather(sparse(), [1, 0])
gather(reserve(3), [0, 2], lit([2]))
gather(from_tensor(f((3, 2)), lit([2])), [])

for n in [-1, 4, 6]:
    stack(call("TensorListScatterV2", [f((2, 2)), lit([3, 0]), ANY, lit(n)]))
stack(call("TensorListScatterV2", [f((2, 2)), lit([0, 1]), lit([2], "int64"), lit(2)]))
stack(call("TensorListScatter", [f((2, 2)), lit([1, 0]), lit([2])]))
stack(call("TensorListScatterIntoExistingList", [three, f((2, 2)), lit([2, 0])]))
stack(call("TensorListConcatLists", [three, from_tensor(f((2, 2)))], F32), grad=())

concat(from_tensor(f((3, 2, 2))))
concat(three)
concat(push(push(empty(), f((1, 2))), f((3, 2))))
partly = put(reserve(3, lit([-1, 2])), 1, f((3, 2)))
concat(partly)
concat(partly, lit([-1, 2]), [1, 3, 2])
concat(partly, leading=[1, 2])
concat(reserve(3), lit([2, 2]))
concat(empty(lit([2, 3])))
concat(empty(lit([-1, 3])))
case("TensorListConcat", [from_tensor(f((3, 2, 2)))], F32)


def split(x, n, shape=ANY): return call("TensorListSplit", [x, shape, lit(n, "int64")])
concat(split(f((5, 2)), [2, 3]))
concat(split(f((5, 2)), [2, 3], lit([-1, 2])), leading=[2, 3])
get(split(f((5, 2)), [2, 0, 3]), 2)
get(split(f((4,)), [1, 3]), 0)

# Sums and zeros of lists.
for other in [from_tensor(f((3, 2))), sparse(), reserve(3)]: stack(call("AddN", [[three, other]]))
stack(call("AddN", [[sparse(), sparse(), sparse()]]))
stack(call("ZerosLike", [three]), grad=())
stack(call("ZerosLike", [sparse()]), grad=())

# Mistakes.
number = from_tensor(f((3, 2)), lit([2]))
full = push(empty(lit([2]), 1), f((2,)))
for at in [3, -1]:
    get(three, at, error=True)
    stack(put(three, at, f((2,))), error=True)
get(three, 0, t="int32", error=True)
get(reserve(3), 0, error=True)
get(reserve(3, lit([-1, 2])), 0, lit([3, 3]), error=True)
stack(put(number, 0, f((3,))), error=True)
stack(put(number, 0, i((2,))), error=True)
stack(put(sparse(), 0, f((3,))), error=True)
stack(three, num_elements=2, error=True)
stack(reserve(3), error=True)
stack(empty(), error=True)
stack(number, lit([3]), error=True)
stack(number, lit([-1, -1]), error=True)
stack(three, t="int32", error=True)
length(push(full, f((2,))), error=True)
length(push(empty(lit([2])), f((3,))), error=True)
length(push(empty(lit([2])), i((2,))), error=True)
pop(empty(), error=True)
pop(reserve(2), error=True)
length(reserve(-1), error=True)
length(reserve(2, lit([-2])), error=True)
length(reserve(2, lit(5)), error=True)
length(resize(three, -1), error=True)
length(from_tensor(f(())), error=True)
length(from_tensor(f((3, 2)), lit([3])), error=True)
for at in [[3], [-1]]: gather(three, at, error=True)
gather(reserve(3), [], error=True)
gather(sparse(), [0], error=True)
for n, at in [(2, [0, 3]), (6, [0]), (6, [0, -1]), (-2, [0, 1])]:
    length(call("TensorListScatterV2", [f((2, 2)), lit(at), ANY, lit(n)]), error=True)
length(call("TensorListScatterV2", [f((2, 2)), lit([0, 1]), lit([3]), lit(2)]), error=True)
concat(reserve(3), lit([-1, 2]), error=True)
concat(empty(), error=True)
for n in [[2, 2], [2, 4], [-1, 6]]: length(split(f((5, 2)), n), error=True)
length(split(f((5, 2)), [2, 3], lit([-1, 3])), error=True)
length(split(f(()), [1]), error=True)
stack(call("AddN", [[three, resize(three, 2)]]), error=True)
stack(call("AddN", [[number, from_tensor(f((3, 3)), lit([3]))]]), error=True)
stack(call("AddN", [[three, from_tensor(i((3, 2)))]]), error=True)
length(call("TensorListConcatLists", [number, three], F32), error=True)


# Optionals: tensors of any types, or none.
def optional(*xs): return call("OptionalFromValue", [list(xs)])
def take(h, types, shapes, **kw): case("OptionalGetValue", [h], dict(output_types=types, output_shapes=shapes), **kw)
take(optional(f((2, 3))), ["float32"], [(2, 3)])
take(optional(f((2, 3)), f(()), i((4,))), ["float32", "float32", "int32"], [(2, None), (), (4,)])
take(optional(s(["a", "bc"])), ["string"], [(2,)])
take(optional(f((2, 3))), ["float64"], [(2, 3)], error=True)
take(optional(f((2, 3))), ["float32"], [(3, 3)], error=True)
take(optional(f((2,)), f((2,))), ["float32"], [(2,)], error=True)
take(call("OptionalNone"), ["float32"], [(2,)], error=True)
take(three, ["float32"], [(3, 2)], error=True)
case("OptionalHasValue", [call("OptionalNone")])
case("OptionalHasValue", [optional(f((2,)))], label="with a value", grad=())
zeros = call("ZerosLike", [optional(f((2, 3)), i((4,)))])
take(zeros, ["float32", "int32"], [(2, 3), (4,)], grad=())
take(call("AddN", [[optional(f((2, 3))), optional(f((2, 3)))]]), ["float32"], [(2, 3)], grad=())
