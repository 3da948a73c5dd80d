"""Strings: conversions, joins, formatting."""
from case import *  # noqa: F403

for t in dtypes("AsString", among=NUMBERS + ["bool"]):
    case("AsString", inputs=[rnd((2, 3), t)], grad=())
case("AsString", inputs=[special("float32")], grad=())
for attrs in (dict(precision=2), dict(scientific=True), dict(shortest=True), dict(width=12), dict(width=12, fill="0"),
              dict(width=12, fill="-"), dict(width=12, fill="+"), dict(width=12, fill=" "),
              dict(precision=3, scientific=True, width=14)):
    case("AsString", inputs=[rnd((5,), "float32", "wide")], attrs=attrs, grad=())
    case("AsString", inputs=[rnd((5,), "float64", "wide")], attrs=attrs, grad=())
for attrs in (dict(width=7), dict(width=7, fill="0"), dict(width=7, fill="-"), dict(width=7, fill="+")):
    case("AsString", inputs=[i((4,), -50, 50)], attrs=attrs, grad=())
case("AsString", inputs=[s(["a", "bcd"])], attrs=dict(width=5), grad=())
case("AsString", inputs=[i((2,), 0, 5)], attrs=dict(precision=2), error=True)
case("AsString", inputs=[i((2,), 0, 5)], attrs=dict(width=3, fill="ab"), error=True)
case("AsString", inputs=[f((2,))], attrs=dict(scientific=True, shortest=True), error=True)

case("StringJoin", inputs=[[s(["a", "b"]), s(["c", "d"])]], attrs=dict(separator="-"))
case("StringJoin", inputs=[[s(["a", "b"]), s("x"), s(["c", "d"])]])
case("StringJoin", inputs=[[s("x"), s("")]])
case("StringJoin", inputs=[[s(["a", "b"]), s(["c"])]], error=True)

for t in ("float32", "float64", "float16", "bfloat16", "int8", "uint8", "int64", "bool"):
    case("StringFormat", inputs=[[rnd((3, 4), t)]], attrs=dict(template="{}", placeholder="{}"), grad=())
for shape in ((), (7,), (10, 10), (2, 3, 4), (2, 1, 3, 9)):
    for summarize in (-1, 1, 3):
        case("StringFormat", inputs=[[rnd(shape, "float32")]], grad=(),
             attrs=dict(template="x = {}.", placeholder="{}", summarize=summarize))
case("StringFormat", inputs=[[s(["a", 'b"c\n']), i((2,), 0, 9)]], attrs=dict(template="%t and %t", placeholder="%t"), grad=())
case("StringFormat", inputs=[[special("float32")]], attrs=dict(template="{}", placeholder="{}", summarize=-1), grad=())
case("StringFormat", inputs=[[f((2,))]], attrs=dict(template="{} {}", placeholder="{}"), error=True)

for unit in ("BYTE", "UTF8_CHAR"):
    case("StringLength", inputs=[s(["", "abc", "\u00e4\u20ac"])], attrs=dict(unit=unit))
for op in ("StringLower", "StringUpper"):
    case(op, inputs=[s(["aBc", "XyZ 1", ""])])
case("StringStrip", inputs=[s(["  a b ", "\tx\n", "", "   "])])
for t in ("float32", "float64", "int32", "int64"):
    case("StringToNumber", inputs=[s(["1", "-20", " 3 "])], attrs=dict(out_type=t))
case("StringToNumber", inputs=[s(["1.5", "-2e3", "inf"])], attrs=dict(out_type="float32"))
case("StringToNumber", inputs=[s(["1.5"])], attrs=dict(out_type="int32"), error=True)
case("StringToNumber", inputs=[s(["99999999999"])], attrs=dict(out_type="int32"), error=True)
case("StringToNumber", inputs=[s([""])], attrs=dict(out_type="float32"), error=True)
