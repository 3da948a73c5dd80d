#include "rewriter.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Lex/Lexer.h>

#include "expressions.h"
#include "print.h"
#include "promotion.h"
#include "refusals.h"
#include "tags.h"
#include "writer.h"

namespace rw::autograph_tool {

Rewriter::Rewriter(clang::ASTContext& context)
    : source_(context),
      facts_(collect_facts(source_)),
      conditions_(source_, facts_),
      functions_(find_functions(source_)),
      promotion_(source_, facts_, conditions_, functions_) {
  for (const Function& f : functions_)
    plans_.push_back(std::make_unique<Plan>(source_, facts_, conditions_, f));
  converted_.resize(functions_.size());
}

// Host variables that staged code changes become Locals, whose conditions are staged, and so on.
void Rewriter::plan() {
  do
    for (const auto& p : plans_) p->make();
  while (promotion_.promote(plans_));
  for (const auto& p : plans_) refusals_.insert(p->refusals().begin(), p->refusals().end());
  promotion_.check(plans_, refusals_);
}

static void add_words(std::string_view text, std::set<std::string>& words) {
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && in_word(text[end])) ++end;
    if (end > i) words.emplace(text.substr(i, end - i));
    i = end + 1;
  }
}

std::set<std::string> Rewriter::identifiers() const {
  std::set<std::string> found;
  std::set<clang::FileID> files;
  for (const Function& f : functions_)
    if (files.insert(f.range.file).second) add_words(source_.buffer(f.range.file), found);
  return found;
}

bool Rewriter::report() {
  clang::DiagnosticsEngine& diagnostics = source_.context().getDiagnostics();
  const unsigned id = diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error, "%0");
  for (const Refusal& r : refusals_) diagnostics.Report(source_.location(r.at), id) << r.text;
  return refusals_.empty();
}

bool Rewriter::run() {
  if (facts_.tensors.empty() && facts_.staged_ranges.empty()) {
    write_code_texts(source_, functions_, edits_);
    return true;
  }
  plan();
  for (size_t i = 0; i < functions_.size(); ++i) {
    converted_[i] =
        check_expressions(source_, facts_, conditions_, functions_[i], refusals_) || !plans_[i]->empty();
    if (converted_[i]) find_refusals(source_, facts_, functions_[i], *plans_[i], refusals_);
  }
  if (!refusals_.empty()) return report();
  std::map<size_t, Names> names;  // of functions with those in them
  const std::set<std::string> taken = identifiers();
  for (size_t i = 0; i < functions_.size(); ++i) {
    const Function& f = functions_[i];
    if (!converted_[i]) continue;
    Edits& edits = edits_[f.range.file];
    Names& here = names.try_emplace(f.outermost, taken).first->second;
    Writer(source_, facts_, conditions_, f, *plans_[i], here, edits).write();
  }
  promotion_.write(edits_);
  // Operators begin and end where statements and declarations do, inside of them.
  for (const Function& f : functions_)
    write_expressions(source_, facts_, conditions_, promotion_, f, edits_[f.range.file], refusals_);
  write_code_texts(source_, functions_, edits_);
  std::erase_if(edits_, [](const auto& e) { return e.second.empty(); });
  tag_functions(source_, functions_, converted_, edits_);
  return report();
}

std::vector<HeaderCopy> Rewriter::copy_headers(const Directives& directives, const std::string& folder) {
  std::vector<HeaderCopy> copies =
      autograph_tool::copy_headers(source_, directives, folder, edits_, refusals_);
  if (!report()) copies.clear();
  return copies;
}

}  // namespace rw::autograph_tool
