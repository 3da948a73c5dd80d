#include "headers.h"

#include <llvm/Support/Path.h>

namespace rw::autograph_tool {
namespace {

class Collector : public clang::PPCallbacks {
 public:
  Collector(const clang::SourceManager& manager, Directives& found) : manager_(manager), found_(found) {}
  void InclusionDirective(clang::SourceLocation, const clang::Token& word, llvm::StringRef, bool angled,
                          clang::CharSourceRange name, clang::OptionalFileEntryRef file, llvm::StringRef,
                          llvm::StringRef, const clang::Module*, bool,
                          clang::SrcMgr::CharacteristicKind) override {
    if (!file || !word.getIdentifierInfo() || word.getIdentifierInfo()->getName() != "include") return;
    Directive d;
    std::tie(d.name.file, d.name.offset) = manager_.getDecomposedExpansionLoc(name.getBegin());
    d.name_end = name.getBegin().isFileID() ? manager_.getDecomposedLoc(name.getEnd()).second : 0;
    d.target = &file->getFileEntry();
    d.path = file->getName().str();
    d.quoted = !angled;
    found_.push_back(std::move(d));
  }

 private:
  const clang::SourceManager& manager_;
  Directives& found_;
};

std::string quoted(const std::string& file) {
  std::string result;
  for (const char c : file) {
    if (c == '\\' || c == '"') result += '\\';
    result += c;
  }
  return "\"" + result + "\"";
}

// Which headers are copied, and the ones that come in by no #include of the user's.
class Copies {
 public:
  Copies(const Source& source, const Directives& directives) : source_(source), directives_(directives) {}

  void add(clang::FileID file) {
    const clang::FileEntry* entry = source_.manager().getFileEntryForID(file);
    if (!entry || file == source_.manager().getMainFileID() || !files_.try_emplace(entry, file).second)
      return;
    for (const Directive& d : directives_)
      if (d.target == entry) {
        if (!source_.users(source_.location(d.name)) || !d.name_end) forced_.insert(file);
        else add(d.name.file);
      }
  }
  bool has(const clang::FileEntry* entry) const { return files_.count(entry) > 0; }
  const std::map<const clang::FileEntry*, clang::FileID>& files() const { return files_; }
  const std::set<clang::FileID>& forced() const { return forced_; }

 private:
  const Source& source_;
  const Directives& directives_;
  std::map<const clang::FileEntry*, clang::FileID> files_;
  std::set<clang::FileID> forced_;
};

}  // namespace

std::unique_ptr<clang::PPCallbacks> collect_directives(const clang::SourceManager& manager,
                                                       Directives& found) {
  return std::make_unique<Collector>(manager, found);
}

std::string line_directive(const std::string& file) { return "#line 1 " + quoted(file) + "\n"; }

std::vector<HeaderCopy> copy_headers(const Source& source, const Directives& directives,
                                     const std::string& folder, std::map<clang::FileID, Edits>& edits,
                                     std::set<Refusal>& refusals) {
  Copies copies(source, directives);
  for (const auto& [file, of_file] : edits) copies.add(file);
  for (const clang::FileID file : copies.forced())
    refusals.insert({{file, 0},
                     "functions of this header have conditions on tensors, and it is part of a precompiled "
                     "header or of another "
                     "one that the compiler is told to include, where they cannot be rewritten; include it "
                     "in the source only"});
  const clang::SourceManager& manager = source.manager();
  std::map<const clang::FileEntry*, std::string> outputs;
  std::set<std::string> taken;
  for (const auto& [entry, file] : copies.files()) {
    const std::string name = llvm::sys::path::filename(manager.getFileEntryRefForID(file)->getName()).str();
    std::string output = folder + "/" + name;
    for (int i = 2; !taken.insert(output).second; ++i) output = folder + "/" + std::to_string(i) + "/" + name;
    outputs[entry] = output;
  }
  std::set<Spot> done;  // files that come in more than once
  for (const Directive& d : directives) {
    const clang::FileEntry* in = manager.getFileEntryForID(d.name.file);
    if (!d.name_end || !done.insert(d.name).second) continue;
    if (copies.has(d.target))
      edits[d.name.file].replace(d.name.offset, d.name_end, quoted(outputs.at(d.target)));
    else if (d.quoted && copies.has(in))
      edits[d.name.file].replace(d.name.offset, d.name_end, quoted(d.path));
  }
  std::vector<HeaderCopy> result;
  for (const auto& [entry, file] : copies.files())
    result.push_back({outputs.at(entry), line_directive(manager.getFileEntryRefForID(file)->getName().str()) +
                                             edits[file].apply(source.buffer(file))});
  return result;
}

}  // namespace rw::autograph_tool
