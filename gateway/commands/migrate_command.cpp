#include "gateway/commands/commands.hpp"
#include "gateway/store/kinds.hpp"

#include <string>

namespace gateway {

int migrate(const config::settings& settings, std::ostream& out, std::ostream& err)
{
    int status = cli::done;
    for (const store::named_store& s : settings.shared_stores) {
        const store::preparation made = store::prepare(s.options);
        const std::string name = "stores." + s.name + ": ";
        if (!made.warning.empty()) {
            err << "warning: " << name << made.warning << '\n';
        }
        if (!made.complaint.empty()) {
            err << name << made.complaint << '\n';
            status = cli::failed_while_running;
        } else {
            out << name << (made.needed ? "ready\n" : "nothing to install\n");
        }
    }
    return status;
}

int print_migration(const config::settings& settings, std::ostream& out, std::ostream& err)
{
    bool any = false;
    for (const store::named_store& s : settings.shared_stores) {
        const std::string script = store::preparation_script(s.options);
        if (!script.empty()) {
            out << "-- stores." << s.name << "\nBEGIN;\n" << script << "COMMIT;\n";
            any = true;
        }
    }
    if (!any) {
        err << "no store needs anything installed\n";
    }
    return cli::done;
}

}  // namespace gateway
