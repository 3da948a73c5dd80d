#include "source.h"

#include <clang/Lex/Lexer.h>
#include <llvm/Support/FileSystem.h>

namespace rw::autograph_tool {

using clang::Lexer;
using clang::SourceLocation;

bool is_library_file(std::string_view path) {
  static constexpr std::string_view kFolder = "rewind/";
  for (size_t at = path.rfind(kFolder); at != std::string_view::npos;
       at = at ? path.rfind(kFolder, at - 1) : at) {
    if (at == 0 || path[at - 1] == '/')
      if (llvm::sys::fs::exists(std::string(path.substr(0, at + kFolder.size())) + "tensor/tensor.h"))
        return true;
    if (at == 0) break;
  }
  return false;
}

bool is_users_file(const clang::SourceManager& manager, clang::FileID file) {
  if (file == manager.getMainFileID()) return true;
  const SourceLocation start = manager.getLocForStartOfFile(file);
  if (start.isInvalid() || manager.isInSystemHeader(start)) return false;
  const auto entry = manager.getFileEntryRefForID(file);
  return entry && !is_library_file(entry->getName());
}

bool Source::users(SourceLocation location) const {
  if (location.isInvalid()) return false;
  const clang::FileID file = manager_.getFileID(manager_.getFileLoc(location));
  const auto found = users_.find(file);
  if (found != users_.end()) return found->second;
  return users_[file] = is_users_file(manager_, file);
}

Spot Source::spot(SourceLocation location) const {
  const auto [file, offset] = manager_.getDecomposedLoc(manager_.getFileLoc(location));
  return {file, offset};
}

Range Source::range(clang::SourceRange range) const {
  if (range.isInvalid()) return {};
  const clang::CharSourceRange whole =
      Lexer::makeFileCharRange(clang::CharSourceRange::getTokenRange(range), manager_, options_);
  if (whole.isInvalid()) return {};
  const auto [file, begin] = manager_.getDecomposedLoc(whole.getBegin());
  const auto [last, end] = manager_.getDecomposedLoc(whole.getEnd());
  if (file != last || end < begin) return {};
  return {file, begin, end};
}

std::string_view Source::buffer(clang::FileID file) const {
  return std::string_view(manager_.getBufferData(file).data(), manager_.getBufferData(file).size());
}

unsigned Source::token_end(Spot token) const {
  return token.offset + Lexer::MeasureTokenLength(location(token), manager_, options_);
}

unsigned Source::next_token(clang::FileID file, unsigned offset) const {
  const std::string_view text = buffer(file);
  while (offset < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[offset]))) ++offset;
    else if (text.substr(offset, 2) == "\\\n") offset += 2;
    else if (text.substr(offset, 2) == "//")
      offset = unsigned(std::min(text.find('\n', offset), text.size()));
    else if (text.substr(offset, 2) == "/*")
      offset = unsigned(std::min(text.find("*/", offset + 2), text.size() - 2)) + 2;
    else break;
  }
  return offset;
}

Range Source::statement(const clang::Stmt* stmt) const {
  Range r = range(stmt);
  if (!r.valid()) return r;
  if (r.end > r.begin && character({r.file, r.end - 1}) == ';') return r;
  // What ends with a statement of its own has its semicolon there.
  const clang::Stmt* last = stmt;
  for (;;) {
    if (const auto* s = llvm::dyn_cast<clang::IfStmt>(last))
      last = s->getElse() ? s->getElse() : s->getThen();
    else if (const auto* s = llvm::dyn_cast<clang::WhileStmt>(last)) last = s->getBody();
    else if (const auto* s = llvm::dyn_cast<clang::ForStmt>(last)) last = s->getBody();
    else if (const auto* s = llvm::dyn_cast<clang::CXXForRangeStmt>(last)) last = s->getBody();
    else if (const auto* s = llvm::dyn_cast<clang::LabelStmt>(last)) last = s->getSubStmt();
    else if (const auto* s = llvm::dyn_cast<clang::SwitchStmt>(last)) last = s->getBody();
    else if (const auto* s = llvm::dyn_cast<clang::SwitchCase>(last)) last = s->getSubStmt();
    else if (const auto* s = llvm::dyn_cast<clang::AttributedStmt>(last)) last = s->getSubStmt();
    else break;
  }
  if (llvm::isa<clang::CompoundStmt>(last) || llvm::isa<clang::CXXTryStmt>(last)) return r;
  const unsigned next = next_token(r.file, r.end);
  if (next < buffer(r.file).size() && buffer(r.file)[next] == ';') r.end = next + 1;
  return r;
}

}  // namespace rw::autograph_tool
