// GraphDef's bytes and text: against files that TensorFlow wrote, value by value, and under damage.
#include "rewind/format/graph_def.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>

#include "rewind/base/error.h"
#include "tests/support/goldens.h"

namespace rw::format {
namespace {

std::string golden(const std::string& name) { return test::golden_bytes("graph_def/" + name); }

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) { return e.what(); } catch (const std::exception& e) {
    ADD_FAILURE() << "another error: " << e.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}

// Maps have no order on the wire: TensorFlow's writer and ours may choose differently.
std::string sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

TEST(GraphDefFormat, TensorFlowsBytesComeBack) {
  const std::string bytes = golden("function.pb");
  const auto graph = decode<GraphDef>(bytes);
  ASSERT_GT(graph.node.size(), 10u);
  EXPECT_EQ(graph.node[0].op, "Placeholder");
  ASSERT_TRUE(graph.library);
  EXPECT_GE(graph.library->function.size(), 4u);
  const std::string again = encode(graph);
  EXPECT_EQ(again.size(), bytes.size());
  EXPECT_EQ(to_text(decode<GraphDef>(again)), to_text(graph));
}

TEST(GraphDefFormat, TensorFlowsTextComesBack) {
  const std::string text = golden("function.pbtxt");
  const auto graph = from_text<GraphDef>(text);
  EXPECT_EQ(encode(graph), encode(decode<GraphDef>(golden("function.pb"))));
  EXPECT_EQ(sorted_lines(to_text(graph)), sorted_lines(text));
  EXPECT_EQ(to_text(from_text<GraphDef>(to_text(graph))), to_text(graph));
}

TEST(GraphDefFormat, LayoutOfTheText) {
  NodeDef node;
  node.name = "a";
  node.op = "Const";
  node.input = {"x:1", "^y"};
  node.attr["type"].value = DataType(1);
  node.attr["list"].value = Box<ListValue>(ListValue{.i = {1, -2}, .type = {DataType(3), DataType(103)}});
  node.attr["shape"].value = TensorShapeProto{};
  node.attr["zero"].value = int64_t(0);
  EXPECT_EQ(to_text(node),
            "name: \"a\"\nop: \"Const\"\ninput: \"x:1\"\ninput: \"^y\"\n"
            "attr {\n  key: \"list\"\n  value {\n    list {\n      i: 1\n      i: -2\n      type: DT_INT32\n"
            "      type: DT_INT32_REF\n    }\n  }\n}\n"
            "attr {\n  key: \"shape\"\n  value {\n    shape {\n    }\n  }\n}\n"
            "attr {\n  key: \"type\"\n  value {\n    type: DT_FLOAT\n  }\n}\n"
            "attr {\n  key: \"zero\"\n  value {\n    i: 0\n  }\n}\n");
  EXPECT_EQ(encode(from_text<NodeDef>(to_text(node))), encode(node));
  EXPECT_EQ(encode(decode<NodeDef>(encode(node))), encode(node));
}

TEST(GraphDefFormat, BytesAreEscaped) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += char(c);
  AttrValue value;
  value.value = all;
  EXPECT_EQ(std::get<std::string>(from_text<AttrValue>(to_text(value)).value), all);
  value.value = std::string("a\"b'c\\d\n\r\t\0\x7f\xff\x01z1?", 17);
  EXPECT_EQ(to_text(value), "s: \"a\\\"b\\'c\\\\d\\n\\r\\t\\000\\177\\377\\001z1?\"\n");
  NodeDef node;
  node.name = "\xc3\xa9";
  EXPECT_EQ(to_text(node), "name: \"\xc3\xa9\"\n");
  EXPECT_EQ(std::get<std::string>(from_text<AttrValue>("s: 'a\\x41\\u00e9' \"b\\101\"").value),
            "aA\xc3\xa9"
            "bA");
}

TEST(GraphDefFormat, FloatsKeepTheirBits) {
  const float fixed[] = {0.1f,        1e-5f,  1e20f, 3.4028235e38f, -0.0f,    16777216.0f,
                         0.33333334f, 1e-45f, 1e6f,  1.5f,          INFINITY, -INFINITY};
  const char* texts[] = {"0.1",   "1e-05",    "1e+20",       "3.40282347e+38",
                         "-0",    "16777216", "0.333333343", "1.4013e-45",
                         "1e+06", "1.5",      "inf",         "-inf"};
  for (size_t i = 0; i < std::size(fixed); ++i) {
    AttrValue v;
    v.value = fixed[i];
    EXPECT_EQ(to_text(v), std::string("f: ") + texts[i] + "\n");
  }
  std::mt19937_64 rng(5);
  TensorProto t;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t bits = rng();
    double d;
    float f;
    std::memcpy(&d, &bits, 8);
    std::memcpy(&f, &bits, 4);
    if (!std::isnan(f)) t.float_val.push_back(f);
    if (!std::isnan(d)) t.double_val.push_back(d);
  }
  EXPECT_EQ(encode(from_text<TensorProto>(to_text(t))), encode(t));
  AttrValue minus_zero;
  minus_zero.value = -0.0f;
  EXPECT_TRUE(std::signbit(std::get<float>(decode<AttrValue>(encode(minus_zero)).value)));
}

TEST(GraphDefFormat, ExtremesOfNumbers) {
  TensorProto t;
  t.dtype = DataType(12345);
  t.version_number = std::numeric_limits<int32_t>::min();
  t.int_val = {0, -1, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
  t.int64_val = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), -1, 0};
  t.uint32_val = {0xffffffffu, 0};
  t.uint64_val = {~uint64_t(0)};
  t.bool_val = {true, false, true};
  t.half_val = {0x7e00, 0xffff};
  t.tensor_shape.emplace().dim = {{-1, ""}, {7, "rows"}};
  t.variant_val.emplace_back(VariantTensorDataProto{.type_name = "list", .metadata = "\xff", .tensors = {t}});
  for (const TensorProto& back : {decode<TensorProto>(encode(t)), from_text<TensorProto>(to_text(t))}) {
    EXPECT_EQ(back.int_val, t.int_val);
    EXPECT_EQ(back.int64_val, t.int64_val);
    EXPECT_EQ(back.uint32_val, t.uint32_val);
    EXPECT_EQ(back.uint64_val, t.uint64_val);
    EXPECT_EQ(back.bool_val, t.bool_val);
    EXPECT_EQ(encode(back), encode(t));
  }
}

TEST(GraphDefFormat, UnpackedListsAndUnknownFieldsAreRead) {
  const std::string bytes =
      "\x38\x05\x38\x06"      // int_val: 5, 6, one by one
      "\xc2\x3e\x02\x08\x01"  // field 1000, a message nobody knows
      "\x3a\x02\x07\x08";     // int_val: 7, 8, packed
  EXPECT_EQ(decode<TensorProto>(bytes).int_val, (std::vector<int32_t>{5, 6, 7, 8}));
}

TEST(GraphDefFormat, OtherSpellingsOfTheText) {
  const auto g = from_text<GraphDef>(
      "# a comment\n node: < name: 'a'; op: \"No\" \"Op\", input: ['x', 'y'] attr { key: 'T' value: { list { "
      "type: [1, "
      "DT_HALF] i: [] f: [1.5f, -inf] b: [t, false] i: 0x10 i: 010 } } } >\n"
      "debug_info { files: 'f' traces { key: 'k' value < file_line_cols { line: 3 } > } x: [1, {y: 2}] }\n"
      "versions { producer: 7 }");
  ASSERT_EQ(g.node.size(), 1u);
  EXPECT_EQ(g.node[0].op, "NoOp");
  EXPECT_EQ(g.node[0].input, (std::vector<std::string>{"x", "y"}));
  const ListValue& list = *std::get<Box<ListValue>>(g.node[0].attr.at("T").value);
  EXPECT_EQ(list.type, (std::vector<DataType>{DataType(1), DataType(19)}));
  EXPECT_EQ(list.i, (std::vector<int64_t>{16, 8}));
  EXPECT_EQ(list.f[1], -INFINITY);
  EXPECT_EQ(g.versions->producer, 7);
}

TEST(GraphDefFormat, ErrorsSayWhere) {
  const auto text_error = [](const char* text) {
    return message_of<InvalidArgumentError>([&] { from_text<GraphDef>(text); });
  };
  EXPECT_NE(text_error("node {\n  nam: 'a' }").find("line 2, column 3: there is no field nam"),
            std::string::npos)
      << text_error("node {\n  nam: 'a' }");
  EXPECT_NE(text_error("node { name: 'a'").find("ends before '}'"), std::string::npos);
  EXPECT_NE(text_error("version: 3000000000").find("out of range"), std::string::npos);
  EXPECT_NE(text_error("node { attr { key: 'T' value { type: DT_FLAOT } } }").find("DT_FLAOT"),
            std::string::npos);
  EXPECT_NE(text_error("node { name: 'a }").find("closing quote"), std::string::npos);

  GraphDef g;
  g.node.resize(3);
  g.node[2].name = "abc";
  std::string bytes = encode(g);
  bytes.pop_back();
  const std::string cut = message_of<DataLossError>([&] { decode<GraphDef>(bytes); });
  EXPECT_NE(cut.find("in node[2] at byte 4: "), std::string::npos) << cut;
  const std::string wrong = message_of<DataLossError>([&] { decode<GraphDef>("\x0a\x02\x08\x01"); });
  EXPECT_NE(wrong.find("node[0].name"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("wire type 0 where 2 is due"), std::string::npos) << wrong;
}

TEST(GraphDefFormat, NestingHasALimit) {
  std::string text, bytes;
  for (int i = 0; i < 100000; ++i) text += "args {";
  text = "node { experimental_type {" + text;
  EXPECT_NE(message_of<InvalidArgumentError>([&] { from_text<GraphDef>(text); }).find("nested deeper"),
            std::string::npos);
  FullTypeDef deep;
  for (int i = 0; i < 200; ++i) {
    FullTypeDef outer;
    outer.args.push_back(std::move(deep));
    deep = std::move(outer);
  }
  NodeDef node;
  node.experimental_type = deep;
  const std::string encoded = encode(node);
  EXPECT_NE(message_of<DataLossError>([&] { decode<NodeDef>(encoded); }).find("nested deeper"),
            std::string::npos);
}

// Whatever the bytes are: a message or a typed error.
template <class F>
void must_be_typed(F&& f) {
  try {
    f();
  } catch (const DataLossError&) {
  } catch (const InvalidArgumentError&) {}
}

TEST(GraphDefFormat, DamageIsATypedError) {
  std::mt19937 rng(11);
  const std::string bytes = golden("function.pb"), text = golden("function.pbtxt");
  for (size_t n = 0; n < bytes.size(); n += 7) must_be_typed([&] { decode<GraphDef>(bytes.substr(0, n)); });
  for (size_t n = 0; n < text.size(); n += 61) must_be_typed([&] { from_text<GraphDef>(text.substr(0, n)); });
  for (int round = 0; round < 2000; ++round) {
    std::string b = bytes, t = text;
    for (int k = 0; k < 1 + round % 5; ++k) {
      b[rng() % b.size()] = char(rng());
      t[rng() % t.size()] = round % 2 ? char(rng()) : "{}<>[]:,;\"'\\-0.x\n#"[rng() % 18];
    }
    if (round % 3 == 0) b.erase(rng() % b.size(), 1 + rng() % 9);
    must_be_typed([&] { to_text(decode<GraphDef>(b)); });
    if (round % 4 == 0) must_be_typed([&] { encode(from_text<GraphDef>(t)); });
  }
}

}  // namespace
}  // namespace rw::format
