#include "gateway/policy/paths/path_case.hpp"

#include "gateway/base/text.hpp"

#include <algorithm>
#include <array>

namespace gateway::policy {

namespace {

struct folding {
    std::string_view from;
    std::string_view to;
};

// Characters beyond ASCII that case mappings turn into ASCII letters only (Unicode's
// CaseFolding.txt and SpecialCasing.txt, and the dotless i, whose capital is "I").
constexpr std::array<folding, 13> to_ascii{{
    {"\xc3\x9f", "ss"},
    {"\xc4\xb0", "i"},
    {"\xc4\xb1", "i"},
    {"\xc5\xbf", "s"},
    {"\xe1\xba\x9e", "ss"},
    {"\xe2\x84\xaa", "k"},
    {"\xef\xac\x80", "ff"},
    {"\xef\xac\x81", "fi"},
    {"\xef\xac\x82", "fl"},
    {"\xef\xac\x83", "ffi"},
    {"\xef\xac\x84", "ffl"},
    {"\xef\xac\x85", "st"},
    {"\xef\xac\x86", "st"},
}};

// Returns the folding of the character that the text begins with, or null if it has none.
const folding* find_folding(std::string_view text)
{
    if (static_cast<unsigned char>(text.front()) < 0x80) {
        return nullptr;
    }
    const auto found = std::find_if(to_ascii.begin(), to_ascii.end(), [text](const folding& f) {
        return text.starts_with(f.from);
    });
    return found == to_ascii.end() ? nullptr : &*found;
}

}  // namespace

std::string_view fold_case(std::string_view path, std::span<char> room)
{
    std::size_t size = 0;
    while (!path.empty() && size < room.size()) {
        if (const folding* const f = find_folding(path)) {
            path.remove_prefix(f->from.size());
            for (const char c : f->to.substr(0, room.size() - size)) {
                room[size++] = c;
            }
        } else {
            room[size++] = base::to_lower(path.front());
            path.remove_prefix(1);
        }
    }
    return {room.data(), size};
}

std::string folded_case(std::string_view path)
{
    std::string text{path};
    text.resize(fold_case(text, text).size());
    return text;
}

}  // namespace gateway::policy
