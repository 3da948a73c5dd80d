// Protobuf's text format to and from the structs:
//
//   node {
//     name: "MatMul"
//     attr {
//       key: "T"
//       value {
//         type: DT_FLOAT
//       }
//     }
//   }
//
// The reader takes everything that protobuf's own reader takes for such messages: lists in brackets, < > for
// braces, separators, comments, adjacent strings, enums by number.
#pragma once

#include <limits>
#include <variant>

#include "rewind/format/field_types.h"
#include "rewind/format/text_lexer.h"

namespace rw::format {

class TextWriter {
 public:
  std::string text;

  template <class T>
  void field(unsigned, const char* name, const T& value) {
    put(name, value, true);
  }
  template <class T>
  void bytes(unsigned, const char* name, const T& value) {
    put(name, value, false);
  }
  template <class T, class... Cases>
  void choice(unsigned, const char* name, const std::variant<Cases...>& value) {
    if (const T* v = std::get_if<T>(&value)) present(name, *v, true);
  }
  template <class... Cases>
  void bytes_choice(unsigned, const char* name, const std::variant<Cases...>& value) {
    if (const std::string* v = std::get_if<std::string>(&value)) present(name, *v, false);
  }
  void skipped(unsigned, const char*) {}

 private:
  template <class T>
  void put(const char* name, const T& value, bool is_text) {
    if constexpr (is_vector<T>) {
      for (const typename T::value_type& v : value) present(name, v, is_text);
    } else if constexpr (is_map<T>) {
      for (const auto& [key, v] : value) {
        open(name);
        present("key", key, true);
        present("value", v, true);
        close();
      }
    } else if constexpr (is_optional<T>) {
      if (value) present(name, *value, is_text);
    } else if (!is_default(value)) {
      present(name, value, is_text);
    }
  }

  template <class T>
  void present(const char* name, const T& v, bool is_text) {
    if constexpr (is_box<T>) present(name, *v, is_text);
    else if constexpr (std::is_same_v<T, SInt64>) present(name, v.value, is_text);
    else if constexpr (is_string<T>) line(name, string_text(v, is_text));
    else if constexpr (std::is_same_v<T, bool>) line(name, v ? "true" : "false");
    else if constexpr (std::is_floating_point_v<T>) line(name, float_text(v));
    else if constexpr (std::is_enum_v<T>)
      line(name, name_of(v).empty() ? std::to_string(int64_t(v)) : std::string(name_of(v)));
    else if constexpr (std::is_integral_v<T>) line(name, std::to_string(v));
    else {
      open(name);
      fields(*this, v);
      close();
    }
  }

  void line(const char* name, const std::string& value) {
    text.append(indent_, ' ') += name;
    text += ": " + value + "\n";
  }
  void open(const char* name) {
    text.append(indent_, ' ') += name;
    text += " {\n";
    indent_ += 2;
  }
  void close() {
    indent_ -= 2;
    text.append(indent_, ' ') += "}\n";
  }

  size_t indent_ = 0;
};

class TextReader {
 public:
  explicit TextReader(std::string_view text) : in_(text) {}

  template <class M>
  void read(M* message) {
    while (!in_.at_end()) read_field(*message);
  }

 private:
  struct Taker {
    TextReader& reader;
    std::string_view name;
    bool taken = false;

    template <class T>
    void field(unsigned, std::string_view field_name, T& member) {
      if (taken || name != field_name) return;
      taken = true;
      reader.take(member);
    }
    template <class T>
    void bytes(unsigned number, std::string_view field_name, T& member) {
      field(number, field_name, member);
    }
    template <class T, class... Cases>
    void choice(unsigned number, std::string_view field_name, std::variant<Cases...>& member) {
      if (taken || name != field_name) return;
      T* value = std::get_if<T>(&member);
      field(number, field_name, value ? *value : member.template emplace<T>());
    }
    template <class... Cases>
    void bytes_choice(unsigned number, std::string_view field_name, std::variant<Cases...>& member) {
      choice<std::string>(number, field_name, member);
    }
    void skipped(unsigned, std::string_view field_name) {
      if (taken || name != field_name) return;
      taken = true;
      reader.in_.skip_value();
    }
  };

  template <class K, class V>
  struct Entry {
    K key{};
    V value{};
    friend void fields(Taker& v, Entry& m) {
      v.field(1, "key", m.key);
      v.field(2, "value", m.value);
    }
  };

  template <class M>
  void read_field(M& message) {
    const std::string_view name = in_.word();
    Taker taker{*this, name};
    fields(taker, message);
    if (!taker.taken) in_.fail("there is no field " + std::string(name) + " here");
    if (!in_.accept(',')) in_.accept(';');
  }

  template <class M>
  void read_message(M& message) {
    if (++depth_ > kMaxDepth) in_.fail("messages are nested deeper than " + std::to_string(kMaxDepth));
    char close = '}';
    if (in_.accept('<')) close = '>';
    else in_.expect('{');
    while (!in_.accept(close)) {
      if (in_.at_end()) in_.fail(std::string("the text ends before '") + close + "'");
      read_field(message);
    }
    --depth_;
  }

  template <class T>
  void take(T& member) {
    if constexpr (is_vector<T>) {
      const bool colon = in_.accept(':');
      if (!in_.accept('[')) return take_element(member, colon);
      if (in_.accept(']')) return;
      do take_element(member, true);
      while (in_.accept(','));
      in_.expect(']');
    } else if constexpr (is_map<T>) {
      std::vector<Entry<typename T::key_type, typename T::mapped_type>> entries;
      take(entries);
      for (auto& e : entries) member.insert_or_assign(std::move(e.key), std::move(e.value));
    } else if constexpr (is_optional<T>) {
      if (!member) member = typename T::value_type();
      take_value(*member, in_.accept(':'));
    } else {
      take_value(member, in_.accept(':'));
    }
  }

  template <class E>
  void take_element(std::vector<E>& list, bool colon) {
    E element{};
    take_value(element, colon);
    list.push_back(std::move(element));
  }

  template <class T>
  void take_value(T& value, bool colon) {
    if constexpr (is_box<T>) {
      take_value(*value, colon);
    } else if constexpr (std::is_same_v<T, SInt64>) {
      take_value(value.value, colon);
    } else if constexpr (is_string<T> || is_number<T>) {
      if (!colon) in_.expect(':');
      if constexpr (is_string<T>) value = in_.string();
      else if constexpr (std::is_same_v<T, bool>) value = in_.boolean();
      else if constexpr (std::is_same_v<T, float>) value = in_.number32();
      else if constexpr (std::is_same_v<T, double>) value = in_.number64();
      else if constexpr (std::is_enum_v<T>) take_enum(value);
      else if constexpr (std::is_unsigned_v<T>) value = T(in_.natural(std::numeric_limits<T>::max()));
      else value = T(in_.integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    } else {
      read_message(value);
    }
  }

  template <class T>
  void take_enum(T& value) {
    TextLexer before = in_;
    const std::string_view name = in_.word();
    if (parse_enum(name, &value)) return;
    if ((name[0] < '0' || name[0] > '9') && name[0] != '-')
      in_.fail("there is no value " + std::string(name) + " of this enum");
    in_ = before;
    value = T(in_.integer(std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
  }

  TextLexer in_;
  int depth_ = 0;
};

template <class M>
std::string to_text(const M& message) {
  TextWriter writer;
  fields(writer, message);
  return std::move(writer.text);
}

template <class M>
M from_text(std::string_view text) {
  M message;
  TextReader(text).read(&message);
  return message;
}

}  // namespace rw::format
