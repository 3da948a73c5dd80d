// Walks the user's code, instantiations of templates included.
#include <clang/AST/RecursiveASTVisitor.h>

#include "facts.h"
#include "places.h"
#include "types.h"

namespace rw::autograph_tool {
namespace {

using clang::Expr;
using llvm::dyn_cast;

class Collector : public clang::RecursiveASTVisitor<Collector> {
 public:
  Collector(const Source& source, Facts& facts) : source_(source), facts_(facts), places_(source) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool VisitExpr(Expr* e) {
    const clang::QualType type = e->getType();
    if (type.isNull() || type->isDependentType()) return true;
    if (is_tensor(type)) add(facts_.tensors, as_written(e));
    return true;
  }

  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    places_.enter(lambda);
    note_parameters(lambda);
    note_return_type(lambda->getCallOperator());
    const bool more = RecursiveASTVisitor::TraverseLambdaExpr(lambda);
    if (const auto* generic = lambda->getLambdaClass()->getDependentLambdaCallOperator())
      if (auto* made = dyn_cast<clang::FunctionTemplateDecl>(generic))
        for (clang::FunctionDecl* f : made->specializations()) {
          note_return_type(f);
          if (f->getBody()) TraverseStmt(f->getBody());
        }
    places_.leave();
    return more;
  }
  bool VisitFunctionDecl(clang::FunctionDecl* f) {
    note_return_type(f);
    return true;
  }

  bool VisitVarDecl(clang::VarDecl* v) {
    const Expr* init = v->getInit();
    if (!init || v->isCXXForRangeDecl() || !source_.users(v->getLocation())) return true;
    if (const auto* lambda = dyn_cast<clang::LambdaExpr>(stripped(init))) {
      const Range body = source_.range(lambda->getBody());
      if (body.valid()) facts_.lambdas[source_.spot(v->getLocation())] = body;
    } else if (v->getType()->isReferenceType()) {
      const std::vector<Place> behind = places_.of(init);
      places_.add_alias(v, behind);
      if (!v->getType().getNonReferenceType().isConstQualified() && !behind.empty())
        note(v->getLocation(), init);
    } else if (in_std(v->getType())) {
      if (const auto* call = dyn_cast<clang::CXXMemberCallExpr>(stripped(init)))
        if (call->getMethodDecl() && is_access(call->getMethodDecl())) places_.add_alias(v, places_.of(call));
    }
    return true;
  }
  bool VisitCXXForRangeStmt(clang::CXXForRangeStmt* loop) {
    const Expr* range = loop->getRangeInit();
    if (!range) return true;
    if (is_staged_range(range->getType())) add(facts_.staged_ranges, as_written(range));
    const clang::VarDecl* v = loop->getLoopVariable();
    if (v && v->getType()->isReferenceType() && !v->getType().getNonReferenceType().isConstQualified()) {
      std::vector<Place> behind = places_.of(range);
      for (Place& p : behind) p.whole = false, p.changed = v->getType().getNonReferenceType();
      places_.add_alias(v, behind);
    }
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* ref) {
    const auto* v = dyn_cast<clang::VarDecl>(ref->getDecl());
    if (!v) return true;
    const Spot spot = source_.spot(v->getLocation());
    if (facts_.lambdas.count(spot)) facts_.lambda_uses.push_back({source_.spot(ref->getLocation()), spot});
    return true;
  }

  bool VisitBinaryOperator(clang::BinaryOperator* e) {
    if (e->isAssignmentOp()) note(e->getOperatorLoc(), e->getLHS());
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator* e) {
    if (e->isIncrementDecrementOp()) note(e->getOperatorLoc(), e->getSubExpr());
    if (e->getOpcode() == clang::UO_AddrOf && !e->getSubExpr()->getType().isConstQualified() &&
        !e->getSubExpr()->getType()->isFunctionType())
      note(e->getOperatorLoc(), e->getSubExpr());
    return true;
  }
  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (!callee) return true;
    unsigned first = 0;
    if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(call)) {
      if (const auto* method = dyn_cast<clang::CXXMethodDecl>(callee)) {
        first = 1;
        note_object(op->getOperatorLoc(), method, op->getArg(0));
      }
    } else if (const auto* member = dyn_cast<clang::CXXMemberCallExpr>(call)) {
      if (member->getMethodDecl())
        note_object(member->getExprLoc(), member->getMethodDecl(), member->getImplicitObjectArgument());
    }
    for (unsigned i = first; i < call->getNumArgs() && i - first < callee->getNumParams(); ++i)
      note_argument(callee, callee->getParamDecl(i - first), call->getArg(i));
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* e) {
    const clang::CXXConstructorDecl* callee = e->getConstructor();
    if (in_namespace(callee, "rw") && !is_library_object(e->getType())) return true;
    for (unsigned i = 0; i < e->getNumArgs() && i < callee->getNumParams(); ++i)
      note_argument(callee, callee->getParamDecl(i), e->getArg(i));
    return true;
  }

 private:
  void add(std::set<Range>& set, const Expr* e) {
    if (!e || !source_.users(e->getBeginLoc())) return;
    const Range r = source_.range(e);
    if (r.valid()) set.insert(r);
  }
  void note_parameters(const clang::LambdaExpr* lambda) {
    const Range body = source_.range(lambda->getBody());
    const Spot captured = source_.spot(lambda->getIntroducerRange().getEnd());
    if (body.valid() && captured.file == body.file && captured.offset < body.begin)
      facts_.parameters[body] = {body.file, captured.offset, body.begin};
  }
  static bool in_std(clang::QualType type) {
    const clang::CXXRecordDecl* record = record_of(type);
    return record ? in_namespace(record, "std") || in_namespace(record, "__gnu_cxx") : type->isPointerType();
  }
  void note_return_type(const clang::FunctionDecl* f) {
    if (!f->hasBody() || !f->getBody() || !source_.users(f->getLocation())) return;
    const clang::QualType type = f->getReturnType();
    if (type.isNull() || type->isDependentType()) return;
    std::string text = spelled(type, source_.context());
    if (!text.empty() || !type->isUndeducedType())
      facts_.return_types[source_.spot(f->getBody()->getBeginLoc())].insert(std::move(text));
  }

  void note(clang::SourceLocation at, const Expr* lvalue, std::optional<Range> method = {},
            std::optional<Spot> parameter = {}) {
    if (!source_.users(at)) return;
    for (Place& p : places_.of(lvalue)) {
      if (p.variable && !source_.users(p.variable->getLocation())) continue;  // std::cout
      if (p.type.isConstQualified()) continue;
      facts_.changes.push_back({source_.spot(at), std::move(p), method, parameter});
    }
  }
  void note_object(clang::SourceLocation at, const clang::CXXMethodDecl* method, const Expr* object) {
    if (method->isStatic() || method->isConst() || is_access(method)) return;
    if (llvm::isa<clang::CXXConversionDecl>(method)) return;
    const clang::CXXRecordDecl* owner = method->getParent();
    if (owner->isLambda()) return;  // by what it captures
    const auto op = method->getOverloadedOperator();
    const bool assigns = op == clang::OO_Equal || op == clang::OO_PlusPlus || op == clang::OO_MinusMinus ||
                         (op >= clang::OO_PlusEqual && op <= clang::OO_PipeEqual) ||
                         op == clang::OO_LessLessEqual || op == clang::OO_GreaterGreaterEqual;
    if (assigns) return note(at, object);
    if (is_library_object(object->getType()->isPointerType() ? object->getType()->getPointeeType()
                                                             : object->getType())) {
      const clang::CXXRecordDecl* record = owner;
      if (in_namespace(record, "rw") || !source_.users(method->getLocation())) return;
    }
    const clang::FunctionDecl* defined = nullptr;
    std::optional<Range> body;
    if (method->isDefined(defined) || method->getTemplateInstantiationPattern()) {
      if (!defined) defined = method->getTemplateInstantiationPattern();
      if (defined->getBody() && source_.users(defined->getLocation())) {
        const Range r = source_.range(defined->getBody());
        if (r.valid()) body = r;
      }
    }
    if (llvm::isa<clang::CXXThisExpr>(object->IgnoreParenImpCasts())) {
      if (body) facts_.own_calls.push_back({source_.spot(at), *body});
      return;
    }
    note(at, object, body);
  }
  void note_argument(const clang::FunctionDecl* callee, const clang::ParmVarDecl* parameter,
                     const Expr* argument) {
    const clang::QualType type = parameter->getType();
    if (!type->isLValueReferenceType() || type->getPointeeType().isConstQualified()) return;
    const clang::FunctionTemplateDecl* made_from = callee->getPrimaryTemplate();
    bool forwarding = false;
    if (made_from) {
      const clang::FunctionDecl* pattern = made_from->getTemplatedDecl();
      const unsigned i = parameter->getFunctionScopeIndex();
      const clang::QualType written =
          pattern->getParamDecl(std::min(i, pattern->getNumParams() - 1))->getType();
      forwarding = written->isRValueReferenceType() || llvm::isa<clang::PackExpansionType>(written);
    }
    if (!forwarding) return note(argument->getBeginLoc(), argument);
    if (callee->getIdentifier() && in_namespace(callee, "std") &&
        (callee->getName() == "move" || callee->getName() == "forward"))
      return note(argument->getBeginLoc(), argument);
    if (source_.users(parameter->getLocation()))
      note(argument->getBeginLoc(), argument, {}, source_.spot(parameter->getLocation()));
  }

  const Source& source_;
  Facts& facts_;
  Places places_;
};

void add_users(const Source& source, clang::DeclContext* context, std::vector<clang::Decl*>& found) {
  for (clang::Decl* d : context->decls()) {
    if (llvm::isa<clang::NamespaceDecl>(d) || llvm::isa<clang::LinkageSpecDecl>(d)) {
      if (source.users(d->getLocation())) add_users(source, llvm::cast<clang::DeclContext>(d), found);
    } else if (!d->isImplicit() && source.users(d->getLocation())) {
      found.push_back(d);
    }
  }
}

}  // namespace

std::vector<clang::Decl*> users_declarations(const Source& source) {
  std::vector<clang::Decl*> found;
  add_users(source, source.context().getTranslationUnitDecl(), found);
  return found;
}

Facts collect_facts(const Source& source) {
  Facts facts;
  Collector collector(source, facts);
  for (clang::Decl* d : users_declarations(source)) collector.TraverseDecl(d);
  return facts;
}

}  // namespace rw::autograph_tool
