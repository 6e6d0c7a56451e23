// `surrogate_escapes` replaces the escapes of surrogates in a JSON text, such as `\ud83d`, by those
// of characters for private use, such as `\ue83d`, as the bytes of the text arrive. A surrogate
// without its other half would end the reading of a text (RFC 8259 §8.2 leaves that open).
// Characters from U+D000 on are replaced as well. Names of visible ASCII characters are what they
// were, and no others become such.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::content {

class surrogate_escapes {
public:
    // Returns as many bytes, with what these have of such escapes replaced, even if one began in
    // the bytes before. Ownership: valid during the life of `bytes`, and until the next call.
    std::string_view replaced_in(std::string_view bytes);

private:
    enum class position : std::uint8_t { text, behind_backslash, behind_u };

    position at_ = position::text;
    std::string copy_;

    void replace_first_digit(std::string_view bytes, std::size_t i, bool& is_copied);
};

}  // namespace gateway::content
