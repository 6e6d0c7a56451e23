// Input: the size of the pieces, and a JSON text. A text is valid in pieces as in one, and as a
// parser that builds the whole says; what is found is what that has there.
#include "gateway/content/json_scanner.hpp"

#include "tests/fuzz/require.hpp"

#include <boost/json/parse.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace gateway;
using fuzz::require;
using kind = content::json_sink::kind;

struct findings final : content::json_sink {
    struct value {
        kind is;
        std::string text;

        bool operator==(const value&) const = default;
    };

    std::vector<std::pair<std::size_t, value>> all;
    content::path_set repeats = 0;

    void found(std::size_t path, kind is, std::string_view text) override
    {
        all.push_back({path, {is, std::string{text}}});
    }

    void repeated(content::path_set paths) override { repeats |= paths; }

    // The last value at a path, or null.
    const value* last(std::size_t path) const
    {
        const value* last = nullptr;
        for (const auto& [at, v] : all) {
            last = at == path ? &v : last;
        }
        return last;
    }
};

bool scan(const content::json_paths& paths, std::string_view text, std::size_t piece, findings& to)
{
    content::json_scanner scanner{paths, to};
    for (std::size_t at = 0; at < text.size(); at += piece) {
        scanner.read(text.substr(at, piece));
    }
    return scanner.finish();
}

// True if the member of the root has been found as it is.
bool is_found(const findings::value* found, const boost::json::value* member)
{
    if (found == nullptr || member == nullptr) {
        return (found == nullptr) == (member == nullptr);
    }
    if (const auto* const text = member->if_string()) {
        const bool is_long = text->size() > content::json_scanner::longest_text;
        return is_long ? found->is == kind::other
                       : found->is == kind::text &&
                             found->text == std::string_view{text->data(), text->size()};
    }
    if (member->is_bool()) {
        return found->is == kind::boolean && (found->text == "true") == member->get_bool();
    }
    if (member->is_number()) {
        return found->is == kind::integer || found->is == kind::large ||
               found->is == kind::inexact || found->is == kind::other;
    }
    return found->is == (member->is_null() ? kind::null : kind::other);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const content::json_paths paths = [] {
        content::json_paths all;
        for (const char* const path : {"a", "a.b", "a.0", "model"}) {
            all.add(path);
        }
        return all;
    }();
    if (size == 0) {
        return 0;
    }
    const std::string text(data + 1, data + size);
    findings whole;
    findings cut;
    const bool is_valid = scan(paths, text, text.size() + 1, whole);
    require(scan(paths, text, std::size_t{data[0]} % 16 + 1, cut) == is_valid);
    boost::json::error_code ec;
    const boost::json::value parsed = boost::json::parse({text.data(), text.size()}, ec);
    require(is_valid == !ec);
    if (!is_valid) {
        return 0;
    }
    require(whole.all == cut.all && whole.repeats == cut.repeats);
    if (const auto* const object = parsed.if_object(); object != nullptr && whole.repeats == 0) {
        require(is_found(whole.last(0), object->if_contains("a")));
        require(is_found(whole.last(3), object->if_contains("model")));
    }
    return 0;
}
