// Lookup tables: values by keys, in the program's memory. Copies are one table. Tables work in functions,
// datasets and on any thread.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "rewind/tensor/operand.h"

namespace rw::lookup {

// What fills a static table.
struct TableInitializer {
  DType key_dtype;
  DType value_dtype;
  std::function<void(const Tensor& table)> run;
};

struct KeyValueTensorInitializer : TableInitializer {
  KeyValueTensorInitializer(const Operand& keys, const Operand& values, DType key_dtype = DType::kInvalid,
                            DType value_dtype = DType::kInvalid);
};

// What of a line is a key or a value: one of these, or the number of a column.
struct TextFileIndex {
  static constexpr int64_t WHOLE_LINE = -2;
  static constexpr int64_t LINE_NUMBER = -1;
};
struct TextFileOptions {
  int64_t vocab_size = -1;  // lines to take; -1: all
  std::string delimiter = "\t";
  int64_t value_index_offset = 0;  // is added to numbers of lines
};
struct TextFileInitializer : TableInitializer {
  TextFileInitializer(const std::string& filename, DType key_dtype, int64_t key_index, DType value_dtype,
                      int64_t value_index, const TextFileOptions& options = {});
};

class Table {
 public:
  DType key_dtype() const { return key_dtype_; }
  DType value_dtype() const { return value_dtype_; }
  // How many keys there are.
  Tensor size() const;
  // All keys, and their values in the same order.
  std::pair<Tensor, Tensor> export_() const;
  // For raw ops.
  const Tensor& handle() const { return handle_; }

 protected:
  Table(Tensor handle, DType key_dtype, DType value_dtype)
      : handle_(std::move(handle)), key_dtype_(key_dtype), value_dtype_(value_dtype) {}
  Tensor find(const Operand& keys, const Tensor& default_value) const;

  Tensor handle_;
  DType key_dtype_, value_dtype_;
};

class StaticHashTable : public Table {
 public:
  StaticHashTable(const TableInitializer& initializer, const Operand& default_value);
  Tensor lookup(const Operand& keys) const { return find(keys, default_value_); }
  Tensor operator[](const Operand& keys) const { return lookup(keys); }

 private:
  Tensor default_value_;
};

// Numbers of strings or integers: those of the initializer, from 0 on, and behind them num_oov_buckets
// numbers that all other keys share by their hash.
class StaticVocabularyTable {
 public:
  StaticVocabularyTable(const TableInitializer& initializer, int64_t num_oov_buckets,
                        DType lookup_key_dtype = DType::kInvalid);
  Tensor lookup(const Operand& keys) const;
  Tensor operator[](const Operand& keys) const { return lookup(keys); }
  Tensor size() const;
  DType key_dtype() const { return key_dtype_; }

 private:
  StaticHashTable table_;
  int64_t num_oov_buckets_;
  DType key_dtype_;
};

class MutableHashTable : public Table {
 public:
  // The default value says the shape of all values: a number, or a list of them.
  MutableHashTable(DType key_dtype, DType value_dtype, const Operand& default_value);
  Tensor lookup(const Operand& keys) const { return find(keys, default_value_); }
  // With other values for missing keys: one, or one per key.
  Tensor lookup(const Operand& keys, const Operand& dynamic_default_values) const;
  Tensor operator[](const Operand& keys) const { return lookup(keys); }
  void insert(const Operand& keys, const Operand& values) const;
  void remove(const Operand& keys) const;
  void erase(const Operand& keys) const { remove(keys); }

 protected:
  MutableHashTable(Tensor handle, DType key_dtype, DType value_dtype, Tensor default_value)
      : Table(std::move(handle), key_dtype, value_dtype), default_value_(std::move(default_value)) {}
  Tensor default_value_;
};

struct DenseHashTableOptions {
  int64_t initial_num_buckets = 131072;
  float max_load_factor = 0.8f;
};
// Two keys cannot be in the table.
class DenseHashTable : public MutableHashTable {
 public:
  DenseHashTable(DType key_dtype, DType value_dtype, const Operand& default_value, const Operand& empty_key,
                 const Operand& deleted_key, const DenseHashTableOptions& options = {});
};

namespace experimental {
using lookup::DenseHashTable;
using lookup::MutableHashTable;
}  // namespace experimental

}  // namespace rw::lookup
