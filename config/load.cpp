#include "config/load.hpp"

#include "config/check.hpp"
#include "config/keys/draft.hpp"
#include "config/sections.hpp"
#include "config/text/includes.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace gateway::config {
namespace {

struct close_file {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void cannot_read(const std::string& path)
{
    const std::string reason = std::generic_category().message(errno);
    throw config_error{std::string{shown_name(path)}, {{{}, {}, "cannot be read: " + reason}}};
}

// Reads at most one byte more than is allowed, which is enough to see that the file is too large.
std::string contents_of(std::FILE& file, const std::string& path)
{
    std::string text(max_file_bytes + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), &file));
    if (std::ferror(&file) != 0) {
        cannot_read(path);
    }
    return text;
}

std::string contents(const std::string& path)
{
    if (is_standard_input(path)) {
        return contents_of(*stdin, path);
    }
    const std::unique_ptr<std::FILE, close_file> file{std::fopen(path.c_str(), "rb")};
    if (!file) {
        cannot_read(path);
    }
    return contents_of(*file, path);
}

settings finished(draft d, const findings& found)
{
    for (const problem& warning : found.warnings()) {
        d.result.warnings.push_back(
            to_text(warning, found.files()[static_cast<std::size_t>(warning.at.file)])
        );
    }
    if (d.running != nullptr) {
        d.policy.note_former_secrets(*d.running->policy);
    }
    d.policy.finish();
    d.result.policy = std::make_shared<const policy::policy>(std::move(d.policy));
    return std::move(d.result);
}

}  // namespace

std::string beside(const draft& d, const std::string& file)
{
    const std::size_t folder = d.file_name.rfind('/') + 1;
    return file.starts_with('/') ? file : d.file_name.substr(0, folder) + file;
}

void describe(keys& root, draft& d)
{
    describe_process(root, d);
    describe_http(root, d);
    describe_http2(root, d);
    describe_client(root, d);
    describe_jwt(root, d);
    describe_stores(root, d);
    describe_plans(root, d);
    describe_limits(root, d);
    describe_upstreams(root, d);
    describe_routes(root, d);
    describe_rate_limit_services(root, d);
    describe_response_headers(root, d);
    describe_log(root, d);
    describe_tracing(root, d);
}

settings load_text(std::string_view yaml, std::string_view file_name, const settings* running)
{
    findings found;
    const node document = read_document(yaml, file_name, found);
    found.secrets().read_beside(file_name);
    draft d;
    d.file_name = file_name;
    d.running = running;
    read_mapping({&document, {}}, found, [&d](keys& root) { describe(root, d); });
    check(d, found);
    if (!found.ok()) {
        throw config_error{found.files(), found.problems()};
    }
    d.result.secret_paths = found.secrets().paths();
    return finished(std::move(d), found);
}

settings load_file(const std::string& path, const settings* running)
{
    if (running != nullptr && is_standard_input(path)) {
        throw config_error{std::string{shown_name(path)}, {{{}, {}, std::string{not_read_again}}}};
    }
    return load_text(contents(path), shown_name(path), running);
}

}  // namespace gateway::config
