// The reference tables of docs/configuration.md are what the keys are described as.
#include "config/sections.hpp"
#include "tests/unit/config/sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

namespace gateway::config {
namespace reference_test {

using rows = std::vector<std::string>;

// A row for each key that is told.
class tabling final : public keys {
public:
    explicit tabling(rows& all) : all_(all) {}

    std::uint64_t take(const key& k, const scalar& s) override
    {
        std::string range;
        for (const std::string_view name : s.names) {
            range += (range.empty() ? "" : ", ") + code(name);
        }
        if (s.is != scalar::kind::flag && s.is != scalar::kind::word) {
            range = text_of(s, s.within.min) + " to " + text_of(s, s.within.max);
        }
        row(k, code(text_of(s, s.value)), range);
        return s.value;
    }

    void other(const key& k, const form& f) override
    {
        row(k, f.documented.standard, f.documented.range);
        if (f.inner) {
            f.inner(*this);
        }
    }

    void mapping(const key& k, const describe_keys& describe, bool is_set) override
    {
        row(k, is_set ? "" : "none", "");
        describe(*this);
    }

    void line(const key& k, const line_form& f) override
    {
        row(k, f.documented.standard, f.documented.range);
    }

    void each(const key& k, const collection& c) override
    {
        row(k, c.documented.standard, c.documented.range);
        if (c.describe_first) {
            mapping(c.first, c.describe_first, true);
        }
        c.describe(c.size(), *this);
    }

private:
    rows& all_;

    static std::string code(std::string_view text) { return '`' + std::string{text} + '`'; }

    void row(const key& k, std::string_view standard, std::string_view range)
    {
        if (k.meaning.empty()) {
            return;  // a heading tells it
        }
        const std::string name = code(k.name);
        std::string text = "|";
        for (const std::string_view cell : {std::string_view{name}, standard, range, k.meaning}) {
            text.append(" ").append(cell).append(cell.empty() ? "|" : " |");
        }
        all_.push_back(text);
    }
};

rows rows_described()
{
    rows all;
    draft every_default;
    tabling table{all};
    describe(table, every_default);
    return all;
}

// The rows of the tables that have these columns.
rows rows_documented()
{
    std::istringstream text{
        contents_of(std::filesystem::path{SOURCE_DIR} / "docs" / "configuration.md")};
    rows all;
    bool inside = false;
    for (std::string line; std::getline(text, line);) {
        inside = line == "| key | default | range | meaning |" || (inside && line.starts_with('|'));
        if (inside && line.starts_with("| `")) {
            all.push_back(line);
        }
    }
    return all;
}

TEST(reference, has_a_row_for_each_key_and_no_other)
{
    rows described = rows_described();
    rows documented = rows_documented();
    EXPECT_GE(described.size(), 90U);
    std::sort(described.begin(), described.end());
    std::sort(documented.begin(), documented.end());
    rows missing;
    std::set_difference(
        described.begin(),
        described.end(),
        documented.begin(),
        documented.end(),
        std::back_inserter(missing)
    );
    rows wrong;
    std::set_difference(
        documented.begin(),
        documented.end(),
        described.begin(),
        described.end(),
        std::back_inserter(wrong)
    );
    EXPECT_EQ(missing, rows{}) << "write these into docs/configuration.md";
    EXPECT_EQ(wrong, rows{}) << "and take these out";
}

}  // namespace reference_test
}  // namespace gateway::config
