// Where things stand in the user's files: offsets of what somebody wrote, through macro arguments too.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/Basic/SourceManager.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace rw::autograph_tool {

struct Spot {
  clang::FileID file;
  unsigned offset = 0;
  bool operator==(const Spot& o) const { return file == o.file && offset == o.offset; }
  bool operator<(const Spot& o) const { return file < o.file || (file == o.file && offset < o.offset); }
};

// [begin, end) of a file.
struct Range {
  clang::FileID file;
  unsigned begin = 0, end = 0;
  bool valid() const { return file.isValid(); }
  Spot first() const { return {file, begin}; }
  bool contains(const Spot& s) const { return s.file == file && begin <= s.offset && s.offset < end; }
  bool contains(const Range& r) const { return r.file == file && begin <= r.begin && r.end <= end; }
  bool operator<(const Range& o) const {
    return std::tie(file, begin, end) < std::tie(o.file, o.begin, o.end);
  }
};

class Source {
 public:
  explicit Source(clang::ASTContext& context)
      : context_(context), manager_(context.getSourceManager()), options_(context.getLangOpts()) {}

  clang::ASTContext& context() const { return context_; }
  const clang::SourceManager& manager() const { return manager_; }
  const clang::LangOptions& options() const { return options_; }

  // Where a token stands in a file: a macro's argument where it is written, what a macro writes at the macro.
  Spot spot(clang::SourceLocation location) const;
  // The text of a node; invalid if a macro wrote part of it.
  Range range(clang::SourceRange range) const;
  Range range(const clang::Stmt* stmt) const { return range(stmt->getSourceRange()); }
  // The same with the semicolon behind a statement.
  Range statement(const clang::Stmt* stmt) const;
  // The next token from an offset on, over comments: its offset.
  unsigned next_token(clang::FileID file, unsigned offset) const;
  unsigned token_end(Spot token) const;
  char character(Spot s) const { return buffer(s.file)[s.offset]; }

  std::string_view buffer(clang::FileID file) const;
  std::string_view text(const Range& r) const { return buffer(r.file).substr(r.begin, r.end - r.begin); }
  clang::SourceLocation location(Spot s) const {
    return manager_.getLocForStartOfFile(s.file).getLocWithOffset(int(s.offset));
  }
  unsigned line(Spot s) const { return manager_.getPresumedLoc(location(s)).getLine(); }
  // Whether the user wrote the file: the main one, and headers that are neither the system's nor Rewind's.
  bool users(clang::SourceLocation location) const;

 private:
  clang::ASTContext& context_;
  const clang::SourceManager& manager_;
  const clang::LangOptions& options_;
  mutable std::map<clang::FileID, bool> users_;
};

// Whether a file is one of Rewind's headers.
bool is_library_file(std::string_view path);
// Whether the user wrote it.
bool is_users_file(const clang::SourceManager& manager, clang::FileID file);

}  // namespace rw::autograph_tool
