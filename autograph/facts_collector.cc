// Walks the user's code, instantiations of templates included.
#include <clang/AST/ParentMapContext.h>
#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>

#include "callables.h"
#include "facts.h"
#include "places.h"
#include "types.h"

namespace rw::autograph_tool {
namespace {

using clang::Expr;
using llvm::dyn_cast;

bool has_tensors(clang::Stmt* body) {
  class Finder : public clang::RecursiveASTVisitor<Finder> {
   public:
    bool VisitExpr(Expr* e) { return e->getType().isNull() || !is_tensor(e->getType()); }
  };
  return !Finder().TraverseStmt(body);
}

class Collector : public clang::RecursiveASTVisitor<Collector> {
 public:
  Collector(const Source& source, Facts& facts, Callables& callables)
      : source_(source), facts_(facts), callables_(callables), places_(source) {}

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
    functions_.push_back(source_.spot(lambda->getCallOperator()->getLocation()));
    note_return_type(lambda->getCallOperator());
    const bool more = RecursiveASTVisitor::TraverseLambdaExpr(lambda);
    if (const auto* generic = lambda->getLambdaClass()->getDependentLambdaCallOperator())
      if (auto* made = dyn_cast<clang::FunctionTemplateDecl>(generic))
        for (clang::FunctionDecl* f : made->specializations()) {
          note_return_type(f);
          if (f->getBody()) TraverseStmt(f->getBody());
        }
    functions_.pop_back();
    places_.leave();
    return more;
  }
  bool TraverseFunctionDecl(clang::FunctionDecl* f) {
    functions_.push_back(source_.spot(f->getLocation()));
    const bool more = RecursiveASTVisitor::TraverseFunctionDecl(f);
    functions_.pop_back();
    return more;
  }
  bool TraverseCXXMethodDecl(clang::CXXMethodDecl* f) {
    functions_.push_back(source_.spot(f->getLocation()));
    const bool more = RecursiveASTVisitor::TraverseCXXMethodDecl(f);
    functions_.pop_back();
    return more;
  }
  bool VisitFunctionDecl(clang::FunctionDecl* f) {
    note_return_type(f);
    return true;
  }

  bool VisitFieldDecl(clang::FieldDecl* f) {
    if (!f->getType()->isDependentType() && !is_number(f->getType()) && source_.users(f->getLocation()))
      facts_.others_declared.insert(source_.spot(f->getLocation()));
    return true;
  }
  // The statement that the name of a local variable is known in.
  Range scope_of(const clang::ValueDecl* v) const {
    clang::ParentMapContext& parents = source_.context().getParentMapContext();
    auto above = parents.getParents(*v);
    while (!above.empty()) {
      const clang::DynTypedNode node = above[0];
      if (const auto* f = node.get<clang::FunctionDecl>()) return source_.range(f->getSourceRange());
      const auto* s = node.get<clang::Stmt>();
      if (s && !llvm::isa<clang::DeclStmt>(s)) return source_.range(s);
      above = parents.getParents(node);
    }
    return {};
  }
  void note_local(const clang::ValueDecl* v) {
    if (!v->getIdentifier() || !source_.users(v->getLocation())) return;
    const Spot declared = source_.spot(v->getLocation());
    std::vector<Facts::Named>& all = facts_.locals[v->getNameAsString()];
    if (std::any_of(all.begin(), all.end(), [&](const Facts::Named& n) { return n.declared == declared; }))
      return;
    if (const Range scope = scope_of(v); scope.valid()) all.push_back({declared, scope});
  }
  void note_bound_select(const clang::VarDecl* v, const Expr* init, const std::vector<Place>& behind) {
    const auto* select = dyn_cast<clang::ConditionalOperator>(stripped(init));
    if (!select || !select->isGLValue()) return;
    const Range chosen = source_.range(select), scope = scope_of(v);
    if (!chosen.valid() || !scope.valid()) return;
    Facts::BoundSelect& bound = facts_.bound_selects[chosen];
    bound.name = v->getNameAsString();
    bound.known = {scope.file, chosen.end, scope.end};
    for (const Place& p : behind) bound.behind.push_back(p.declared);
  }
  bool VisitBindingDecl(clang::BindingDecl* b) {
    note_local(b);
    return true;
  }
  bool VisitVarDecl(clang::VarDecl* v) {
    const Expr* init = v->getInit();
    if (v->isLocalVarDeclOrParm()) note_local(v);
    if (!v->getType()->isDependentType() && !v->getType()->isUndeducedType() && !is_number(v->getType()) &&
        source_.users(v->getLocation()))
      facts_.others_declared.insert(source_.spot(v->getLocation()));
    if (!init || v->isCXXForRangeDecl() || !source_.users(v->getLocation())) return true;
    callables_.flow(v->getType(), init, source_.spot(v->getLocation()));
    if (v->getType()->isReferenceType()) {
      const std::vector<Place> behind = places_.of(init);
      places_.add_alias(v, behind);
      add_reference(v, behind);
      if (!v->getType().getNonReferenceType().isConstQualified() && !behind.empty())
        note(v->getLocation(), init);
      note_bound_select(v, init, behind);
    } else if (is_iterator(v->getType()) || v->getType()->isPointerType()) {
      const Expr* from = stripped(init);
      const auto* member = dyn_cast<clang::CXXMemberCallExpr>(from);
      const auto* call = dyn_cast<clang::CallExpr>(from);
      const clang::FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
      if (member ? member->getMethodDecl() && is_access(member->getMethodDecl())
                 : callee && in_namespace(callee, "std") && !llvm::isa<clang::CXXOperatorCallExpr>(call)) {
        places_.add_iterator(v, places_.behind(call));
        add_reference(v, places_.behind(call));
      }
    }
    return true;
  }
  bool VisitCXXForRangeStmt(clang::CXXForRangeStmt* loop) {
    const Expr* range = loop->getRangeInit();
    if (!range) return true;
    if (is_staged_range(range->getType())) add(facts_.staged_ranges, as_written(range));
    const clang::VarDecl* v = loop->getLoopVariable();
    if (!v) return true;
    places_.add_range(v, range);
    callables_.flow(v->getType(), range, source_.spot(v->getLocation()));
    if (v->getType()->isReferenceType() && !v->getType().getNonReferenceType().isConstQualified()) {
      std::vector<Place> behind = places_.of(range);
      for (Place& p : behind) p.whole = false, p.changed = v->getType().getNonReferenceType();
      places_.add_alias(v, behind);
      add_reference(v, behind);
    }
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* ref) {
    const auto* v = dyn_cast<clang::VarDecl>(ref->getDecl());
    if (!v || !source_.users(v->getLocation())) return true;
    const Spot spot = source_.spot(v->getLocation()), at = source_.spot(ref->getLocation());
    facts_.uses[spot].push_back(at);
    if (may_hold_callable(v->getType())) facts_.lambda_uses.push_back({at, spot});
    return true;
  }
  bool VisitMemberExpr(clang::MemberExpr* e) {
    const auto* field = dyn_cast<clang::FieldDecl>(e->getMemberDecl());
    if (field && source_.users(field->getLocation()) && may_hold_callable(field->getType()))
      facts_.lambda_uses.push_back({source_.spot(e->getMemberLoc()), source_.spot(field->getLocation())});
    return true;
  }
  bool VisitReturnStmt(clang::ReturnStmt* s) {
    if (s->getRetValue() && !functions_.empty() && may_hold_callable(s->getRetValue()->getType()))
      callables_.flow(s->getRetValue()->getType(), s->getRetValue(), functions_.back());
    return true;
  }
  // References to what stands outside, in structs and in tuples of references.
  bool VisitInitListExpr(clang::InitListExpr* list) {
    if (!list->isSemanticForm() && list->getSemanticForm()) list = list->getSemanticForm();
    const clang::CXXRecordDecl* record = record_of(list->getType());
    if (!record || !record->hasDefinition() || list->getType()->isDependentType()) return true;
    unsigned i = record->getNumBases();
    for (const clang::FieldDecl* f : record->fields()) {
      if (i >= list->getNumInits()) break;
      const Expr* init = list->getInit(i++);
      const clang::QualType type = f->getType();
      if (type->isLValueReferenceType() && !type->getPointeeType().isConstQualified())
        note(init->getBeginLoc(), init);
      if (source_.users(f->getLocation())) callables_.flow(type, init, source_.spot(f->getLocation()));
    }
    return true;
  }
  bool VisitCXXConstructorDecl(clang::CXXConstructorDecl* made) {
    for (const clang::CXXCtorInitializer* init : made->inits())
      if (const clang::FieldDecl* f = init->getAnyMember();
          f && init->getInit() && source_.users(f->getLocation()))
        callables_.flow(f->getType(), init->getInit(), source_.spot(f->getLocation()));
    return true;
  }

  bool VisitBinaryOperator(clang::BinaryOperator* e) {
    if (is_number(e->getType())) add(facts_.numbers, e);
    if (e->isAssignmentOp()) note(e->getOperatorLoc(), e->getLHS());
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator* e) {
    if (is_number(e->getType())) add(facts_.numbers, e);
    if (e->isIncrementDecrementOp()) note(e->getOperatorLoc(), e->getSubExpr());
    if (e->getOpcode() == clang::UO_AddrOf && !e->getSubExpr()->getType().isConstQualified() &&
        !e->getSubExpr()->getType()->isFunctionType())
      note(e->getOperatorLoc(), e->getSubExpr());
    return true;
  }
  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (!callee) return note_call_by_pointer(call);
    unsigned first = 0;
    const Expr* object = nullptr;
    if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(call)) {
      if (const auto* method = dyn_cast<clang::CXXMethodDecl>(callee)) {
        first = 1;
        object = op->getArg(0);
        note_object(op->getOperatorLoc(), method, object, false);
      }
    } else if (const auto* member = dyn_cast<clang::CXXMemberCallExpr>(call)) {
      if (const auto* method = member->getMethodDecl()) {
        object = member->getImplicitObjectArgument();
        note_object(member->getExprLoc(), method, object, object->getType()->isPointerType());
        note_resize(member->getExprLoc(), method, object);
      }
    }
    note_call(call->getBeginLoc(), callee);
    if (const auto* to = dyn_cast<clang::CXXConversionDecl>(callee)) callables_.note_typed(to->getParent());
    for (unsigned i = first; i < call->getNumArgs() && i - first < callee->getNumParams(); ++i)
      note_argument(callee, callee->getParamDecl(i - first), call->getArg(i));
    // Of what keeps callables.
    if (object && may_hold_callable(object->getType()))
      if (const auto to = callables_.of(object))
        for (unsigned i = first; i < call->getNumArgs(); ++i)
          callables_.flow(call->getArg(i)->getType(), call->getArg(i), *to);
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* e) {
    const clang::CXXConstructorDecl* callee = e->getConstructor();
    if (in_library(callee) && !is_library_object(e->getType())) return true;
    note_call(e->getBeginLoc(), callee);
    const clang::CXXRecordDecl* made = callee->getParent();
    if (made->getIdentifier() && may_hold_callable(e->getType()) && made->getName().ends_with("function"))
      for (const Expr* a : e->arguments()) callables_.note_typed(record_of(a->getType()));
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
  void add_reference(const clang::VarDecl* v, const std::vector<Place>& behind) {
    for (const Place& p : behind) {
      const clang::CXXRecordDecl* record = p.variable ? record_of(p.variable->getType()) : nullptr;
      if (p.whole || !record || !record->getIdentifier() || !in_namespace(record, "std")) continue;
      if (record->getName() == "vector" || record->getName() == "deque")
        facts_.references[source_.spot(v->getLocation())] = {v->getNameAsString(), p.declared};
    }
  }
  void note_resize(clang::SourceLocation at, const clang::CXXMethodDecl* method, const Expr* object) {
    static const std::set<llvm::StringRef> kNames = {
        "push_back", "emplace_back", "insert", "emplace",    "erase",     "clear",
        "resize",    "pop_back",     "assign", "push_front", "pop_front", "emplace_front"};
    if (!in_namespace(method, "std") || !method->getIdentifier() || !kNames.count(method->getName())) return;
    for (const Place& p : places_.of(object))
      facts_.resizes.push_back({source_.spot(at), p.declared, method->getName().str()});
  }
  bool note_call_by_pointer(const clang::CallExpr* call) {
    clang::QualType type = call->getCallee()->getType();
    if (type->isSpecificBuiltinType(clang::BuiltinType::BoundMember))
      type = Expr::findBoundMemberType(call->getCallee());
    else if (const clang::QualType pointee = type->getPointeeType(); !pointee.isNull()) type = pointee;
    const auto* f = type.isNull() ? nullptr : type->getAs<clang::FunctionProtoType>();
    if (!f) return true;
    for (unsigned i = 0; i < f->getNumParams() && i < call->getNumArgs(); ++i) {
      const clang::QualType to = f->getParamType(i);
      if (to->isLValueReferenceType() && !to->getPointeeType().isConstQualified())
        note(call->getArg(i)->getBeginLoc(), call->getArg(i));
      else if (const clang::QualType pointee = pointee_of(to);
               !pointee.isNull() && !pointee.isConstQualified() && holds_tensors(pointee))
        note(call->getArg(i)->getBeginLoc(), places_.behind(call->getArg(i)), {}, {});
    }
    const auto* member = dyn_cast<clang::BinaryOperator>(stripped(call->getCallee()));
    if (member && member->isPtrMemOp() && !f->isConst()) {
      if (member->getOpcode() == clang::BO_PtrMemD) note(call->getBeginLoc(), member->getLHS());
      else note(call->getBeginLoc(), places_.behind(member->getLHS()), {}, {});
    }
    return true;
  }
  void note_call(clang::SourceLocation at, const clang::FunctionDecl* callee) {
    const auto* method = dyn_cast<clang::CXXMethodDecl>(callee);
    if (method && method->getParent()->isLambda()) return;
    if (const clang::FunctionDecl* defined = visible_definition(source_, callee))
      if (const Range body = source_.range(defined->getBody()); body.valid())
        facts_.calls.push_back({source_.spot(at), body, false});
  }

  void note_return_type(const clang::FunctionDecl* f) {
    if (!f->hasBody() || !f->getBody() || !source_.users(f->getLocation())) return;
    const clang::QualType type = f->getReturnType();
    if (type.isNull() || type->isDependentType()) return;
    if (is_promotable_number(type) && has_tensors(f->getBody()))
      facts_.number_results.insert(source_.spot(f->getBody()->getBeginLoc()));
    std::string text = spelled(type, source_.context());
    if (!text.empty() || !type->isUndeducedType())
      facts_.return_types[source_.spot(f->getBody()->getBeginLoc())].insert(std::move(text));
  }

  void note(clang::SourceLocation at, const Expr* lvalue, std::optional<Range> method = {},
            std::optional<Spot> parameter = {}) {
    if (const auto* select = dyn_cast<clang::ConditionalOperator>(stripped(lvalue));
        select && select->isGLValue())
      add(facts_.assigned_selects, select);
    note(at, places_.of(lvalue), method, parameter);
  }
  void note(clang::SourceLocation at, std::vector<Place> places, std::optional<Range> method,
            std::optional<Spot> parameter) {
    if (!source_.users(at)) return;
    for (Place& p : places) {
      if (p.variable && !source_.users(p.variable->getLocation())) continue;  // std::cout
      if (has_no_value(p.changed)) continue;
      if (p.type.isConstQualified()) {
        if (!method) continue;
        p.root = Place::Root::kElsewhere;
        p.text = "a mutable member of '" + p.text + "'";
      }
      facts_.changes.push_back({source_.spot(at), std::move(p), method, parameter});
    }
  }
  void note_object(clang::SourceLocation at, const clang::CXXMethodDecl* method, const Expr* object,
                   bool pointer) {
    if (method->isStatic() || is_access(method)) return;
    if (llvm::isa<clang::CXXConversionDecl>(method)) return;
    const clang::CXXRecordDecl* owner = method->getParent();
    if (owner->isLambda()) return;  // by what it captures
    const auto op = method->getOverloadedOperator();
    const bool assigns = op == clang::OO_Equal || op == clang::OO_PlusPlus || op == clang::OO_MinusMinus ||
                         (op >= clang::OO_PlusEqual && op <= clang::OO_PipeEqual) ||
                         op == clang::OO_LessLessEqual || op == clang::OO_GreaterGreaterEqual;
    if (assigns && !method->isConst())
      return pointer ? note(at, places_.behind(object), {}, {}) : note(at, object);
    std::optional<Range> body;
    if (const clang::FunctionDecl* defined = visible_definition(source_, method))
      if (const Range r = source_.range(defined->getBody()); r.valid()) body = r;
    if (method->isConst() && !body) return;  // with a body: by members that are mutable
    const bool this_object = llvm::isa<clang::CXXThisExpr>(object->IgnoreParenImpCasts());
    const clang::QualType type = pointer ? object->getType()->getPointeeType() : object->getType();
    if (is_library_object(type) && (in_library(owner) || !body)) return;
    if (this_object) {
      if (body) facts_.calls.push_back({source_.spot(at), *body, true});
      return;
    }
    // What another file does to an object behind a pointer does not show here, unless that is made of
    // tensors.
    const auto* op_call = dyn_cast<clang::CXXOperatorCallExpr>(stripped(object));
    const bool behind = pointer || (op_call && !pointee_of(stripped(op_call->getArg(0))->getType()).isNull());
    if (behind && !body && !holds_tensors(type)) return;
    if (pointer) note(at, places_.behind(object), body, {});
    else note(at, object, body);
  }
  void note_argument(const clang::FunctionDecl* callee, const clang::ParmVarDecl* parameter,
                     const Expr* argument) {
    const clang::QualType type = parameter->getType();
    const bool users = source_.users(parameter->getLocation());
    if (users) callables_.flow(type, argument, source_.spot(parameter->getLocation()));
    if (const clang::QualType pointee = pointee_of(type); !pointee.isNull()) {
      if (pointee.isConstQualified() || !(holds_tensors(pointee) || record_of(pointee))) return;
      const auto* u = dyn_cast<clang::UnaryOperator>(stripped(argument));
      if (u && u->getOpcode() == clang::UO_AddrOf) return;  // noted by itself
      if (visible_definition(source_, callee))
        return note(argument->getBeginLoc(), places_.behind(argument), {},
                    source_.spot(parameter->getLocation()));
      if (in_library(callee) || !holds_tensors(pointee)) return;
      if (in_namespace(callee, "std") &&
          (llvm::isa<clang::CXXConstructorDecl>(callee) || !is_algorithm(callee)))
        return;
      return note(argument->getBeginLoc(), places_.behind(argument), {}, {});
    }
    if (!type->isLValueReferenceType() || type->getPointeeType().isConstQualified()) return;
    const clang::FunctionTemplateDecl* made_from = callee->getPrimaryTemplate();
    bool forwarding = false;
    if (made_from) {
      const clang::FunctionDecl* pattern = made_from->getTemplatedDecl();
      const unsigned i = parameter->getFunctionScopeIndex();
      clang::QualType written = pattern->getParamDecl(std::min(i, pattern->getNumParams() - 1))->getType();
      if (const auto* pack = written->getAs<clang::PackExpansionType>()) written = pack->getPattern();
      forwarding = written->isRValueReferenceType();
    }
    if (!forwarding) return note(argument->getBeginLoc(), argument);
    const bool std = in_namespace(callee, "std");
    const llvm::StringRef name = callee->getIdentifier() ? callee->getName() : "";
    if (std && (name == "move" || name == "forward")) return note(argument->getBeginLoc(), argument);
    if (users) return note(argument->getBeginLoc(), argument, {}, source_.spot(parameter->getLocation()));
    // What changes them is a function that is called with them.
    const bool copies = name.starts_with("make_") || name.starts_with("emplace") || name == "get";
    if (std && !copies && !llvm::isa<clang::CXXConstructorDecl>(callee) && !is_number(type) &&
        (holds_tensors(type) || in_namespace_std(type)))
      note(argument->getBeginLoc(), argument);
  }
  static bool in_namespace_std(clang::QualType type) {
    const clang::CXXRecordDecl* record = record_of(type);
    return record && in_namespace(record, "std") && !may_hold_callable(type);
  }
  // Not what makes an iterator of iterators.
  static bool is_algorithm(const clang::FunctionDecl* callee) {
    static const std::set<llvm::StringRef> kOthers = {
        "next",          "prev",       "distance",    "find",
        "find_if",       "advance",    "begin",       "end",
        "accumulate",    "reduce",     "all_of",      "any_of",
        "none_of",       "count",      "count_if",    "transform_reduce",
        "inner_product", "equal",      "max_element", "min_element",
        "lower_bound",   "upper_bound"};
    if (llvm::isa<clang::CXXMethodDecl>(callee)) return false;
    return !callee->getIdentifier() || !kOthers.count(callee->getName());
  }

  const Source& source_;
  Facts& facts_;
  Callables& callables_;
  Places places_;
  std::vector<Spot> functions_;  // around what is visited
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
  Callables callables(source, facts);
  Collector collector(source, facts, callables);
  for (clang::Decl* d : users_declarations(source)) collector.TraverseDecl(d);
  callables.resolve();
  return facts;
}

}  // namespace rw::autograph_tool
