// What the handle of a lookup table points to: values by their keys, in the order in which keys came. Any
// thread may use a table; readers do not wait for each other.
#pragma once

#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rewind/op/object.h"
#include "rewind/runtime/storage.h"

namespace rw {

// Static tables are filled once; a dense one has two keys that it cannot hold, and says its buckets when it
// is exported.
enum class TableKind { kStatic, kMutable, kDense };

class LookupTable final : public Object {
 public:
  struct Spec {
    TableKind kind = TableKind::kStatic;
    DType key_dtype = DType::kInvalid, value_dtype = DType::kInvalid;
    Shape key_shape = {}, value_shape = {};
    // Of dense tables.
    Value empty_key = {}, deleted_key = {};
    int64_t buckets = 0;
    double max_load = 0;
  };
  // Throws InvalidArgumentError and UnimplementedError for types and shapes that no table has.
  LookupTable(Spec spec, std::string_view tag);
  std::string describe() const override;

  const Spec& spec() const { return spec_; }
  int64_t size() const;
  // Of all, or of each missing key, where the default has the result's shape.
  Value find(const View& keys, const View& default_value, std::string_view tag) const;
  void insert(const View& keys, const View& values, std::string_view tag);
  void remove(const View& keys, std::string_view tag);
  void export_all(Value* keys, Value* values, std::string_view tag) const;
  // In the place of all that the table holds. Initializes a static table.
  void import_all(const View& keys, const View& values, std::string_view tag);
  // Of a static table. Filling it with the same again is allowed.
  void initialize(const View& keys, const View& values, std::string_view tag);

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct Key {
    int64_t number = 0;
    std::string_view text = {};
  };
  // A key by its number or its bytes; `room` is memory for those that do not lie there as they are.
  Key key_at(const View& keys, int64_t i, std::string* room) const;
  int64_t row_of(const Key& key) const;  // -1: none
  int64_t add_row(const Key& key);
  void write_key(int64_t row, const View& to, int64_t at) const;
  void write_value(int64_t row, const View& to, int64_t at) const;
  void read_value(int64_t row, const View& from, int64_t at);
  bool same_value(int64_t row, const View& from, int64_t at) const;
  void forget_dead_rows();
  void clear();
  void insert_locked(const View& keys, const View& values, bool skip_reserved, std::string_view tag);
  int64_t check_keys(const View& keys, std::string_view tag) const;
  int64_t check_pairs(const View& keys, const View& values, std::string_view tag) const;
  bool is_reserved(const Key& key) const;
  void refuse_reserved(const Key& key, std::string_view tag) const;
  int64_t rows() const { return int64_t(alive_.size()); }
  int64_t alive() const { return rows() - dead_; }

  const Spec spec_;
  bool by_number_ = false;
  int64_t key_size_ = 1, value_size_ = 1;  // elements
  std::string empty_room_, deleted_room_;
  Key empty_, deleted_;

  mutable std::shared_mutex mutex_;  // guards the following
  bool initialized_ = false;
  int64_t buckets_ = 0;
  std::unordered_map<int64_t, int64_t> row_by_number_;
  std::unordered_map<std::string, int64_t, TextHash, std::equal_to<>> row_by_text_;
  // By row.
  std::vector<int64_t> number_keys_;
  std::vector<const std::string*> text_keys_;  // in row_by_text_
  std::vector<bool> alive_;
  std::vector<char> bytes_;
  std::vector<std::string> strings_;
  int64_t dead_ = 0;
};

// The table behind a resource tensor's element; throws InvalidArgumentError when it is something else.
LookupTable& table_of(const View& handle, std::string_view op_tag);

void register_lookup_runtime_kernels();

}  // namespace rw
