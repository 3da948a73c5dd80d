#include "rewind/tensor/ops/lookup.h"

#include "rewind/base/error.h"
#include "rewind/tensor/op_calls.h"
#include "rewind/tensor/ops/operators.h"
#include "rewind/tensor/trace.h"

namespace rw::lookup {
namespace {

// Tables outlive the traces in which they are made.
template <class Make>
auto outside_traces(Make make) {
  const OutsideTraces outside;
  return make();
}

Tensor make_static(const TableInitializer& initializer) {
  return outside_traces([&] {
    const Tensor handle =
        apply_one(RW_OP("AnonymousHashTable"), {},
                  {{"key_dtype", initializer.key_dtype}, {"value_dtype", initializer.value_dtype}});
    initializer.run(handle);
    return handle;
  });
}

Tensor make_mutable(DType key_dtype, DType value_dtype, const Tensor& default_value) {
  const Attrs types{{"key_dtype", key_dtype}, {"value_dtype", value_dtype}};
  return outside_traces([&] {
    if (default_value.rank() == 0) return apply_one(RW_OP("AnonymousMutableHashTable"), {}, types);
    return apply_one(RW_OP("AnonymousMutableHashTableOfTensors"), {},
                     types.with("value_shape", default_value.shape()));
  });
}

// Of the type asked for, or of its own.
Tensor typed(const Operand& o, DType dtype) {
  if (dtype == DType::kInvalid) return o.tensor();
  return o.weak() ? o.tensor(dtype) : cast_to(o.tensor(), dtype);
}

}  // namespace

KeyValueTensorInitializer::KeyValueTensorInitializer(const Operand& keys, const Operand& values,
                                                     DType key_type, DType value_type) {
  const Tensor k = typed(keys, key_type), v = typed(values, value_type);
  if (is_symbol(k) || is_symbol(v))
    fail_precondition("KeyValueTensorInitializer", "keys and values must be known outside of functions");
  key_dtype = k.dtype();
  value_dtype = v.dtype();
  run = [k, v](const Tensor& table) { rw::apply(RW_OP("InitializeTableV2"), {&table, &k, &v}); };
}

TextFileInitializer::TextFileInitializer(const std::string& filename, DType key_type, int64_t key_index,
                                         DType value_type, int64_t value_index, const TextFileOptions& o) {
  key_dtype = key_type;
  value_dtype = value_type;
  const Attrs attrs{{"key_index", key_index},
                    {"value_index", value_index},
                    {"vocab_size", o.vocab_size},
                    {"delimiter", o.delimiter},
                    {"offset", o.value_index_offset}};
  run = [name = Tensor(filename), attrs](const Tensor& table) {
    rw::apply(RW_OP("InitializeTableFromTextFileV2"), {&table, &name}, attrs);
  };
}

Tensor Table::size() const { return apply_one(RW_OP("LookupTableSizeV2"), {&handle_}); }

std::pair<Tensor, Tensor> Table::export_() const {
  auto out =
      rw::apply(RW_OP("LookupTableExportV2"), {&handle_}, {{"Tkeys", key_dtype_}, {"Tvalues", value_dtype_}});
  return {out[0], out[1]};
}

Tensor Table::find(const Operand& keys, const Tensor& default_value) const {
  return apply_one(RW_OP("LookupTableFindV2"), {&handle_, &keys.tensor(key_dtype_), &default_value});
}

StaticHashTable::StaticHashTable(const TableInitializer& initializer, const Operand& default_value)
    : Table(make_static(initializer), initializer.key_dtype, initializer.value_dtype),
      default_value_(default_value.tensor(initializer.value_dtype)) {}

StaticVocabularyTable::StaticVocabularyTable(const TableInitializer& initializer, int64_t num_oov_buckets,
                                             DType lookup_key_dtype)
    : table_(initializer, int64_t{-1}),
      num_oov_buckets_(num_oov_buckets),
      key_dtype_(lookup_key_dtype == DType::kInvalid ? initializer.key_dtype : lookup_key_dtype) {
  const char* tag = "StaticVocabularyTable";
  if (num_oov_buckets <= 0)
    fail_invalid(tag, "num_oov_buckets must be positive: got " + std::to_string(num_oov_buckets));
  if (initializer.value_dtype != DType::kInt64)
    fail_invalid(tag, "values must be int64: got " + std::string(name_of(initializer.value_dtype)));
  if (key_dtype_ != DType::kString && !is_integer(key_dtype_))
    fail_invalid(tag, "keys must be strings or integers: got " + std::string(name_of(key_dtype_)));
  if (is_integer(key_dtype_) != is_integer(initializer.key_dtype))
    fail_invalid(tag, "the table's keys are " + std::string(name_of(initializer.key_dtype)) +
                          ", lookup_key_dtype is " + std::string(name_of(key_dtype_)));
}

Tensor StaticVocabularyTable::size() const { return table_.size() + constant(num_oov_buckets_); }

Tensor StaticVocabularyTable::lookup(const Operand& operand) const {
  const Tensor& keys = operand.tensor(key_dtype_);
  if (keys.dtype() != key_dtype_)
    fail_invalid("StaticVocabularyTable", "keys must be " + std::string(name_of(key_dtype_)) + ": got " +
                                              std::string(name_of(keys.dtype())));
  const Tensor found = table_.lookup(cast_to(keys, table_.key_dtype()));
  const Tensor text = keys.dtype() == DType::kString ? keys : apply_one(RW_OP("AsString"), {&keys});
  const Tensor bucket =
      apply_one(RW_OP("StringToHashBucketFast"), {&text}, {{"num_buckets", num_oov_buckets_}});
  const Tensor missing = constant(int64_t{-1});
  const Tensor is_found = apply_one(RW_OP("NotEqual"), {&found, &missing});
  const Tensor other = bucket + table_.size();
  return apply_one(RW_OP("SelectV2"), {&is_found, &found, &other});
}

MutableHashTable::MutableHashTable(DType key_dtype, DType value_dtype, const Operand& default_value)
    : MutableHashTable(make_mutable(key_dtype, value_dtype, default_value.tensor(value_dtype)), key_dtype,
                       value_dtype, default_value.tensor(value_dtype)) {}

Tensor MutableHashTable::lookup(const Operand& keys, const Operand& dynamic_default_values) const {
  return find(keys, dynamic_default_values.tensor(value_dtype_));
}
void MutableHashTable::insert(const Operand& keys, const Operand& values) const {
  rw::apply(RW_OP("LookupTableInsertV2"), {&handle_, &keys.tensor(key_dtype_), &values.tensor(value_dtype_)});
}
void MutableHashTable::remove(const Operand& keys) const {
  rw::apply(RW_OP("LookupTableRemoveV2"), {&handle_, &keys.tensor(key_dtype_)});
}

DenseHashTable::DenseHashTable(DType key_dtype, DType value_dtype, const Operand& default_value,
                               const Operand& empty_key, const Operand& deleted_key,
                               const DenseHashTableOptions& o)
    : MutableHashTable(outside_traces([&] {
                         return apply_one(RW_OP("AnonymousMutableDenseHashTable"),
                                          {&empty_key.tensor(key_dtype), &deleted_key.tensor(key_dtype)},
                                          {{"value_dtype", value_dtype},
                                           {"value_shape", default_value.tensor(value_dtype).shape()},
                                           {"initial_num_buckets", o.initial_num_buckets},
                                           {"max_load_factor", o.max_load_factor}});
                       }),
                       key_dtype, value_dtype, default_value.tensor(value_dtype)) {}

}  // namespace rw::lookup
