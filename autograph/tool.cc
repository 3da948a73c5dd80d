#include "tool.h"

#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Tooling/CompilationDatabase.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/raw_ostream.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "flags.h"
#include "print.h"
#include "rewriter.h"

namespace rw::autograph_tool {
namespace {

struct Outcome {
  bool parsed = false, knows_tensors = false, ok = false, changed = false;
  std::string text;
  std::vector<HeaderCopy> headers;
  std::vector<std::string> names;  // of the functions that can be shown
  std::vector<std::string> dependencies;
};

std::string absolute(const std::string& file) {
  llvm::SmallString<256> path(file);
  llvm::sys::fs::make_absolute(path);
  return std::string(path);
}

bool knows_tensors(clang::ASTContext& context) {
  auto* space = context.getTranslationUnitDecl();
  for (clang::NamedDecl* d : space->lookup(&context.Idents.get("rw")))
    if (auto* n = llvm::dyn_cast<clang::NamespaceDecl>(d))
      if (!n->lookup(&context.Idents.get("Tensor")).empty()) return true;
  return false;
}

class Consumer : public clang::ASTConsumer {
 public:
  Consumer(const Job& job, Outcome& outcome, clang::CompilerInstance& compiler)
      : job_(job), outcome_(outcome), compiler_(compiler) {
    compiler.getPreprocessor().addPPCallbacks(collect_directives(compiler.getSourceManager(), directives_));
  }

  // Bodies of the system's functions and of Rewind's are nobody's here.
  bool shouldSkipFunctionBody(clang::Decl* d) override {
    const clang::SourceManager& manager = compiler_.getSourceManager();
    const clang::FileID file = manager.getFileID(manager.getFileLoc(d->getLocation()));
    const auto found = users_.find(file);
    if (found != users_.end()) return !found->second;
    return !(users_[file] = is_users_file(manager, file));
  }

  void HandleTranslationUnit(clang::ASTContext& context) override {
    outcome_.knows_tensors = knows_tensors(context);
    for (auto it = context.getSourceManager().fileinfo_begin();
         it != context.getSourceManager().fileinfo_end(); ++it) {
      // Without ".." behind links, which builders resolve by text.
      llvm::SmallString<256> path;
      if (!llvm::sys::fs::real_path(it->first.getName(), path))
        outcome_.dependencies.emplace_back(path.str());
    }
    if (context.getDiagnostics().hasErrorOccurred()) return;
    outcome_.parsed = true;
    if (!outcome_.knows_tensors) {
      outcome_.ok = true;
      return;
    }
    Rewriter rewriter(context);
    outcome_.ok = rewriter.run();
    if (job_.print) return show(rewriter);
    if (outcome_.ok && !job_.output.empty()) {
      outcome_.headers = rewriter.copy_headers(directives_, absolute(job_.output) + ".headers");
      outcome_.ok = rewriter.ok();
    }
    const auto edits = rewriter.edits().find(context.getSourceManager().getMainFileID());
    if (edits == rewriter.edits().end()) return;
    outcome_.changed = true;
    outcome_.text = edits->second.apply(rewriter.source().buffer(edits->first));
  }

 private:
  // Those that were asked for, or all that are another's code now; lambdas inside with what is around them.
  void show(const Rewriter& rewriter) {
    const std::vector<Function>& functions = rewriter.functions();
    const Printer printer(rewriter.source(), functions, rewriter.edits());
    for (size_t i = 0; i < functions.size(); ++i) {
      const std::string name = printer.name(functions[i]);
      if (name.empty()) continue;
      outcome_.names.push_back(name);
      bool wanted = name == job_.function || name.ends_with("::" + job_.function);
      if (job_.function.empty()) {
        wanted = false;
        if (functions[i].outermost == i)
          for (size_t k = i; k < functions.size() && functions[k].outermost == i; ++k)
            wanted |= rewriter.converted(k);
      }
      if (!wanted) continue;
      outcome_.text += (outcome_.text.empty() ? "" : "\n") + printer.code(functions[i]);
    }
  }

  const Job& job_;
  Outcome& outcome_;
  clang::CompilerInstance& compiler_;
  Directives directives_;
  std::map<clang::FileID, bool> users_;
};

class Action : public clang::ASTFrontendAction {
 public:
  Action(const Job& job, Outcome& outcome) : job_(job), outcome_(outcome) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef) override {
    compiler.getFrontendOpts().SkipFunctionBodies = true;
    return std::make_unique<Consumer>(job_, outcome_, compiler);
  }

 private:
  const Job& job_;
  Outcome& outcome_;
};

std::string read(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool write(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out) return true;
  std::cerr << file << ": error: cannot be written\n";
  return false;
}

void write_depfile(const Job& job, const Outcome& outcome) {
  std::string text = job.output + ":";
  for (const std::string& d : outcome.dependencies) {
    text += " \\\n  ";
    for (const char c : d) {
      if (c == ' ' || c == '#') text += '\\';
      if (c == '$') text += '$';
      text += c;
    }
  }
  write(job.depfile, text + "\n");
}

int print(const Job& job, const Outcome& outcome) {
  std::cout << outcome.text;
  if (!outcome.text.empty()) return 0;
  if (job.function.empty()) {
    std::cerr << job.file << ": no control flow depends on tensors: the file stays as it is\n";
    return 0;
  }
  std::cerr << job.file << ": error: no function '" << job.function << "'; there are";
  for (const std::string& name : outcome.names)
    std::cerr << (&name == outcome.names.data() ? " " : ", ") << name;
  std::cerr << (outcome.names.empty() ? " none that can be rewritten\n" : "\n");
  return 1;
}

std::string resources() {
  static const char kAnchor = 0;
  (void)kAnchor;
  return REWIND_CLANG_RESOURCES;
}

}  // namespace

int run_job(const Job& job) {
  std::vector<std::string> command = adapt_flags(job.command);
  std::vector<std::string> extra{"-fsyntax-only", "-w", "-resource-dir=" + resources(), "-ferror-limit=20"};
  command.insert(command.begin() + 1, extra.begin(), extra.end());
  command.push_back(job.file);
  Outcome outcome;
  llvm::IntrusiveRefCntPtr<clang::FileManager> files(
      new clang::FileManager(clang::FileSystemOptions{job.directory}));
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  const llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> options(new clang::DiagnosticOptions);
  clang::TextDiagnosticPrinter printer(stream, options.get());
  clang::tooling::ToolInvocation invocation(command, std::make_unique<Action>(job, outcome), files.get());
  invocation.setDiagnosticConsumer(&printer);
  invocation.run();
  stream.flush();
  if (outcome.parsed ? !outcome.ok : outcome.knows_tensors) {
    std::cerr << messages;
    return outcome.parsed ? 1 : 3;
  }
  if (job.print) return print(job, outcome);
  const std::string source =
      std::string(llvm::sys::path::is_absolute(job.file) ? job.file : job.directory + "/" + job.file);
  std::string text = outcome.changed ? outcome.text : read(source);
  if (outcome.changed || job.always_line) text = line_directive(job.file) + text;
  for (const HeaderCopy& h : outcome.headers) {
    llvm::sys::fs::create_directories(llvm::sys::path::parent_path(h.output));
    if (!write(h.output, h.text)) return 1;
  }
  if (!job.depfile.empty()) write_depfile(job, outcome);
  if (job.output.empty()) {
    std::cout << text;
    return 0;
  }
  return write(job.output, text) ? 0 : 1;
}

}  // namespace rw::autograph_tool
