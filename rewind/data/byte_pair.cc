#include "rewind/data/byte_pair.h"

#include <algorithm>
#include <queue>
#include <unordered_map>

#include "rewind/base/error.h"
#include "rewind/data/file.h"
#include "rewind/format/json_cursor.h"
#include "rewind/format/utf8.h"

namespace rw::data {
namespace {

// The alphabet: bytes that can be seen stand for themselves, the others for 256, 257, ... in order.
struct Alphabet {
  std::string letter[256];
  std::unordered_map<std::string, uint8_t> byte;
  Alphabet() {
    uint32_t next = 256;
    for (uint32_t b = 0; b < 256; ++b) {
      const bool seen = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
      format::append_utf8(&letter[b], seen ? b : next++);
      byte[letter[b]] = uint8_t(b);
    }
  }
};
const Alphabet& alphabet() {
  static const auto* made = new Alphabet;
  return *made;
}

// An object of strings and whole numbers.
std::unordered_map<std::string, int32_t> read_vocab(const std::string& path) {
  File file(path, "BytePairTokenizer");
  const std::string text = file.rest();
  format::JsonCursor json(text, [&](size_t at, const std::string& what) {
    file.seek(int64_t(at));
    file.fail_damaged(what);
  });
  std::unordered_map<std::string, int32_t> all;
  json.object([&](const std::string& token) {
    const uint64_t id = json.whole_number();
    if (id > INT32_MAX) json.fail(json.at(), "a number beyond int32");
    all[token] = int32_t(id);
  });
  if (!json.at_end()) json.fail(json.at(), "something stands behind the object");
  return all;
}

uint64_t pair_key(int32_t a, int32_t b) { return uint64_t(uint32_t(a)) << 32 | uint32_t(b); }

// The bytes that a token of the alphabet stands for; its own bytes where a letter is none of the alphabet.
std::string bytes_of(const std::string& token) {
  std::string out;
  for (size_t at = 0; at < token.size();) {
    size_t end = at + 1;
    while (end < token.size() && (static_cast<unsigned char>(token[end]) >> 6) == 2) ++end;
    const auto it = alphabet().byte.find(token.substr(at, end - at));
    if (it == alphabet().byte.end()) return token;
    out.push_back(char(it->second));
    at = end;
  }
  return out;
}

}  // namespace

struct BytePairTokenizer::Tables {
  struct Merge {
    int32_t rank, token;
  };
  std::unordered_map<std::string, int32_t> id;
  std::unordered_map<int32_t, std::string> bytes;
  std::unordered_map<uint64_t, Merge> merges;
  int32_t of_byte[256];

  void merge(std::vector<int32_t>& tokens) const;
};

BytePairTokenizer::BytePairTokenizer(const std::string& vocab_json, const std::string& merges_txt) {
  auto tables = std::make_unique<Tables>();
  tables->id = read_vocab(vocab_json);
  for (const auto& [token, id] : tables->id) tables->bytes[id] = bytes_of(token);
  for (int b = 0; b < 256; ++b) {
    const auto it = tables->id.find(alphabet().letter[b]);
    tables->of_byte[b] = it == tables->id.end() ? -1 : it->second;
  }
  File file(merges_txt, "BytePairTokenizer");
  std::string line;
  int32_t rank = 0;
  for (int number = 1; file.line(&line); ++number) {
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    const size_t space = line.find(' ');
    auto fail = [&](const std::string& what) {
      file.fail_damaged("line " + std::to_string(number) + ": " + what);
    };
    if (space == std::string::npos || line.find(' ', space + 1) != std::string::npos)
      fail("expected two tokens with a space between them");
    const std::string left = line.substr(0, space), right = line.substr(space + 1);
    for (const std::string& token : {left, right, left + right})
      if (!tables->id.contains(token)) fail("'" + token + "' is not in " + vocab_json);
    tables->merges.emplace(pair_key(tables->id[left], tables->id[right]),
                           Tables::Merge{rank++, tables->id[left + right]});
  }
  tables_ = std::move(tables);
}
BytePairTokenizer::~BytePairTokenizer() = default;
BytePairTokenizer::BytePairTokenizer(BytePairTokenizer&&) noexcept = default;

// The best pair first, the leftmost of equals. Places that were merged away are marked by -1.
void BytePairTokenizer::Tables::merge(std::vector<int32_t>& tokens) const {
  const auto n = int32_t(tokens.size());
  if (n < 2) return;
  std::vector<int32_t> before(size_t(n), -1), after(size_t(n), -1);
  struct Candidate {
    int32_t rank, at, left, right, merged;
    bool operator<(const Candidate& o) const { return rank != o.rank ? rank > o.rank : at > o.at; }
  };
  std::priority_queue<Candidate> queue;
  auto offer = [&](int32_t at) {
    const int32_t next = after[size_t(at)];
    if (next < 0) return;
    const auto it = merges.find(pair_key(tokens[size_t(at)], tokens[size_t(next)]));
    if (it != merges.end())
      queue.push({it->second.rank, at, tokens[size_t(at)], tokens[size_t(next)], it->second.token});
  };
  for (int32_t i = 0; i < n; ++i) {
    before[size_t(i)] = i - 1;
    after[size_t(i)] = i + 1 < n ? i + 1 : -1;
  }
  for (int32_t i = 0; i < n; ++i) offer(i);
  while (!queue.empty()) {
    const Candidate c = queue.top();
    queue.pop();
    const int32_t next = after[size_t(c.at)];
    if (tokens[size_t(c.at)] != c.left || next < 0 || tokens[size_t(next)] != c.right) continue;
    tokens[size_t(c.at)] = c.merged;
    tokens[size_t(next)] = -1;
    after[size_t(c.at)] = after[size_t(next)];
    if (after[size_t(next)] >= 0) before[size_t(after[size_t(next)])] = c.at;
    offer(c.at);
    if (before[size_t(c.at)] >= 0) offer(before[size_t(c.at)]);
  }
  std::erase(tokens, -1);
}

std::vector<int32_t> BytePairTokenizer::encode(std::string_view text) const {
  std::vector<int32_t> all, piece;
  for (const std::string_view word : split_gpt2(text)) {
    piece.clear();
    for (const char& c : word) {
      const int32_t token = tables_->of_byte[static_cast<unsigned char>(c)];
      if (token < 0)
        fail_invalid("BytePairTokenizer", "byte " + std::to_string(static_cast<unsigned char>(c)) + " at " +
                                              std::to_string(&c - text.data()) +
                                              " of the text is not in the vocabulary");
      piece.push_back(token);
    }
    tables_->merge(piece);
    all.insert(all.end(), piece.begin(), piece.end());
  }
  return all;
}

std::string BytePairTokenizer::decode(std::span<const int32_t> tokens) const {
  std::string text;
  for (const int32_t t : tokens) {
    const auto it = tables_->bytes.find(t);
    if (it == tables_->bytes.end())
      fail_out_of_range("BytePairTokenizer", std::to_string(t) + " is no token of the vocabulary");
    text += it->second;
  }
  return text;
}

int64_t BytePairTokenizer::vocab_size() const { return int64_t(tables_->id.size()); }
int32_t BytePairTokenizer::token_id(const std::string& entry) const {
  const auto it = tables_->id.find(entry);
  return it == tables_->id.end() ? -1 : it->second;
}

}  // namespace rw::data
