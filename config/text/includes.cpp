#include "config/text/includes.hpp"

#include "config/text/text_file.hpp"

#include <algorithm>
#include <glob.h>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <utility>

namespace gateway::config {
namespace {

constexpr std::string_view include_key = "include";

std::string folder_of(const std::string& file)
{
    return file.substr(0, file.rfind('/') + 1);
}

bool is_pattern(std::string_view text)
{
    return text.find_first_of("*?[") != std::string_view::npos;
}

// Returns a pattern that matches nothing but the text.
std::string literally(const std::string& text)
{
    std::string pattern;
    for (const char c : text) {
        pattern.append(std::string_view{"*?[\\"}.find(c) != std::string_view::npos ? "\\" : "");
        pattern += c;
    }
    return pattern;
}

// Returns the files in the order of their names. Nothing: a folder cannot be read.
std::optional<std::vector<std::string>> files_of(const std::string& pattern)
{
    glob_t matches{};
    const int result = ::glob(pattern.c_str(), GLOB_ERR, nullptr, &matches);
    std::vector<std::string> files;
    if (result == 0) {
        files.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
    }
    ::globfree(&matches);
    return result == 0 || result == GLOB_NOMATCH ? std::optional{files} : std::nullopt;
}

// Merges the lists or mappings that both have under one key. Other keys that both have are left to
// the reader, which complains of a duplicate.
void merge(node& into, node from)
{
    for (entry& e : from.entries) {
        const auto same = std::find_if(into.entries.begin(), into.entries.end(), [&](entry& other) {
            return other.key.text == e.key.text && other.value.is == e.value.is &&
                   (e.value.is == node::kind::list || e.value.is == node::kind::mapping);
        });
        if (e.key.text == include_key) {
            continue;
        }
        if (same == into.entries.end()) {
            into.entries.push_back(std::move(e));
            continue;
        }
        std::move(
            e.value.items.begin(), e.value.items.end(), std::back_inserter(same->value.items)
        );
        std::move(
            e.value.entries.begin(), e.value.entries.end(), std::back_inserter(same->value.entries)
        );
    }
}

class includer {
public:
    explicit includer(findings& found) : found_(found) {}

    node read(std::string_view yaml, const std::string& name, std::size_t depth)
    {
        node root = parse_document(yaml, name, found_.add_file(name));
        left_ -= yaml.size();
        if (root.is == node::kind::nothing) {
            return without_entries(name, depth);
        }
        if (root.is != node::kind::mapping) {
            if (depth > 0) {
                found_.problem(
                    root.at, {}, "expected a mapping, got " + std::string(name_of(root.is))
                );
            }
            return root;
        }
        const auto own = std::find_if(root.entries.begin(), root.entries.end(), [](const entry& e) {
            return e.key.text == include_key;
        });
        if (own != root.entries.end() && own->value.is == node::kind::list) {
            const std::vector<node> wanted = own->value.items;
            for (const node& one : wanted) {
                add_files(one, name, depth, root);
            }
        } else if (own != root.entries.end()) {
            complain(
                own->value.at,
                "expected a list of files, got " + std::string(name_of(own->value.is))
            );
        }
        return root;
    }

    // Notes the configuration itself, so that nobody includes it.
    void note(const std::string& name) { is_new(name); }

private:
    findings& found_;
    std::set<std::pair<dev_t, ino_t>> seen_;
    std::size_t left_ = max_file_bytes;
    std::size_t count_ = 0;

    void complain(place at, std::string message)
    {
        found_.problem(at, std::string(include_key), std::move(message));
    }

    // Returns the tree of a file with nothing but comments, which only an included file may be.
    static node without_entries(const std::string& name, std::size_t depth)
    {
        if (depth == 0) {
            throw config_error{name, {{{}, {}, "the file is empty"}}};
        }
        node empty;
        empty.is = node::kind::mapping;
        return empty;
    }

    bool is_new(const std::string& file)
    {
        struct stat status {};

        return ::stat(file.c_str(), &status) != 0 ||
               seen_.emplace(status.st_dev, status.st_ino).second;
    }

    void add_files(const node& wanted, const std::string& by, std::size_t depth, node& root)
    {
        if (wanted.is != node::kind::scalar || wanted.text.empty()) {
            complain(wanted.at, "expected the path of a file, or a pattern such as conf.d/*.yaml");
            return;
        }
        if (depth == max_include_depth) {
            complain(wanted.at, "files include each other more than 8 levels deep");
            return;
        }
        const std::string folder = wanted.text.starts_with('/') ? "" : folder_of(by);
        if (!is_pattern(wanted.text)) {
            add_file(wanted, folder + wanted.text, depth, root);
            return;
        }
        if (is_pattern(folder_of(wanted.text))) {
            complain(wanted.at, "a pattern is of the names in one folder: conf.d/*.yaml");
            return;
        }
        const auto files = files_of(literally(folder) + wanted.text);
        if (!files) {
            complain(wanted.at, "the folder of " + quote(folder + wanted.text) + " cannot be read");
            return;
        }
        for (const std::string& file : *files) {
            add_file(wanted, file, depth, root);
        }
    }

    void add_file(const node& wanted, const std::string& file, std::size_t depth, node& root)
    {
        if (count_ == max_included_files) {
            complain(wanted.at, "more than 1000 files");
            return;
        }
        ++count_;
        if (!is_new(file)) {
            complain(wanted.at, quote(file) + " is read already");
            return;
        }
        const text_file read_file = read_text_file(file, left_);
        if (read_file.text.size() > left_) {
            complain(wanted.at, "with " + quote(file) + ", larger than the maximum of 16MiB");
        } else if (!read_file.complaint.empty()) {
            complain(wanted.at, quote(file) + ' ' + read_file.complaint);
        } else {
            merge(root, read(read_file.text, file, depth + 1));
        }
    }
};

}  // namespace

node read_document(std::string_view yaml, std::string_view file_name, findings& found)
{
    includer all{found};
    const std::string name{file_name};
    all.note(name);
    return all.read(yaml, name, 0);
}

}  // namespace gateway::config
