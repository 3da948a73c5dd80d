// rewind: looks at, runs, checks, measures and converts the files of models.
#include <cstdio>

#include "cli/command.h"
#include "rewind/base/error.h"

#ifndef REWIND_VERSION
#define REWIND_VERSION "0.1.0"
#endif

int main(int argc, char** argv) {
  using namespace rw::cli;
  Context context;
  CLI::App app{"Looks at, runs, checks, measures and converts the files of models.", "rewind"};
  app.require_subcommand(1);
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
  } catch (const CLI::ParseError& e) { return app.exit(e) == 0 ? 0 : 2; } catch (const std::exception& e) {
    std::fprintf(stderr, "rewind: %s\n", e.what());
    return 1;
  }
}
