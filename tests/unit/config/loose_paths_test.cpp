// Warnings of exact paths that servers read in other spellings, too.
#include "tests/unit/config/complaints.hpp"

namespace gateway::config {
namespace loose_paths_test {

using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;

// Returns the warnings of a file with these routes, without their positions.
std::vector<std::string> warned_of(const std::vector<std::string>& routes)
{
    sample s;
    s.limits = "limits:\n  a: { key: client_ip, rate: 10/s }\n  b: { key: [], rate: 10/s }\n";
    s.routes = "routes:\n  - { match: { host: used }, limits: [a, b], upstream: u }\n";
    for (const std::string& route : routes) {
        s.routes += "  - { " + route + " }\n";
    }
    std::vector<std::string> all;
    for (const std::string& warning : s.load().warnings) {
        all.push_back(warning.substr(warning.find("routes[")));
    }
    return all;
}

const std::string rest = "upstream: u";

TEST(loose_paths, another_case_without_a_limit_is_warned_of)
{
    EXPECT_THAT(
        warned_of({"match: { path_exact: /login, methods: [POST] }, limits: [a], upstream: u", rest}
        ),
        ElementsAre(
            "routes[1].match.path_exact: \"/LOGIN\" is the same to many servers, and goes to the "
            "route \"/\" without the limit \"a\": set \"ignore_case: true\""
        )
    );
    EXPECT_EQ(
        warned_of({"match: { path_exact: /a }, limits: [a, b], upstream: u",
                   "limits: [a], upstream: u"})
            .size(),
        1U
    ) << "one of two limits";
    EXPECT_EQ(
        warned_of({"match: { host: '*.h', path_exact: /a }, limits: [a], upstream: u",
                   "match: { host: '*.h' }, upstream: u"})
            .size(),
        1U
    );
    EXPECT_EQ(
        warned_of({"match: { scheme: https, headers: { x: y }, path_exact: /a }, limits: "
                   "[a], upstream: u",
                   rest})
            .size(),
        1U
    );
    EXPECT_EQ(
        warned_of({"match: { path_exact: /a }, limits: [a], upstream: u",
                   "match: { methods: [PUT] }, upstream: u"})
            .size(),
        1U
    );
}

TEST(loose_paths, whose_spellings_have_the_limits_are_well)
{
    const std::string limited = "limits: [a], upstream: u";
    EXPECT_THAT(
        warned_of({"match: { path_exact: /a, ignore_case: true }, " + limited, rest}), IsEmpty()
    );
    EXPECT_THAT(
        warned_of({"match: { path_exact: /a }, " + limited, "limits: [b, a], upstream: u"}),
        IsEmpty()
    );
    EXPECT_THAT(warned_of({"match: { path_exact: /a }, " + limited}), IsEmpty()) << "404";
    EXPECT_THAT(
        warned_of({"match: { path_exact: /a }, " + limited, "respond: { status: 404 }"}), IsEmpty()
    );
    EXPECT_THAT(warned_of({"match: { path_exact: /1.2/ }, " + limited, rest}), IsEmpty())
        << "no letters";
    EXPECT_THAT(warned_of({"match: { path_exact: / }, " + limited, rest}), IsEmpty());
    EXPECT_THAT(warned_of({"match: { path_exact: /a }, upstream: u", rest}), IsEmpty())
        << "no limits";
    EXPECT_THAT(warned_of({"match: { path: /a }, " + limited, rest}), IsEmpty()) << "not exact";
    EXPECT_THAT(
        warned_of(
            {"match: { path_exact: /a, methods: [POST] }, " + limited,
             "match: { methods: [GET] }, upstream: u"}
        ),
        IsEmpty()
    ) << "another method";
    EXPECT_THAT(
        warned_of(
            {"match: { host: h, path_exact: /a }, " + limited, "match: { host: i }, upstream: u"}
        ),
        IsEmpty()
    ) << "another host";
}

// Each list ends with a route that lacks the limit, and holds routes that take the usual spelling.
TEST(loose_paths, a_spelling_that_other_routes_leave_is_warned_of)
{
    const std::string limited = ", limits: [a], upstream: u";
    for (const auto& [routes, spelling] :
         {std::pair<std::vector<std::string>, std::string>{
              {"match: { path_exact: /login }" + limited,
               "match: { path_exact: /LOGIN }" + limited},
              "\"/Login\""},
          {{"match: { path_exact: /api/login }" + limited, "match: { path: /API }" + limited},
           "\"/Api/login\""},
          {{"match: { path_exact: /Api/login }" + limited,
            "match: { path: /api }, upstream: u",
            "match: { path: / }" + limited},
           "\"/api/login\""},
          {{"match: { path_exact: /login, ignore_case: true }" + limited,
            "match: { path_exact: /LOGIN/ }, upstream: u"},
           "\"/LOGIN/\""}}) {
        std::vector<std::string> all = routes;
        all.push_back(rest);
        const auto said = warned_of(all);
        EXPECT_THAT(said, testing::Contains(testing::HasSubstr(spelling))) << routes[0];
    }
}

TEST(loose_paths, no_advice_is_given_that_cannot_be_followed)
{
    EXPECT_THAT(
        warned_of({"match: { path_exact: /caf%C3%A9 }, limits: [a], upstream: u", rest}),
        Each(EndsWith("give both the same limits"))
    );
    EXPECT_THAT(
        warned_of(
            {"match: { path_exact: /login, ignore_case: true }, limits: [a], upstream: u",
             "match: { path_exact: /LOGIN }, upstream: u"}
        ),
        Each(EndsWith("give both the same limits"))
    );
}

TEST(loose_paths, the_other_ending_without_a_limit_is_warned_of)
{
    for (const std::string path : {"/a", "/a/"}) {
        const std::string other = path == "/a" ? "/a/" : "/a";
        EXPECT_THAT(
            warned_of(
                {"match: { path_exact: " + path + ", ignore_case: true }, limits: [a], upstream: u",
                 "match: { path_exact: " + other + ", ignore_case: true }, upstream: u"}
            ),
            ElementsAre(
                "routes[1].match.path_exact: \"" + other +
                "\" is the same to many servers, and goes to the "
                "route \"" +
                other + "\" without the limit \"a\": give both the same limits"
            )
        );
    }
}

TEST(loose_paths, a_redirect_to_the_same_path_with_another_ending_is_warned_of)
{
    const std::string circle = "match: { path_exact: /docs }, redirect: { to: \"/docs/?x=1\" }";
    EXPECT_THAT(
        warned_of({circle}),
        ElementsAre(
            "routes[1].redirect.to: leads to this route again, as path_exact has the path with and "
            "without a final slash: give that path a route of its own"
        )
    );
    EXPECT_THAT(warned_of({circle, "match: { path_exact: /docs/ }, upstream: u"}), IsEmpty());
    EXPECT_THAT(warned_of({"match: { path_exact: /docs }, redirect: { to: /docs/1 }"}), IsEmpty());
    EXPECT_THAT(
        warned_of({"match: { path_exact: /docs }, redirect: { to: \"https://h/docs/\" }"}),
        IsEmpty()
    );
    const std::string form = "match: { path_exact: /form, methods: [POST] }, redirect: { status: ";
    EXPECT_THAT(warned_of({form + "303, to: /form }"}), IsEmpty()) << "GET follows";
    EXPECT_EQ(warned_of({form + "307, to: /form }"}).size(), 1U);
}

}  // namespace loose_paths_test
}  // namespace gateway::config
