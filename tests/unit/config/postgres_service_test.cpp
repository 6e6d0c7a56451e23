#include "config/urls/postgres_service.hpp"

#include "config/urls/postgres_url.hpp"
#include "tests/unit/own_folder.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace gateway::config {
namespace postgres_service_test {

using parameters = std::map<std::string, std::string>;

class postgres_services : public ::testing::Test {
protected:
    const unit::own_folder files;
    const std::filesystem::path& folder = files.path();

    std::string file(const std::string& name, const std::string& text) const
    {
        std::ofstream{folder / name} << text;
        return (folder / name).string();
    }
};

TEST_F(postgres_services, are_what_stands_below_their_name)
{
    const std::string one = file(
        "one",
        "# ours\n[other]\nhost=o\n\n[limits]\n host=h \r\n  # a "
        "line\nport=7\npassword=a=b\nhost=x\n"
        "[last]\nhost=l\n"
    );
    const auto read = read_postgres_service("limits", {one});
    EXPECT_EQ(read.complaint, "");
    EXPECT_EQ(read.parameters, (parameters{{"host", "h"}, {"port", "7"}, {"password", "a=b"}}));
    EXPECT_EQ(read_postgres_service("last", {one}).parameters, (parameters{{"host", "l"}}));
}

TEST_F(postgres_services, are_those_of_the_first_file_that_has_them)
{
    const std::string one = file("one", "[a]\nhost=1\n");
    const std::string two = file("two", "[a]\nhost=2\n[b]\n");
    const std::vector<std::string> both{one, (folder / "none").string(), two};
    EXPECT_EQ(read_postgres_service("a", both).parameters, (parameters{{"host", "1"}}));
    EXPECT_EQ(read_postgres_service("b", both).complaint, "");
    EXPECT_EQ(
        read_postgres_service("c", {one, two}).complaint,
        "no service \"c\" in " + one + " and " + two
    );
}

TEST_F(postgres_services, that_cannot_be_read_are_complained_of)
{
    const std::string bad = file("bad", "[a]\nhost=1\nnonsense\n[b]\nservice=a\n");
    EXPECT_EQ(read_postgres_service("a", {bad}).complaint, bad + ":3: expected parameter=value");
    EXPECT_EQ(
        read_postgres_service("b", {bad}).complaint, bad + ":5: a service cannot name another"
    );
    EXPECT_EQ(
        read_postgres_service("b", {folder.string()}).complaint,
        folder.string() + " cannot be read: it is no regular file"
    );
}

TEST_F(postgres_services, say_what_a_url_does_not)
{
    const std::string one = file("one", "[a]\nhost=h1,h2\ndbname=d\npassword=p\n[b]\nnonsense=1\n");
    ASSERT_EQ(::setenv("PGSERVICEFILE", one.c_str(), 1), 0);
    const auto read = parse_postgres_url("postgresql://u@/other?service=a");
    const auto bad = parse_postgres_url("postgresql:///?service=b");
    ASSERT_EQ(::unsetenv("PGSERVICEFILE"), 0);
    ASSERT_TRUE(read.value) << read.complaint;
    EXPECT_EQ(url_without_secret(*read.value), "postgresql://u:***@h1:5432,h2:5432/other");
    EXPECT_EQ(bad.complaint, "service \"b\": unknown parameter nonsense");
}

}  // namespace postgres_service_test
}  // namespace gateway::config
