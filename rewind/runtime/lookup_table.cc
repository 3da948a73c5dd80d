#include "rewind/runtime/lookup_table.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "rewind/base/dispatch.h"
#include "rewind/base/dynamic_type.h"
#include "rewind/base/error.h"

namespace rw {
namespace {

constexpr int64_t kMostBuckets = int64_t{1} << 40;
constexpr DTypeSet kNumberKeys = kIntTypes | set_of(DType::kBool);
constexpr DTypeSet kHeld = kAllTypes & ~set_of(DType::kResource, DType::kVariant);

std::string type_and_shape(DType dtype, const Shape& shape) {
  return std::string(name_of(dtype)) + shape.to_string();
}

// The shape of what belongs to one key each: `keys` without the keys' own axes, and `last` behind it.
Shape beside_keys(const View& keys, const Shape& key_shape, const Shape& last) {
  Shape out;
  for (int d = 0; d < keys.rank() - key_shape.rank(); ++d) out.append(keys.dim(d));
  for (const int64_t d : last) out.append(d);
  return out;
}

}  // namespace

LookupTable::LookupTable(Spec spec, std::string_view tag) : spec_(std::move(spec)), buckets_(spec_.buckets) {
  if (!contains(kHeld, spec_.key_dtype))
    fail_unimplemented(tag, "a table cannot have keys of " + std::string(name_of(spec_.key_dtype)));
  if (!contains(kHeld, spec_.value_dtype))
    fail_unimplemented(tag, "a table cannot have values of " + std::string(name_of(spec_.value_dtype)));
  if (!spec_.value_shape.fully_known())
    fail_invalid(tag, "value_shape must be known: got " + spec_.value_shape.to_string());
  if (!spec_.value_shape.checked_num_elements(&value_size_) || value_size_ > (int64_t{1} << 40))
    fail_invalid(tag, "value_shape is too large: " + spec_.value_shape.to_string());
  key_size_ = spec_.key_shape.num_elements();
  by_number_ = spec_.key_shape.rank() == 0 && contains(kNumberKeys, spec_.key_dtype);
  if (spec_.kind != TableKind::kDense) return;
  if (spec_.buckets < 4 || (spec_.buckets & (spec_.buckets - 1)) != 0)
    fail_invalid(tag, "initial_num_buckets must be a power of two and at least 4: got " +
                          std::to_string(spec_.buckets));
  if (!(spec_.max_load > 0 && spec_.max_load < 1))
    fail_invalid(tag, "max_load_factor must be between 0 and 1");
  if (spec_.key_shape.rank() > 1)
    fail_invalid(tag, "a key must be a value or a list of values: got " + spec_.key_shape.to_string());
  empty_ = key_at(spec_.empty_key.view(), 0, &empty_room_);
  deleted_ = key_at(spec_.deleted_key.view(), 0, &deleted_room_);
  if (empty_.number == deleted_.number && empty_.text == deleted_.text)
    fail_invalid(tag, "empty_key and deleted_key must differ");
}

std::string LookupTable::describe() const {
  return "<ResourceHandle of a table from " + type_and_shape(spec_.key_dtype, spec_.key_shape) + " to " +
         type_and_shape(spec_.value_dtype, spec_.value_shape) + ">";
}

// ---- keys and values

LookupTable::Key LookupTable::key_at(const View& keys, int64_t i, std::string* room) const {
  Key key;
  if (by_number_) {
    dispatch<kNumberKeys>(spec_.key_dtype, [&]<class T>() { key.number = int64_t(keys.as<T>()[i]); });
    return key;
  }
  if (spec_.key_dtype == DType::kString) {
    const std::string* strings = keys.as<std::string>() + i * key_size_;
    if (key_size_ == 1) return {.text = strings[0]};
    room->clear();
    for (int64_t k = 0; k < key_size_; ++k) *room += std::to_string(strings[k].size()) + ":" + strings[k];
    return {.text = *room};
  }
  const size_t bytes = size_t(key_size_) * size_of(spec_.key_dtype);
  room->assign(keys.as<char>() + size_t(i) * bytes, bytes);
  // Both zeros are one key.
  const auto join_zeros = [&]<class T>() {
    for (int64_t k = 0; k < key_size_; ++k) {
      T x;
      std::memcpy(&x, room->data() + size_t(k) * sizeof(T), sizeof(T));
      if (x == T(0)) std::memset(room->data() + size_t(k) * sizeof(T), 0, sizeof(T));
    }
  };
  if (spec_.key_dtype == DType::kFloat32) join_zeros.template operator()<float>();
  if (spec_.key_dtype == DType::kFloat64) join_zeros.template operator()<double>();
  return {.text = *room};
}

int64_t LookupTable::row_of(const Key& key) const {
  if (by_number_) {
    const auto it = row_by_number_.find(key.number);
    return it == row_by_number_.end() ? -1 : it->second;
  }
  const auto it = row_by_text_.find(key.text);
  return it == row_by_text_.end() ? -1 : it->second;
}

int64_t LookupTable::add_row(const Key& key) {
  const int64_t row = rows();
  if (by_number_) {
    row_by_number_.emplace(key.number, row);
    number_keys_.push_back(key.number);
  } else {
    text_keys_.push_back(&row_by_text_.emplace(key.text, row).first->first);
  }
  alive_.push_back(true);
  if (spec_.value_dtype == DType::kString) strings_.resize(size_t(rows() * value_size_));
  else bytes_.resize(size_t(rows() * value_size_) * size_of(spec_.value_dtype));
  return row;
}

void LookupTable::write_key(int64_t row, const View& to, int64_t at) const {
  if (by_number_) {
    dispatch<kNumberKeys>(spec_.key_dtype,
                          [&]<class T>() { to.as<T>()[at] = static_cast<T>(number_keys_[size_t(row)]); });
    return;
  }
  const std::string& text = *text_keys_[size_t(row)];
  if (spec_.key_dtype != DType::kString) {
    std::memcpy(to.as<char>() + size_t(at) * text.size(), text.data(), text.size());
    return;
  }
  if (key_size_ == 1) {
    to.as<std::string>()[at] = text;
    return;
  }
  size_t place = 0;
  for (int64_t k = 0; k < key_size_; ++k) {
    size_t size = 0;
    for (; text[place] != ':'; ++place) size = size * 10 + size_t(text[place] - '0');
    to.as<std::string>()[at * key_size_ + k] = text.substr(place + 1, size);
    place += size + 1;
  }
}

void LookupTable::write_value(int64_t row, const View& to, int64_t at) const {
  if (spec_.value_dtype == DType::kString) {
    std::copy_n(strings_.data() + row * value_size_, value_size_, to.as<std::string>() + at * value_size_);
    return;
  }
  const size_t bytes = size_t(value_size_) * size_of(spec_.value_dtype);
  if (bytes > 0) std::memcpy(to.as<char>() + size_t(at) * bytes, bytes_.data() + size_t(row) * bytes, bytes);
}

void LookupTable::read_value(int64_t row, const View& from, int64_t at) {
  if (spec_.value_dtype == DType::kString) {
    std::copy_n(from.as<std::string>() + at * value_size_, value_size_, strings_.data() + row * value_size_);
    return;
  }
  const size_t bytes = size_t(value_size_) * size_of(spec_.value_dtype);
  if (bytes > 0)
    std::memcpy(bytes_.data() + size_t(row) * bytes, from.as<char>() + size_t(at) * bytes, bytes);
}

bool LookupTable::same_value(int64_t row, const View& from, int64_t at) const {
  if (spec_.value_dtype == DType::kString)
    return std::equal(strings_.data() + row * value_size_, strings_.data() + (row + 1) * value_size_,
                      from.as<std::string>() + at * value_size_);
  const size_t bytes = size_t(value_size_) * size_of(spec_.value_dtype);
  return bytes == 0 ||
         std::memcmp(bytes_.data() + size_t(row) * bytes, from.as<char>() + size_t(at) * bytes, bytes) == 0;
}

bool LookupTable::is_reserved(const Key& key) const {
  if (spec_.kind != TableKind::kDense) return false;
  const auto same = [&](const Key& other) { return key.number == other.number && key.text == other.text; };
  return same(empty_) || same(deleted_);
}

void LookupTable::refuse_reserved(const Key& key, std::string_view tag) const {
  if (is_reserved(key)) fail_invalid(tag, "empty_key and deleted_key cannot be keys of the table");
}

// How many keys there are.
int64_t LookupTable::check_keys(const View& keys, std::string_view tag) const {
  if (keys.dtype != spec_.key_dtype)
    fail_invalid(tag, "keys must be " + std::string(name_of(spec_.key_dtype)) + ": got " +
                          std::string(name_of(keys.dtype)));
  const int rank = spec_.key_shape.rank();
  bool fits = keys.rank() >= rank;
  for (int d = 1; fits && d <= rank; ++d) fits = keys.dim(keys.rank() - d) == spec_.key_shape[-d];
  if (!fits)
    fail_invalid(tag, "keys must end with the shape of a key, " + spec_.key_shape.to_string() + ": got " +
                          keys.shape->to_string());
  int64_t count = 1;
  for (int d = 0; d < keys.rank() - rank; ++d) count *= keys.dim(d);
  return count;
}

int64_t LookupTable::check_pairs(const View& keys, const View& values, std::string_view tag) const {
  const int64_t count = check_keys(keys, tag);
  if (values.dtype != spec_.value_dtype)
    fail_invalid(tag, "values must be " + std::string(name_of(spec_.value_dtype)) + ": got " +
                          std::string(name_of(values.dtype)));
  if (const Shape wanted = beside_keys(keys, spec_.key_shape, spec_.value_shape); !(wanted == *values.shape))
    fail_invalid(tag, "values must have the shape " + wanted.to_string() + " for keys of " +
                          keys.shape->to_string() + ": got " + values.shape->to_string());
  return count;
}

// ---- what ops do

int64_t LookupTable::size() const {
  const std::shared_lock lock(mutex_);
  return alive();
}

Value LookupTable::find(const View& keys, const View& default_value, std::string_view tag) const {
  const int64_t count = check_keys(keys, tag);
  if (default_value.dtype != spec_.value_dtype)
    fail_invalid(tag, "default_value must be " + std::string(name_of(spec_.value_dtype)) + ": got " +
                          std::string(name_of(default_value.dtype)));
  Shape shape = beside_keys(keys, spec_.key_shape, spec_.value_shape);
  const bool each = *default_value.shape == shape;
  if (!each && !(*default_value.shape == spec_.value_shape))
    fail_invalid(tag, "default_value must have the shape of a value, " + spec_.value_shape.to_string() +
                          ", or of all, " + shape.to_string() + ": got " + default_value.shape->to_string());
  Value out = Value::allocate(cpu_device(), spec_.value_dtype, std::move(shape));
  const View to = out.view();
  const size_t bytes =
      spec_.value_dtype == DType::kString ? 0 : size_t(value_size_) * size_of(spec_.value_dtype);
  std::string room;
  const std::shared_lock lock(mutex_);
  if (spec_.kind == TableKind::kStatic && !initialized_)
    fail_precondition(tag, "the table has not been initialized");
  for (int64_t i = 0; i < count; ++i) {
    const Key key = key_at(keys, i, &room);
    refuse_reserved(key, tag);
    if (const int64_t row = row_of(key); row >= 0) {
      write_value(row, to, i);
      continue;
    }
    const int64_t from = each ? i : 0;
    if (spec_.value_dtype == DType::kString)
      std::copy_n(default_value.as<std::string>() + from * value_size_, value_size_,
                  to.as<std::string>() + i * value_size_);
    else if (bytes > 0)
      std::memcpy(to.as<char>() + size_t(i) * bytes, default_value.as<char>() + size_t(from) * bytes, bytes);
  }
  return out;
}

void LookupTable::insert(const View& keys, const View& values, std::string_view tag) {
  if (spec_.kind == TableKind::kStatic)
    fail_unimplemented(tag, "a static table is filled once, by its initializer");
  check_pairs(keys, values, tag);
  const std::unique_lock lock(mutex_);
  insert_locked(keys, values, false, tag);
}

void LookupTable::insert_locked(const View& keys, const View& values, bool skip_reserved,
                                std::string_view tag) {
  const int64_t count = check_keys(keys, tag);
  std::string room;
  if (!skip_reserved)
    for (int64_t i = 0; i < count; ++i) refuse_reserved(key_at(keys, i, &room), tag);
  for (int64_t i = 0; i < count; ++i) {
    const Key key = key_at(keys, i, &room);
    if (is_reserved(key)) continue;
    const int64_t row = row_of(key);
    read_value(row >= 0 ? row : add_row(key), values, i);
  }
  if (spec_.kind == TableKind::kDense)
    while (buckets_<kMostBuckets&& double(alive())> spec_.max_load * double(buckets_)) buckets_ *= 2;
}

void LookupTable::remove(const View& keys, std::string_view tag) {
  if (spec_.kind == TableKind::kStatic) fail_unimplemented(tag, "keys of a static table cannot be removed");
  const int64_t count = check_keys(keys, tag);
  std::string room;
  const std::unique_lock lock(mutex_);
  for (int64_t i = 0; i < count; ++i) refuse_reserved(key_at(keys, i, &room), tag);
  for (int64_t i = 0; i < count; ++i) {
    const Key key = key_at(keys, i, &room);
    const int64_t row = row_of(key);
    if (row < 0) continue;
    if (by_number_) row_by_number_.erase(key.number);
    else row_by_text_.erase(row_by_text_.find(key.text));
    alive_[size_t(row)] = false;
    ++dead_;
  }
  forget_dead_rows();
}

// Once they are more than the others.
void LookupTable::forget_dead_rows() {
  if (dead_ <= alive() + 16) return;
  const size_t bytes = size_t(value_size_) * size_of(spec_.value_dtype);
  int64_t next = 0;
  for (int64_t row = 0; row < rows(); ++row) {
    if (!alive_[size_t(row)]) continue;
    if (by_number_) row_by_number_[number_keys_[size_t(next)] = number_keys_[size_t(row)]] = next;
    else row_by_text_.find(*(text_keys_[size_t(next)] = text_keys_[size_t(row)]))->second = next;
    if (next != row && spec_.value_dtype == DType::kString)
      std::move(strings_.data() + row * value_size_, strings_.data() + (row + 1) * value_size_,
                strings_.data() + next * value_size_);
    else if (next != row && bytes > 0)
      std::memcpy(bytes_.data() + size_t(next) * bytes, bytes_.data() + size_t(row) * bytes, bytes);
    ++next;
  }
  if (by_number_) number_keys_.resize(size_t(next));
  else text_keys_.resize(size_t(next));
  if (spec_.value_dtype == DType::kString) strings_.resize(size_t(next * value_size_));
  else bytes_.resize(size_t(next) * bytes);
  alive_.assign(size_t(next), true);
  dead_ = 0;
}

void LookupTable::clear() {
  row_by_number_.clear();
  row_by_text_.clear();
  number_keys_.clear();
  text_keys_.clear();
  alive_.clear();
  bytes_.clear();
  strings_.clear();
  dead_ = 0;
}

void LookupTable::export_all(Value* keys, Value* values, std::string_view tag) const {
  const std::shared_lock lock(mutex_);
  if (spec_.kind == TableKind::kStatic && !initialized_)
    fail_precondition(tag, "the table has not been initialized");
  const int64_t count = spec_.kind == TableKind::kDense ? buckets_ : alive();
  Shape key_shape = spec_.key_shape, value_shape = spec_.value_shape;
  key_shape.insert(0, count);
  value_shape.insert(0, count);
  *keys = Value::allocate(cpu_device(), spec_.key_dtype, std::move(key_shape));
  *values = Value::allocate(cpu_device(), spec_.value_dtype, std::move(value_shape));
  int64_t at = 0;
  for (int64_t row = 0; row < rows(); ++row) {
    if (!alive_[size_t(row)]) continue;
    write_key(row, keys->view(), at);
    write_value(row, values->view(), at++);
  }
  if (at == count) return;
  // Buckets without a key.
  if (spec_.value_dtype != DType::kString) {
    const size_t bytes = size_t(value_size_) * size_of(spec_.value_dtype);
    std::memset(static_cast<char*>(values->data) + size_t(at) * bytes, 0, size_t(count - at) * bytes);
  }
  const View empty = spec_.empty_key.view();
  const size_t bytes = size_t(key_size_) * size_of(spec_.key_dtype);
  for (; at < count; ++at) {
    if (spec_.key_dtype == DType::kString)
      std::copy_n(empty.as<std::string>(), key_size_, static_cast<std::string*>(keys->data) + at * key_size_);
    else std::memcpy(static_cast<char*>(keys->data) + size_t(at) * bytes, empty.data, bytes);
  }
}

void LookupTable::import_all(const View& keys, const View& values, std::string_view tag) {
  if (spec_.kind == TableKind::kStatic) return initialize(keys, values, tag);
  check_pairs(keys, values, tag);
  const std::unique_lock lock(mutex_);
  clear();
  if (spec_.kind == TableKind::kDense) buckets_ = spec_.buckets;
  insert_locked(keys, values, true, tag);
}

void LookupTable::initialize(const View& keys, const View& values, std::string_view tag) {
  if (spec_.kind != TableKind::kStatic)
    fail_invalid(tag, "a table that changes is filled by insert: got " + describe());
  const int64_t count = check_pairs(keys, values, tag);
  std::string room;
  const std::unique_lock lock(mutex_);
  if (initialized_) {
    int64_t known = 0;
    for (int64_t i = 0; i < count; ++i)
      if (const int64_t row = row_of(key_at(keys, i, &room)); row >= 0 && same_value(row, values, i)) ++known;
    if (known != count || count < alive())
      fail_precondition(tag, "the table has been initialized with other entries");
    return;
  }
  clear();
  for (int64_t i = 0; i < count; ++i) {
    const Key key = key_at(keys, i, &room);
    const int64_t row = row_of(key);
    if (row < 0) {
      read_value(add_row(key), values, i);
    } else if (!same_value(row, values, i)) {
      clear();
      fail_precondition(tag, "a key must come with one value: key number " + std::to_string(i) +
                                 " comes again with another one");
    }
  }
  initialized_ = true;
}

LookupTable& table_of(const View& handle, std::string_view op_tag) {
  if (handle.dtype == DType::kResource && handle.size == 1) {
    if (auto* table = dynamic_cast_to<LookupTable*>(handle.as<Ref<Object>>()->get())) return *table;
  }
  fail_invalid(op_tag, "the resource must be a table's handle: got " + handle.describe());
}

}  // namespace rw
