#include "gateway/migrate_command.hpp"

#include "gateway/cli.hpp"
#include "gateway/store/kinds.hpp"

#include <ostream>

namespace gateway {

int migrate(const config::settings& settings, std::ostream& out, std::ostream& err)
{
    int status = cli::done;
    for (const config::shared_store& s : settings.shared_stores) {
        const std::string complaint = store::prepare(s.options);
        if (complaint.empty()) {
            out << "stores." << s.name << ": ready\n";
        } else {
            err << "stores." << s.name << ": " << complaint << '\n';
            status = cli::failed_while_running;
        }
    }
    return status;
}

}  // namespace gateway
