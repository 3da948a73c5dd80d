// The ops of lookup tables, and tables from text files.
#include <filesystem>
#include <fstream>

#include "rewind/base/error.h"
#include "rewind/base/number_text.h"
#include "rewind/runtime/eager.h"
#include "rewind/runtime/lookup_table.h"

namespace rw {
namespace {

using Inputs = std::span<const Value* const>;

void give_table(LookupTable::Spec spec, const Op& op, ValueList& outputs) {
  Value handle = Value::allocate(cpu_device(), DType::kResource, {});
  *static_cast<Ref<Object>*>(handle.data) = Ref<Object>::adopt(new LookupTable(std::move(spec), op.tag));
  outputs.push_back(std::move(handle));
}

LookupTable::Spec spec_of(TableKind kind, const Op& op, const Attrs& attrs) {
  LookupTable::Spec spec;
  spec.kind = kind;
  if (kind != TableKind::kDense) spec.key_dtype = attr_as<DType>(op, attrs, "key_dtype");
  spec.value_dtype = attr_as<DType>(op, attrs, "value_dtype");
  return spec;
}

void make_static(const Op& op, const Attrs& attrs, Inputs, ValueList& outputs) {
  give_table(spec_of(TableKind::kStatic, op, attrs), op, outputs);
}
void make_mutable(const Op& op, const Attrs& attrs, Inputs, ValueList& outputs) {
  give_table(spec_of(TableKind::kMutable, op, attrs), op, outputs);
}
void make_of_tensors(const Op& op, const Attrs& attrs, Inputs, ValueList& outputs) {
  auto spec = spec_of(TableKind::kMutable, op, attrs);
  spec.value_shape = attr_as<Shape>(op, attrs, "value_shape");
  if (spec.value_shape.rank() != 1)
    fail_invalid(op.tag, "value_shape must be of one axis: got " + spec.value_shape.to_string());
  give_table(std::move(spec), op, outputs);
}
void make_dense(const Op& op, const Attrs& attrs, Inputs in, ValueList& outputs) {
  auto spec = spec_of(TableKind::kDense, op, attrs);
  spec.value_shape = attr_as<Shape>(op, attrs, "value_shape");
  spec.buckets = attr_as<int64_t>(op, attrs, "initial_num_buckets");
  spec.max_load = attr_as<double>(op, attrs, "max_load_factor");
  if (!(in[0]->shape == in[1]->shape))
    fail_invalid(op.tag, "empty_key and deleted_key must have one shape: got " + in[0]->shape.to_string() +
                             " and " + in[1]->shape.to_string());
  spec.key_dtype = in[0]->dtype;
  spec.key_shape = in[0]->shape;
  spec.empty_key = *in[0];
  spec.deleted_key = *in[1];
  give_table(std::move(spec), op, outputs);
}

LookupTable& table(const Op& op, Inputs in) { return table_of(in[0]->view(), op.tag); }

void initialize(const Op& op, const Attrs&, Inputs in, ValueList&) {
  table(op, in).initialize(in[1]->view(), in[2]->view(), op.tag);
}
void find(const Op& op, const Attrs&, Inputs in, ValueList& outputs) {
  outputs.push_back(table(op, in).find(in[1]->view(), in[2]->view(), op.tag));
}
void insert(const Op& op, const Attrs&, Inputs in, ValueList&) {
  table(op, in).insert(in[1]->view(), in[2]->view(), op.tag);
}
void remove(const Op& op, const Attrs&, Inputs in, ValueList&) {
  table(op, in).remove(in[1]->view(), op.tag);
}
void import_all(const Op& op, const Attrs&, Inputs in, ValueList&) {
  table(op, in).import_all(in[1]->view(), in[2]->view(), op.tag);
}
void size(const Op& op, const Attrs&, Inputs in, ValueList& outputs) {
  Value out = Value::allocate(cpu_device(), DType::kInt64, {});
  *static_cast<int64_t*>(out.data) = table(op, in).size();
  outputs.push_back(std::move(out));
}
void export_all(const Op& op, const Attrs& attrs, Inputs in, ValueList& outputs) {
  LookupTable& t = table(op, in);
  for (const auto& [name, dtype] :
       {std::pair("Tkeys", t.spec().key_dtype), {"Tvalues", t.spec().value_dtype}})
    if (const DType asked = attr_as<DType>(op, attrs, name); asked != dtype)
      fail_invalid(op.tag, std::string(name) + " must be " + std::string(name_of(dtype)) + ": got " +
                               std::string(name_of(asked)));
  outputs.resize(2);
  t.export_all(&outputs[0], &outputs[1], op.tag);
}

// ---- tables from text files

constexpr int64_t kLineNumber = -1, kWholeLine = -2;

// What one of the attributes takes from each line, as values of the table's type.
class Column {
 public:
  Column(const Op& op, const Attrs& attrs, const char* attribute, DType dtype)
      : op_(op), index_(attr_as<int64_t>(op, attrs, attribute)), dtype_(dtype) {
    constexpr DTypeSet kRead =
        set_of(DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64, DType::kString);
    if (index_ == kLineNumber && dtype != DType::kInt64)
      fail_invalid(op.tag, std::string(attribute) + " is the line's number, which is int64: the table has " +
                               std::string(name_of(dtype)));
    if (index_ == kWholeLine && dtype != DType::kString)
      fail_invalid(op.tag, std::string(attribute) + " is the whole line, a string: the table has " +
                               std::string(name_of(dtype)));
    if (!contains(kRead, dtype))
      fail_invalid(op.tag, "a text file has no values of " + std::string(name_of(dtype)));
  }
  bool is_column() const { return index_ >= 0; }
  void add(const std::string& line, const std::vector<std::string_view>& columns, int64_t number,
           const std::string& place) {
    if (index_ == kLineNumber) return put(number);
    if (index_ == kWholeLine) return strings_.push_back(line);
    if (size_t(index_) >= columns.size())
      fail_invalid(op_.tag, place + " has " + std::to_string(columns.size()) + " columns: column " +
                                std::to_string(index_) + " is asked for");
    const std::string text(columns[size_t(index_)]);
    if (dtype_ == DType::kString) return strings_.push_back(text);
    const auto parse = [&]<class T>(T x) {
      if (!parse_number(text, &x))
        fail_invalid(op_.tag, place + ": '" + text + "' is not a " + std::string(name_of(dtype_)));
      put(x);
    };
    if (dtype_ == DType::kInt32) parse(int32_t());
    if (dtype_ == DType::kInt64) parse(int64_t());
    if (dtype_ == DType::kFloat32) parse(float());
    if (dtype_ == DType::kFloat64) parse(double());
  }
  Value value(int64_t count) {
    Value out = Value::allocate(cpu_device(), dtype_, {count});
    if (dtype_ == DType::kString)
      std::move(strings_.begin(), strings_.end(), static_cast<std::string*>(out.data));
    else std::copy(bytes_.begin(), bytes_.end(), static_cast<char*>(out.data));
    return out;
  }

 private:
  template <class T>
  void put(T x) {
    const char* from = reinterpret_cast<const char*>(&x);
    bytes_.insert(bytes_.end(), from, from + sizeof x);
  }
  const Op& op_;
  int64_t index_;
  DType dtype_;
  std::vector<std::string> strings_;
  std::vector<char> bytes_;
};

void initialize_from_file(const Op& op, const Attrs& attrs, Inputs in, ValueList&) {
  LookupTable& t = table(op, in);
  if (in[1]->size != 1) fail_invalid(op.tag, "filename must be one string: got " + in[1]->view().describe());
  const std::string path = *static_cast<const std::string*>(in[1]->data);
  const std::string delimiter = attr_as<std::string>(op, attrs, "delimiter");
  if (delimiter.size() != 1) fail_invalid(op.tag, "delimiter must be one character: got '" + delimiter + "'");
  const auto limit = attr_as<int64_t>(op, attrs, "vocab_size");
  if (limit == 0) fail_invalid(op.tag, "vocab_size must be positive, or -1 for all lines: got 0");
  const auto offset = attr_as<int64_t>(op, attrs, "offset");
  Column keys(op, attrs, "key_index", t.spec().key_dtype);
  Column values(op, attrs, "value_index", t.spec().value_dtype);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) fail_not_found(op.tag, "there is no file " + path);
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_not_found(op.tag, path + " cannot be read");
  int64_t count = 0;
  std::vector<std::string_view> columns;
  for (std::string line; (limit < 0 || count < limit) && std::getline(file, line); ++count) {
    std::erase(line, '\r');
    columns.clear();
    if (keys.is_column() || values.is_column())
      for (size_t begin = 0; begin <= line.size();) {
        const size_t end = std::min(line.find(delimiter[0], begin), line.size());
        columns.push_back(std::string_view(line).substr(begin, end - begin));
        begin = end + 1;
      }
    const std::string place = path + ", line " + std::to_string(count + 1);
    int64_t number = 0;
    if (__builtin_add_overflow(count, offset, &number)) fail_invalid(op.tag, "offset is too large");
    keys.add(line, columns, number, place);
    values.add(line, columns, number, place);
  }
  if (limit >= 0 && count < limit)
    fail_invalid(op.tag, path + " must have " + std::to_string(limit) + " lines, as vocab_size says: got " +
                             std::to_string(count));
  t.initialize(keys.value(count).view(), values.value(count).view(), op.tag);
}

}  // namespace

void register_lookup_runtime_kernels() {
  for (const char* name : {"HashTableV2", "AnonymousHashTable"}) register_runtime_kernel(name, make_static);
  for (const char* name : {"MutableHashTableV2", "AnonymousMutableHashTable"})
    register_runtime_kernel(name, make_mutable);
  for (const char* name : {"MutableHashTableOfTensorsV2", "AnonymousMutableHashTableOfTensors"})
    register_runtime_kernel(name, make_of_tensors);
  for (const char* name : {"MutableDenseHashTableV2", "AnonymousMutableDenseHashTable"})
    register_runtime_kernel(name, make_dense);
  register_runtime_kernel("InitializeTableV2", initialize);
  register_runtime_kernel("InitializeTableFromTextFileV2", initialize_from_file);
  register_runtime_kernel("LookupTableFindV2", find);
  register_runtime_kernel("LookupTableInsertV2", insert);
  register_runtime_kernel("LookupTableRemoveV2", remove);
  register_runtime_kernel("LookupTableSizeV2", size);
  register_runtime_kernel("LookupTableExportV2", export_all);
  register_runtime_kernel("LookupTableImportV2", import_all);
}

}  // namespace rw
