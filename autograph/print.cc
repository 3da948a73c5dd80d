#include "print.h"

#include <clang/AST/ParentMapContext.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Format/Format.h>

#include <algorithm>
#include <set>

#include "facts.h"
#include "types.h"

namespace rw::autograph_tool {
namespace {

using llvm::dyn_cast;

// The variable that a lambda, or what is made of it at once, initialises.
const clang::VarDecl* variable_of(const Source& source, const clang::LambdaExpr* lambda) {
  clang::ParentMapContext& parents = source.context().getParentMapContext();
  for (clang::DynTypedNode node = clang::DynTypedNode::create(*lambda);;) {
    const auto above = parents.getParents(node);
    if (above.empty()) return nullptr;
    if (const auto* v = above[0].get<clang::VarDecl>()) return v;
    if (!above[0].get<clang::Expr>()) return nullptr;
    node = above[0];
  }
}

// Without the indentation that all lines but the first have in common.
std::string without_indentation(const std::string& text) {
  size_t common = std::string::npos;
  for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) {
    const size_t first = text.find_first_not_of(" \t", at + 1);
    if (first != text.npos && text[first] != '\n') common = std::min(common, first - at - 1);
  }
  if (common == std::string::npos || common == 0) return text;
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] != '\n') continue;
    for (size_t n = 0; n < common && i + 1 < text.size() && (text[i + 1] == ' ' || text[i + 1] == '\t'); ++n)
      ++i;
  }
  return result;
}

std::string formatted(const std::string& code, const std::string& file) {
  namespace format = clang::format;
  auto style = format::getStyle("file", file, "Google", code, nullptr);
  format::FormatStyle used = style ? *style : format::getGoogleStyle(format::FormatStyle::LK_Cpp);
  if (!style) llvm::consumeError(style.takeError());
  used.AllowShortIfStatementsOnASingleLine = format::FormatStyle::SIS_WithoutElse;
  used.MaxEmptyLinesToKeep = 1;
  const auto changes = format::reformat(used, code, {clang::tooling::Range(0, unsigned(code.size()))}, file);
  auto done = clang::tooling::applyAllReplacements(code, changes);
  if (done) return *done;
  llvm::consumeError(done.takeError());
  return code;
}

// Finds what to_code is called with.
class CallFinder : public clang::RecursiveASTVisitor<CallFinder> {
 public:
  std::vector<const clang::CallExpr*> found;
  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee && callee->getIdentifier() && callee->getName() == "to_code" && call->getNumArgs() == 1 &&
        in_library(callee))
      found.push_back(call);
    return true;
  }
};

// The function of the user's that an expression mentions first: sum_even, &Net::call, what a variable was
// made of.
class TargetFinder : public clang::RecursiveASTVisitor<TargetFinder> {
 public:
  explicit TargetFinder(const std::vector<Function>& functions) : functions_(functions) {}
  const Function* found = nullptr;

  bool VisitDeclRefExpr(clang::DeclRefExpr* e) {
    if (const auto* f = dyn_cast<clang::FunctionDecl>(e->getDecl())) return take(f);
    if (auto* v = dyn_cast<clang::VarDecl>(e->getDecl());
        v && v->getAnyInitializer() && seen_.insert(v).second)
      return TraverseStmt(const_cast<clang::Expr*>(v->getAnyInitializer()));
    return true;
  }
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) { return take(lambda->getCallOperator()); }

 private:
  // The visit ends at the first one.
  bool take(const clang::FunctionDecl* f) {
    if (const clang::FunctionDecl* pattern = f->getTemplateInstantiationPattern()) f = pattern;
    for (const Function& known : functions_)
      if (known.declaration->getCanonicalDecl() == f->getCanonicalDecl()) found = &known;
    return !found;
  }
  const std::vector<Function>& functions_;
  std::set<const clang::VarDecl*> seen_;
};

std::string literal(const std::string& text) {
  std::string result = "std::string(\"";
  for (const char c : text) {
    if (c == '\n') result += "\\n";
    else if (c == '\t') result += "\\t";
    else if (c == '"' || c == '\\') (result += '\\') += c;
    else if (c == '?') result += "\\?";  // no trigraphs
    else result += c;
  }
  return result + "\")";
}

}  // namespace

std::string Printer::name(const Function& f) const {
  if (!f.lambda) return f.declaration->getQualifiedNameAsString();
  const clang::VarDecl* v = variable_of(source_, f.lambda);
  return v ? v->getNameAsString() : "";
}

Range Printer::whole(const Function& f) const {
  clang::SourceRange all = f.declaration->getSourceRange();
  if (const auto* made = f.declaration->getDescribedFunctionTemplate()) all = made->getSourceRange();
  if (f.lambda) {
    all = f.lambda->getSourceRange();
    if (const clang::VarDecl* v = variable_of(source_, f.lambda)) all = v->getSourceRange();
  }
  const Range r = source_.range(all);
  return r.valid() && r.contains(f.range) ? r : f.range;
}

std::string Printer::code(const Function& f) const {
  const Range r = whole(f);
  const auto edits = edits_.find(r.file);
  std::string text = edits != edits_.end() ? edits->second.render(source_.buffer(r.file), r.begin, r.end)
                                           : std::string(source_.text(r));
  if (f.lambda && variable_of(source_, f.lambda)) text += ";";
  return formatted(without_indentation(text),
                   source_.manager().getFilename(source_.location(r.first())).str()) +
         "\n";
}

void write_code_texts(const Source& source, const std::vector<Function>& functions,
                      std::map<clang::FileID, Edits>& edits) {
  CallFinder calls;
  for (clang::Decl* d : users_declarations(source)) calls.TraverseDecl(d);
  const Printer printer(source, functions, edits);
  std::vector<std::pair<Range, std::string>> texts;
  for (const clang::CallExpr* call : calls.found) {
    const Range at = source.range(call);
    if (!at.valid()) continue;
    TargetFinder target(functions);
    target.TraverseStmt(const_cast<clang::Expr*>(call->getArg(0)));
    if (target.found) texts.emplace_back(at, literal(printer.code(*target.found)));
  }
  for (const auto& [at, text] : texts) edits[at.file].replace(at.begin, at.end, text);
}

}  // namespace rw::autograph_tool
