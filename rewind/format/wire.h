// Protobuf's bytes to and from the structs. A message is a sequence of (number << 3 | wire type, payload);
// wire types are 0 varint, 1 eight bytes, 2 length and bytes, 5 four bytes. Lists of numbers are packed into
// one payload of type 2, and read in both forms. A map is a list of messages {1 key, 2 value}.
//
// Only .cc files include this: protozero stays inside.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <variant>

#include "rewind/base/error.h"
#include "rewind/format/field_types.h"

namespace rw::format {

class WireWriter {
 public:
  WireWriter(std::string& bytes, protozero::pbf_writer& out) : bytes_(bytes), out_(out) {}

  template <class T>
  void field(unsigned number, const char*, const T& value) {
    if constexpr (is_vector<T>) {
      if constexpr (is_number<typename T::value_type>) packed(number, value);
      else
        for (const auto& v : value) present(number, v);
    } else if constexpr (is_map<T>) {
      for (const auto& [key, v] : value) {
        protozero::pbf_writer entry(out_, number);
        WireWriter w(bytes_, entry);
        w.present(1, key);
        w.present(2, v);
      }
    } else if constexpr (is_optional<T>) {
      if (value) present(number, *value);
    } else if (!is_default(value)) {
      present(number, value);
    }
  }
  template <class T>
  void bytes(unsigned number, const char* name, const T& value) {
    field(number, name, value);
  }
  template <class T, class... Cases>
  void choice(unsigned number, const char*, const std::variant<Cases...>& value) {
    if (const T* v = std::get_if<T>(&value)) present(number, *v);
  }
  template <class... Cases>
  void bytes_choice(unsigned number, const char* name, const std::variant<Cases...>& value) {
    choice<std::string>(number, name, value);
  }
  void skipped(unsigned, const char*) {}

 private:
  template <class T>
  void present(unsigned number, const T& v) {
    if constexpr (is_box<T>) present(number, *v);
    else if constexpr (is_string<T>) add_string(number, v);
    else if constexpr (std::is_same_v<T, bool>) out_.add_bool(number, v);
    else if constexpr (std::is_same_v<T, float>) out_.add_float(number, v);
    else if constexpr (std::is_same_v<T, double>) out_.add_double(number, v);
    else if constexpr (std::is_same_v<T, Fixed32>) out_.add_fixed32(number, v.value);
    else if constexpr (std::is_same_v<T, SInt64>) out_.add_sint64(number, v.value);
    else if constexpr (std::is_enum_v<T>) out_.add_int64(number, int64_t(v));
    else if constexpr (std::is_unsigned_v<T>) out_.add_uint64(number, v);
    else if constexpr (std::is_integral_v<T>) out_.add_int64(number, v);
    else {
      const size_t before = bytes_.size();
      {
        protozero::pbf_writer inner(out_, number);
        WireWriter w(bytes_, inner);
        fields(w, v);
      }
      if (bytes_.size() == before) out_.add_bytes(number, "", 0);  // protozero takes an empty message back
    }
  }

  void add_string(unsigned number, const std::string& v) {
    if (v.size() >= size_t(std::numeric_limits<int32_t>::max()))
      throw InvalidArgumentError("[encode] a protobuf message holds less than 2 GiB: got a field of " +
                                 std::to_string(v.size()) + " bytes");
    out_.add_bytes(number, v);
  }

  template <class T>
  void packed(unsigned number, const std::vector<T>& list) {
    if (list.empty()) return;
    std::string payload;
    for (const T v : list) {
      if constexpr (std::is_floating_point_v<T>) {
        static_assert(std::endian::native == std::endian::little);
        payload.append(reinterpret_cast<const char*>(&v), sizeof v);
      } else {
        protozero::write_varint(std::back_inserter(payload), uint64_t(int64_t(v)));
      }
    }
    add_string(number, payload);
  }

  std::string& bytes_;  // all that was written
  protozero::pbf_writer& out_;
};

class [[gnu::visibility("hidden")]] WireReader {  // protozero stays inside the library
 public:
  explicit WireReader(std::string_view bytes) : begin_(bytes.data()), at_(bytes.data()) {}

  template <class M>
  void read(std::string_view bytes, M* message) {
    try {
      read_message(protozero::pbf_reader(bytes.data(), bytes.size()), *message);
    } catch (const protozero::exception& e) { fail(e.what()); }
  }

 private:
  struct Step {
    const char* name;
    size_t index;
  };
  static constexpr size_t kNoIndex = size_t(-1);

  [[noreturn]] void fail(const std::string& why) const {
    std::string where;
    for (const Step& s : path_) {
      where += (where.empty() ? "" : ".") + std::string(s.name);
      if (s.index != kNoIndex) where += "[" + std::to_string(s.index) + "]";
    }
    throw DataLossError("[decode] damaged message" + (where.empty() ? "" : " in " + where) + " at byte " +
                        std::to_string(at_ - begin_) + ": " + why);
  }

  // The visitor of one field's value: the member with its number takes it.
  struct Taker {
    WireReader& reader;
    protozero::pbf_reader& in;
    bool taken = false;

    template <class T>
    void field(unsigned number, const char* name, T& member) {
      if (taken || in.tag() != number) return;
      taken = true;
      reader.path_.push_back({name, kNoIndex});
      reader.take(in, member);
      reader.path_.pop_back();
    }
    template <class T>
    void bytes(unsigned number, const char* name, T& member) {
      field(number, name, member);
    }
    template <class T, class... Cases>
    void choice(unsigned number, const char* name, std::variant<Cases...>& member) {
      if (taken || in.tag() != number) return;
      T* value = std::get_if<T>(&member);
      field(number, name, value ? *value : member.template emplace<T>());
    }
    template <class... Cases>
    void bytes_choice(unsigned number, const char* name, std::variant<Cases...>& member) {
      choice<std::string>(number, name, member);
    }
    void skipped(unsigned, const char*) {}
  };

  template <class M>
  void read_message(protozero::pbf_reader in, M& message) {
    if (++depth_ > kMaxDepth) fail("messages are nested deeper than " + std::to_string(kMaxDepth));
    for (;;) {
      at_ = in.data().data();
      if (!in.next()) break;
      Taker taker{*this, in};
      fields(taker, message);
      if (!taker.taken) in.skip();
    }
    --depth_;
  }

  void expect(const protozero::pbf_reader& in, protozero::pbf_wire_type type) const {
    if (in.wire_type() != type)
      fail("wire type " + std::to_string(int(in.wire_type())) + " where " + std::to_string(int(type)) +
           " is due");
  }

  template <class T>
  static constexpr protozero::pbf_wire_type wire_type_of() {
    if constexpr (std::is_same_v<T, float>) return protozero::pbf_wire_type::fixed32;
    else if constexpr (std::is_same_v<T, double>) return protozero::pbf_wire_type::fixed64;
    else return protozero::pbf_wire_type::varint;
  }
  template <class T>
  static T number_of(uint64_t varint) {
    if constexpr (std::is_same_v<T, bool>) return varint != 0;
    else if constexpr (std::is_enum_v<T>) return T(std::underlying_type_t<T>(varint));
    else return T(varint);
  }

  template <class T>
  void take(protozero::pbf_reader& in, T& member) {
    if constexpr (is_vector<T>) {
      using E = typename T::value_type;
      if constexpr (is_number<E>) {
        if (in.wire_type() == protozero::pbf_wire_type::length_delimited) return take_packed(in, member);
      }
      path_.back().index = member.size();
      E element{};
      take(in, element);
      member.push_back(std::move(element));
    } else if constexpr (is_map<T>) {
      Entry<typename T::key_type, typename T::mapped_type> entry;
      take(in, entry);
      member.insert_or_assign(std::move(entry.key), std::move(entry.value));
    } else if constexpr (is_optional<T>) {
      if (!member) member = typename T::value_type();
      take(in, *member);
    } else if constexpr (is_box<T>) {
      take(in, *member);
    } else if constexpr (is_string<T>) {
      expect(in, protozero::pbf_wire_type::length_delimited);
      const auto view = in.get_view();
      member.assign(view.data(), view.size());
    } else if constexpr (is_number<T>) {
      expect(in, wire_type_of<T>());
      if constexpr (std::is_same_v<T, float>) member = in.get_float();
      else if constexpr (std::is_same_v<T, double>) member = in.get_double();
      else member = number_of<T>(in.get_uint64());
    } else if constexpr (std::is_same_v<T, Fixed32>) {
      expect(in, protozero::pbf_wire_type::fixed32);
      member.value = in.get_fixed32();
    } else if constexpr (std::is_same_v<T, SInt64>) {
      expect(in, protozero::pbf_wire_type::varint);
      member.value = in.get_sint64();
    } else {
      expect(in, protozero::pbf_wire_type::length_delimited);
      read_message(in.get_message(), member);
    }
  }

  template <class T>
  void take_packed(protozero::pbf_reader& in, std::vector<T>& list) {
    const auto view = in.get_view();
    const char* p = view.data();
    const char* const end = p + view.size();
    if constexpr (std::is_floating_point_v<T>) {
      if (view.size() % sizeof(T)) fail("a packed list of " + std::to_string(view.size()) + " bytes");
      for (; p != end; p += sizeof(T)) {
        T v;
        std::memcpy(&v, p, sizeof v);
        list.push_back(v);
      }
    } else {
      while (p != end) list.push_back(number_of<T>(protozero::decode_varint(&p, end)));
    }
  }

  template <class K, class V>
  struct Entry {
    K key{};
    V value{};
    friend void fields(Taker& v, Entry& m) {
      v.field(1, "key", m.key);
      v.field(2, "value", m.value);
    }
  };

  const char* begin_;
  const char* at_;
  int depth_ = 0;
  std::vector<Step> path_;
};

template <class M>
std::string encode(const M& message) {
  std::string bytes;
  protozero::pbf_writer out(bytes);
  WireWriter writer(bytes, out);
  fields(writer, message);
  if (bytes.size() >= size_t(std::numeric_limits<int32_t>::max()))
    throw InvalidArgumentError("[encode] a protobuf message holds less than 2 GiB: got " +
                               std::to_string(bytes.size()) + " bytes");
  return bytes;
}

template <class M>
M decode(std::string_view bytes) {
  M message;
  WireReader(bytes).read(bytes, &message);
  return message;
}

}  // namespace rw::format
