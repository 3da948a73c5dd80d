// rewind: looks at, runs, checks, measures and converts the files of models.
#include <cstdio>

#include "cli/command.h"
#include "rewind/base/error.h"

#ifndef REWIND_VERSION
#define REWIND_VERSION "0.1.0"
#endif

namespace {

// A word where a command should stand.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  std::string path = "rewind";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with('-')) continue;
    const auto commands = at->get_subcommands([](const CLI::App*) { return true; });
    if (commands.empty()) return {};
    const CLI::App* next = nullptr;
    std::string names;
    for (const CLI::App* command : commands) {
      names += (names.empty() ? "" : ", ") + command->get_name();
      if (command->get_name() == word) next = command;
    }
    if (!next) return "unknown command \"" + path + " " + word + "\"; there are: " + names;
    at = next;
    path += " " + word;
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  using namespace rw::cli;
  Context context;
  CLI::App app{"Looks at, runs, checks, measures and converts the files of models.", "rewind"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "rewind " REWIND_VERSION);
  app.fallthrough();
  app.add_flag("--json", context.json, "Results as one JSON value");
  app.footer("Exit codes: 0 all went well, 1 the model or the file is at fault, 2 wrong usage.");
  add_saved_model(app, context);
  add_checkpoint(app, context);
  add_graph(app, context);
  add_convert(app, context);
  add_bench(app, context);
  app.add_subcommand("version", "The version of this program")->callback([&] {
    if (!context.json) return print(std::string("rewind " REWIND_VERSION "\n"));
    rw::format::Json version = rw::format::Json::object();
    version["version"] = REWIND_VERSION;
    print(version);
  });
  try {
    app.parse(argc, argv);
    return context.status;
  } catch (const CLI::ParseError& e) {
    const std::string unknown = e.get_exit_code() != 0 ? unknown_command(app, argc, argv) : "";
    if (unknown.empty()) return app.exit(e) == 0 ? 0 : 2;
    std::fprintf(stderr, "rewind: %s\n", unknown.c_str());
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "rewind: %s\n", e.what());
    return 1;
  }
}
