// Reads and writes the text of a row (see table.h for the syntax).
#include "rewind/op/schema.h"

#include "rewind/base/ascii.h"
#include "rewind/base/error.h"
#include "rewind/base/number_text.h"

namespace rw {
namespace {

constexpr DTypeSet kQuantised =
    set_of(DType::kQint8, DType::kQuint8, DType::kQint16, DType::kQuint16, DType::kQint32);

// A cursor over the text; every reader skips white space first.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool end() {
    skip();
    return at_ == text_.size();
  }
  bool accept(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail("expected '" + std::string(token) + "'");
  }
  std::string_view word() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() && (ascii::is_letter_or_digit(text_[at_]) || text_[at_] == '_')) ++at_;
    if (begin == at_) fail("expected a name");
    return text_.substr(begin, at_ - begin);
  }
  std::string quoted() {
    expect("'");
    const size_t close = text_.find('\'', at_);
    if (close == std::string_view::npos) fail("unclosed string");
    std::string s(text_.substr(at_, close - at_));
    at_ = close + 1;
    for (size_t i; (i = s.find("\\n")) != std::string::npos;) s.replace(i, 2, "\n");
    return s;
  }
  // A number up to the next delimiter.
  template <class T>
  T number() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() && std::string_view(";,]) \n").find(text_[at_]) == std::string_view::npos)
      ++at_;
    if (begin == at_) fail("expected a number");
    T value = 0;
    if (!parse_number(text_.substr(begin, at_ - begin), &value)) {
      at_ = begin;
      fail(std::is_integral_v<T> ? "expected an integer" : "expected a number");
    }
    return value;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  [[noreturn]] void fail(const std::string& what) const {
    fail_invalid("op schema", what + " at position " + std::to_string(at_) + " of: " + std::string(text_));
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

// Arguments name attributes that come later in the text, so names are kept until the end.
struct RawArg {
  std::string name, type, number;
};

std::vector<RawArg> read_args(Reader& in) {
  std::vector<RawArg> args;
  in.expect("(");
  if (in.accept(")")) return args;
  do {
    RawArg arg;
    arg.name = in.word();
    in.expect(":");
    arg.type = in.word();
    if (in.accept("*")) {
      arg.number = arg.type;
      arg.type = in.word();
    }
    args.push_back(std::move(arg));
  } while (in.accept(","));
  in.expect(")");
  return args;
}

void read_allowed(Reader& in, AttrDef* attr) {
  if (in.peek() == '\'') {
    attr->type = AttrType::kString;
    do attr->allowed_strings.push_back(in.quoted());
    while (in.accept(","));
  } else {
    attr->type = AttrType::kType;
    do {
      const std::string_view name = in.word();
      if (name == "number") attr->allowed_types |= kRealTypes | kComplexTypes | kQuantised;
      else if (name == "real") attr->allowed_types |= kRealTypes;
      else if (const DType d = parse_dtype(name); d != DType::kInvalid) attr->allowed_types |= set_of(d);
      else in.fail("unknown type " + std::string(name));
    } while (in.accept(","));
  }
  in.expect("}");
}

void read_attr_type(Reader& in, AttrDef* attr) {
  if (in.accept("{")) return read_allowed(in, attr);
  const std::string_view word = in.word();
  if (word == "list") {
    attr->list = true;
    in.expect("(");
    read_attr_type(in, attr);
    in.expect(")");
    return;
  }
  static constexpr std::pair<std::string_view, AttrType> kTypes[] = {
      {"int", AttrType::kInt},       {"float", AttrType::kFloat}, {"bool", AttrType::kBool},
      {"string", AttrType::kString}, {"type", AttrType::kType},   {"shape", AttrType::kShape},
      {"tensor", AttrType::kTensor}, {"func", AttrType::kFunc}};
  for (const auto& [name, type] : kTypes) {
    if (name == word) {
      attr->type = type;
      return;
    }
  }
  in.fail("unknown attribute type " + std::string(word));
}

Shape read_shape(Reader& in) {
  if (in.accept("unknown")) return Shape::unknown_rank();
  Shape shape;
  in.expect("[");
  if (in.accept("]")) return shape;
  do shape.append(in.number<int64_t>());
  while (in.accept(","));
  in.expect("]");
  return shape;
}

template <class T, class F>
std::vector<T> read_list(Reader& in, F one) {
  std::vector<T> list;
  in.expect("[");
  if (in.accept("]")) return list;
  do list.push_back(one());
  while (in.accept(","));
  in.expect("]");
  return list;
}

AttrValue read_value(Reader& in, const AttrDef& attr) {
  auto integer = [&] { return in.number<int64_t>(); };
  auto real = [&] { return in.number<double>(); };
  auto boolean = [&] { return in.word() == "true"; };
  auto text = [&] { return in.quoted(); };
  auto type = [&] { return parse_dtype(in.word()); };
  auto shape = [&] { return read_shape(in); };
  if (attr.list) {
    switch (attr.type) {
      case AttrType::kInt: return read_list<int64_t>(in, integer);
      case AttrType::kFloat: return read_list<double>(in, real);
      case AttrType::kBool: return read_list<bool>(in, boolean);
      case AttrType::kString: return read_list<std::string>(in, text);
      case AttrType::kType: return read_list<DType>(in, type);
      case AttrType::kShape: return read_list<Shape>(in, shape);
      default: in.fail("lists of this type have no text");
    }
  }
  switch (attr.type) {
    case AttrType::kInt: return integer();
    case AttrType::kFloat: return real();
    case AttrType::kBool: return boolean();
    case AttrType::kString: return text();
    case AttrType::kType: return type();
    case AttrType::kShape: return shape();
    default: in.fail("values of this type have no text");
  }
}

int position(const Op& op, std::string_view attr) {
  for (size_t i = 0; i < op.attrs.size(); ++i)
    if (op.attrs[i].name == attr) return int(i);
  return -1;
}

std::vector<ArgDef> link_args(Reader& in, Op* op, const std::vector<RawArg>& raw, bool inputs) {
  std::vector<ArgDef> args;
  for (const RawArg& r : raw) {
    ArgDef arg;
    arg.name = r.name;
    if (!r.number.empty()) {
      arg.number_attr = position(*op, r.number);
      if (arg.number_attr < 0) in.fail("no attribute " + r.number);
      if (inputs) op->attrs[size_t(arg.number_attr)].inferred = true;
    }
    if (const int a = position(*op, r.type); a >= 0) {
      (op->attrs[size_t(a)].list ? arg.type_list_attr : arg.type_attr) = a;
      if (inputs) op->attrs[size_t(a)].inferred = true;
    } else if (arg.dtype = parse_dtype(r.type); arg.dtype == DType::kInvalid) {
      in.fail("no type or attribute " + r.type);
    }
    if (arg.is_list()) op->simple = false;
    args.push_back(std::move(arg));
  }
  return args;
}

std::string type_text(DType d) {
  if (d == DType::kFloat32) return "float";
  if (d == DType::kFloat64) return "double";
  if (d == DType::kFloat16) return "half";
  return std::string(name_of(d));
}

std::string arg_text(const Op& op, const ArgDef& arg) {
  std::string text = arg.name + ": ";
  if (arg.number_attr >= 0) text += op.attrs[size_t(arg.number_attr)].name + " * ";
  if (arg.type_list_attr >= 0) return text + op.attrs[size_t(arg.type_list_attr)].name;
  if (arg.type_attr >= 0) return text + op.attrs[size_t(arg.type_attr)].name;
  return text + type_text(arg.dtype);
}

std::string shape_text(const Shape& shape) {
  if (!shape.has_rank()) return "unknown";
  std::string text = "[";
  for (int axis = 0; axis < shape.rank(); ++axis) text += (axis ? ", " : "") + std::to_string(shape[axis]);
  return text + "]";
}

std::string attr_text(const AttrDef& attr) {
  static constexpr std::string_view kNames[] = {"int",  "float", "bool",   "string",
                                                "type", "shape", "tensor", "func"};
  std::string type(kNames[size_t(attr.type)]);
  if (attr.allowed_types) {
    type.clear();
    for (int i = 0; i < 64; ++i)
      if ((attr.allowed_types >> i) & 1) type += (type.empty() ? "{" : ", ") + type_text(DType(i));
    type += "}";
  } else if (!attr.allowed_strings.empty()) {
    type.clear();
    for (const std::string& s : attr.allowed_strings) type += (type.empty() ? "{'" : ", '") + s + "'";
    type += "}";
  }
  std::string text = attr.name + ": " + (attr.list ? "list(" + type + ")" : type);
  if (attr.minimum) text += " >= " + std::to_string(*attr.minimum);
  if (const auto* d = attr.default_value ? attr.default_value->get_if<DType>() : nullptr)
    text += " = " + type_text(*d);
  else if (const auto* shape = attr.default_value ? attr.default_value->get_if<Shape>() : nullptr)
    text += " = " + shape_text(*shape);
  else if (attr.default_value) text += " = " + attr.default_value->to_string();
  return text;
}

}  // namespace

void parse_schema(std::string_view text, Op* op) {
  Reader in(text);
  op->name = in.word();
  op->tag = op->name;
  const std::vector<RawArg> inputs = read_args(in);
  in.expect("->");
  const std::vector<RawArg> outputs = read_args(in);
  while (in.accept(";")) {
    AttrDef attr;
    attr.name = in.word();
    if (!in.accept(":")) {
      if (attr.name == "stateful") op->stateful = true;
      else if (attr.name == "commutative") op->commutative = true;
      else if (attr.name == "aggregate") op->aggregate = true;
      else in.fail("unknown flag " + attr.name);
      continue;
    }
    read_attr_type(in, &attr);
    if (in.accept(">=")) attr.minimum = in.number<int64_t>();
    if (in.accept("=")) attr.default_value = read_value(in, attr);
    op->attrs.push_back(std::move(attr));
  }
  if (!in.end()) in.fail("unexpected text");
  op->inputs = link_args(in, op, inputs, true);
  op->outputs = link_args(in, op, outputs, false);
}

std::string Op::schema() const {
  std::string text = name + "(";
  for (const ArgDef& arg : inputs) text += (&arg == inputs.data() ? "" : ", ") + arg_text(*this, arg);
  text += ") -> (";
  for (const ArgDef& arg : outputs) text += (&arg == outputs.data() ? "" : ", ") + arg_text(*this, arg);
  text += ")";
  for (const AttrDef& attr : attrs) text += "; " + attr_text(attr);
  if (stateful) text += "; stateful";
  if (commutative) text += "; commutative";
  if (aggregate) text += "; aggregate";
  return text;
}

}  // namespace rw
