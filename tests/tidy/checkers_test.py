"""The checkers checked: each must refuse a bad sample and accept its good twin."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import contents
import format as formatting
import headers
import layers
import lint
import sizes
import sources
import words


class code_without_comments(unittest.TestCase):
    def test_blanks_comments_and_literals_but_keeps_lines(self):
        text = 'a; // catch (\n/* x\ny */ f("catch ("); R"x(catch ()" )x" b\n'
        bare = sources.code(text)
        self.assertEqual(len(bare), len(text))
        self.assertEqual(bare.count("\n"), text.count("\n"))
        self.assertNotIn("catch", bare)
        self.assertIn("f(", bare)
        self.assertTrue(bare.endswith(" b\n"))

    def test_is_not_confused_by_digit_separators(self):
        self.assertEqual(sources.code("x = 1'000'000; // c"), "x = 1'000'000;     ")

    def test_keeps_a_comment_mark_inside_a_string(self):
        self.assertIn("catch", sources.code('f("//"); catch (...)'))


class layer_table(unittest.TestCase):
    def refused(self, name, text, word):
        problems = layers.check_text(name, text)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(word, problems[0])

    def test_refuses_an_include_upwards_for_every_pair_it_does_not_allow(self):
        for folder, allowed in layers.ALLOWED.items():
            name = "config/a.cpp" if folder == "config" else f"gateway/{folder}/a.cpp"
            for other in layers.ALLOWED:
                target = "config/b.hpp" if other == "config" else f"gateway/{other}/b.hpp"
                problems = layers.check_text(name, f'#include "{target}"\n')
                self.assertEqual(problems == [], other == folder or other in allowed, (name, target))

    def test_has_no_cycles(self):
        left = dict(layers.ALLOWED)
        while left:
            bottom = [folder for folder, allowed in left.items() if not allowed & set(left)]
            self.assertTrue(bottom, f"a cycle among {sorted(left)}")
            for folder in bottom:
                del left[folder]

    def test_refuses_a_room_that_is_not_listed_for_another_and_the_face_from_beneath(self):
        for room, allowed in layers.ROOMS.items():
            top = "" if room.startswith("config/") else "gateway/"
            name = f"{top}{room}/a.cpp"
            for other in layers.ROOMS:
                if other.split("/")[0] == room.split("/")[0]:
                    problems = layers.check_text(name, f'#include "{top}{other}/b.hpp"\n')
                    self.assertEqual(problems == [], other == room or other in allowed, (name, other))
            face = f"{top}{room.split('/')[0]}"
            problems = layers.check_text(name, f'#include "{face}/b.hpp"\n')
            self.assertEqual(problems != [], room in layers.BENEATH, name)
            problems = layers.check_text(f"{face}/a.cpp", f'#include "{top}{room}/b.hpp"\n')
            self.assertEqual(problems != [], room in layers.ON_TOP, name)
        self.refused("config/misc/a.cpp", '#include "config/text/b.hpp"\n', "not in the table of rooms")

    def test_has_no_cycles_of_rooms(self):
        self.assertLessEqual(layers.ON_TOP | layers.BENEATH, set(layers.ROOMS))
        self.assertEqual(layers.ON_TOP & layers.BENEATH, set())
        left = dict(layers.ROOMS)
        while left:
            bottom = [room for room, allowed in left.items() if not allowed & set(left)]
            self.assertTrue(bottom, f"a cycle among {sorted(left)}")
            for room in bottom:
                del left[room]

    def test_refuses_circles_of_files(self):
        texts = {
            "gateway/store/a.hpp": '#include "gateway/store/memory/b.hpp"\n',
            "gateway/store/memory/b.hpp": '#include "gateway/store/c.hpp"\n',
            "gateway/store/c.hpp": "",
        }
        self.assertEqual(layers.check_circles(texts), [])
        texts["gateway/store/c.hpp"] = '#include "gateway/store/a.hpp"\n'
        self.assertEqual(len(layers.check_circles(texts)), 1)

    def test_lets_pure_folders_see_pure_folders_only(self):
        for folder in layers.PURE:
            self.assertLessEqual(layers.ALLOWED[folder], layers.PURE)

    def test_refuses_a_folder_it_does_not_know_and_the_top_from_below(self):
        self.refused("gateway/misc/a.cpp", "", "not in the layer table")
        self.refused("gateway/base/a.cpp", '#include "gateway/app.hpp"\n', "the top")

    def test_refuses_impure_includes_in_pure_folders(self):
        for target in (
            "boost/asio.hpp",
            "boost/asio/ip/tcp.hpp",
            "boost/beast/core.hpp",
            "boost/beast/core/flat_buffer.hpp",
            "thread",
            "mutex",
            "hiredis/hiredis.h",
            "yaml-cpp/yaml.h",
            "prometheus/counter.h",
        ):
            for folder in layers.PURE:
                self.refused(f"gateway/{folder}/a.hpp", f"#include <{target}>\n", "is pure")
            self.refused("gateway/proxy/exchange_state.cpp", f"#include <{target}>\n", "is pure")
            self.assertEqual(layers.check_text("gateway/net/a.hpp", f"#include <{target}>\n"), [])

    def test_refuses_clocks(self):
        self.refused("gateway/net/a.cpp", "auto t = std::chrono::steady_clock::now();", "base::now")
        self.refused("gateway/limit/a.cpp", "auto t = base::now();", "argument")
        self.refused("gateway/client/requests/request_state.cpp", "auto t = base::now();", "argument")
        self.assertEqual(layers.check_text("gateway/net/a.cpp", "auto t = base::now();"), [])
        self.assertEqual(layers.check_text("gateway/base/clock.hpp", "steady_clock::now()"), [])
        self.assertEqual(layers.check_text("gateway/net/a.cpp", "// steady_clock::now()"), [])

    def test_refuses_an_impure_include_behind_a_header(self):
        texts = {
            "gateway/client/requests/request_state.hpp": '#include "gateway/net/a.hpp"\n',
            "gateway/net/a.hpp": '#include "gateway/net/b.hpp"\n',
            "gateway/net/b.hpp": "#include <boost/asio/ip/tcp.hpp>\n",
        }
        problems = layers.check_closure("gateway/client/requests/request_state.hpp", texts)
        self.assertEqual(len(problems), 1)
        self.assertIn("gateway/net/a.hpp, gateway/net/b.hpp", problems[0])
        texts["gateway/net/b.hpp"] = "#include <vector>\n"
        self.assertEqual(layers.check_closure("gateway/client/requests/request_state.hpp", texts), [])

    def test_holds_link_libraries_to_the_table(self):
        self.assertEqual(
            layers.check_uses(
                "gateway/limit/CMakeLists.txt", "gateway_library(gateway_limit USES gateway_base)"
            ),
            [],
        )
        for text, word in (
            ("gateway_library(gateway_limit USES gateway_net)", "must not use net"),
            ("gateway_library(gateway_limit USES asio)", "is pure"),
            ("gateway_library(gateway_net USES gateway_base)", "is called"),
            ("add_library(x)", "no gateway_library"),
        ):
            problems = layers.check_uses("gateway/limit/CMakeLists.txt", text)
            self.assertEqual(len(problems), 1, problems)
            self.assertIn(word, problems[0])


BAD = [  # (path, text): refused
    ("gateway/net/a.cpp", "co_await run([x] { return x; });"),
    ("gateway/net/a.cpp", "co_await run(ex, [&, y = 1](int z) mutable {\n});"),
    ("gateway/net/a.cpp", "auto v = co_await f([this]() -> task<void> { co_return; });"),
    ("gateway/net/a.cpp", "try { f(); } catch (const std::exception&) {}"),
    ("gateway/net/a.cpp", "catch(...) {}"),
    ("gateway/net/a.hpp", "class a : std::enable_shared_from_this<a>"),
    ("gateway/net/a.cpp", "auto self = shared_from_this();"),
    ("gateway/store/a.hpp", "std::mutex mutex_;"),
    ("gateway/store/a.hpp", "std::shared_mutex mutex_;"),
    ("gateway/proxy/a.cpp", "std::this_thread::sleep_for(1s);"),
    ("gateway/proxy/a.cpp", "usleep(5);"),
    ("gateway/proxy/a.cpp", "thread.detach();"),
    ("gateway/proxy/a.cpp", "auto f = [=] { g(); };"),
    ("gateway/proxy/a.cpp", "std::stoul(text);"),
    ("gateway/proxy/a.cpp", "// the downstream connection"),
    ("gateway/proxy/a.cpp", "int down_stream = 0;"),
    ("gateway/proxy/a.cpp", "// as backends do"),
    ("gateway/proxy/a.cpp", "int front_end = 0;"),
    ("tests/unit/a_test.cpp", "// TO" + "DO: later"),
    ("gateway/proxy/a.cpp", "// FIX" + "ME"),
    ("gateway/proxy/a.hpp", "class pool_manager;"),
    ("gateway/proxy/a.hpp", "namespace helpers {"),
    ("config/a.cpp", "using namespace std;"),
    ("gateway/proxy/a.hpp", "// What it is.\nint a;\n"),
    ("gateway/proxy/a.cpp", "int b;\n    // Whether it is.\n    bool a;\n"),
    ("config/a.cpp", "int b;\n// If it has.\nbool a;\n"),
    ("gateway/net/a.hpp", "int losses_ = 0;  // in a row\n"),
    ("gateway/store/postgres/types.sql", "CREATE TYPE t AS (\n    -- Of a token.\n    unit bigint\n);\n"),
    ("gateway/store/postgres/version_4.sql", "AS $$\n-- What is left.\nSELECT 1 $$;\n"),
    ("gateway/store/redis/take.lua", "-- Whether it is.\nlocal is = true\n"),
    ("gateway/store/redis/take.lua", "-- FIX" + "ME\n"),
]

GOOD = [  # accepted
    ("gateway/proxy/a.hpp", "// Returns a number that says\n// what it is.\nint a;\n"),
    ("gateway/proxy/a.hpp", "// Words beside the line above it\n// That stands here.\nint a;\n"),
    ("gateway/net/a.cpp", "auto body = [x] { return x; };\nco_await run(body);"),
    ("gateway/net/a.cpp", "co_await run([] { return 1; });"),
    ("gateway/net/a.cpp", "int y = table[co_await index()];\nif (x) { f(); }"),
    ("gateway/net/a.cpp", "co_await f(names[i], x); g([y] { h(); });"),
    ("gateway/net/a.cpp", "// catch (errors) early"),
    ("gateway/main.cpp", "try { f(); } catch (const std::exception&) {}"),
    ("config/load.cpp", "try { f(); } catch (const std::exception&) {}"),
    ("gateway/telemetry/a.cpp", "std::mutex mutex_;"),
    ("tests/unit/a_test.cpp", "std::mutex mutex;"),
    ("gateway/proxy/a.cpp", 'log("catch (");'),
    ("config/a.cpp", "class sink : public YAML::EventHandler"),
    ("gateway/net/a.hpp", "// Losses in a row.\nint losses_ = 0;\n}  // namespace gateway::net\n"),
    ("gateway/net/a.cpp", "int losses = 0;  // in a row\n"),
    ("gateway/store/postgres/take.sql", "-- Decides\n-- What is asked.\nAS $$\n-- Of the look.\nSELECT 1 $$;\n"),
    ("gateway/store/postgres/version_3.sql", "AS $$\n-- What is left.\nSELECT 1 $$;\n"),
    ("gateway/store/redis/take.lua", "local left = 1 -- What is left.\n"),
]


class banned_words(unittest.TestCase):
    def test_refuses_every_bad_sample(self):
        for name, text in BAD:
            with self.subTest(text=text):
                self.assertEqual(len(words.check_text(name, text)), 1, words.check_text(name, text))

    def test_accepts_every_good_sample(self):
        for name, text in GOOD:
            with self.subTest(text=text):
                self.assertEqual(words.check_text(name, text), [])

    def test_tells_the_line(self):
        problem = words.check_text("gateway/net/a.cpp", "\n\n/* x\n*/ std::mutex m;")[0]
        self.assertTrue(problem.startswith("gateway/net/a.cpp:4:"), problem)


class file_sizes(unittest.TestCase):
    def test_refuses_one_line_too_many(self):
        for name, most in (("gateway/a.cpp", 400), ("config/a.hpp", 400), ("tests/a.cpp", 700)):
            self.assertEqual(sizes.check_text(name, "\n" * most), [])
            self.assertEqual(len(sizes.check_text(name, "\n" * (most + 1))), 1)

    def test_refuses_one_file_too_many_in_a_folder(self):
        self.assertEqual(sizes.check_folder("gateway/net", 40), [])
        self.assertEqual(len(sizes.check_folder("gateway/net", 41)), 1)


class table_of_contents(unittest.TestCase):
    PAGE = "docs/configuration.md"
    LIST = "- [A `b`: c](#a-b-c)\n  - [D's](#ds)\n  - [D's](#ds)\n"
    REST = "\n## A `b`: c\n\n```\n# no heading\n```\n\n### D's\n\n#### E\n\n### D's\n"

    def problems(self, text, name=PAGE):
        return contents.check_text(name, text, {"docs/a.md": {"x"}, self.PAGE: contents.anchors(text)}.get)

    def test_is_that_of_the_headings(self):
        text = f"# T\n\n{contents.HEADING}\n\n" + self.LIST + self.REST
        self.assertEqual(self.problems(text), [])
        self.assertEqual(contents.contents_of(text), self.LIST)
        for bad in (text.replace("  - [D's](#ds)\n", "", 1), text + "\n## F\n", text.replace("D's\n\n####", "X\n\n####")):
            self.assertIn("run contents.py", self.problems(bad)[0])
        self.assertIn("no '## Contents'", self.problems("# T\n" + self.REST)[0])
        self.assertEqual(self.problems("# T\n" + self.REST, "docs/a.md"), [])

    def test_holds_links_to_headings(self):
        for link, good in (("a.md#x", True), ("a.md#y", False), ("b.md#x", False), ("#t", True), ("#ds-1", True),
                           ("#ds-2", False), ("../docs/a.md#x", True), ("https://example.com/a#b", True)):
            text = f"# T\n\n{contents.HEADING}\n\n" + self.LIST + self.REST + f"\n[l]({link})\n"
            self.assertEqual(self.problems(text) == [], good, link)


class picture(unittest.TestCase):
    def test_shows_every_folder_and_room(self):
        names = layers.names_to_show()
        whole = "".join(f"<text>{name}</text>" for name in names)
        self.assertEqual(layers.check_picture(whole), [])
        without = whole.replace("<text>cluster</text>", "")
        self.assertEqual(layers.check_picture(without), [f"{layers.PICTURE}:1: does not show cluster"])


class programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_checker(self, name):
        program = pathlib.Path(__file__).parent / f"{name}.py"
        return subprocess.run([sys.executable, program, self.root], capture_output=True).returncode

    def test_fail_when_there_is_nothing_to_check(self):
        for name in ("layers", "words", "sizes", "contents"):
            self.assertEqual(self.run_checker(name), 1, name)

    def test_end_with_0_for_a_good_tree_and_1_for_a_bad_one(self):
        self.write("gateway/limit/CMakeLists.txt", "gateway_library(gateway_limit USES gateway_base)\n")
        self.write("gateway/limit/good.hpp", "#pragma once\n")
        self.write(layers.PICTURE, "".join(f"<text>{name}</text>" for name in layers.names_to_show()))
        for name in ("layers", "words", "sizes"):
            self.assertEqual(self.run_checker(name), 0, name)
        self.write("gateway/limit/bad.cpp", "#include <mutex>\nstd::mutex m;\n" + "\n" * 400)
        for name in ("layers", "words", "sizes"):
            self.assertEqual(self.run_checker(name), 1, name)

    def test_count_the_files_of_every_folder(self):
        for folder in ("gateway/net", "gateway/net/tls", "config"):
            for i in range(40):
                self.write(f"{folder}/a{i}.hpp", "")
        self.assertEqual(self.run_checker("sizes"), 0)
        for folder in ("gateway/net", "gateway/net/tls", "config"):
            more = self.write(f"{folder}/more.lua", "")
            self.assertEqual(self.run_checker("sizes"), 1, folder)
            more.unlink()
        self.assertEqual(self.run_checker("sizes"), 0)

    @unittest.skipUnless(shutil.which("clang-format"), "clang-format is not installed")
    def test_tell_formatted_from_unformatted(self):
        self.write(".clang-format", "BasedOnStyle: Google\n")
        tool = shutil.which("clang-format")
        self.assertFalse(formatting.badly_formatted(tool, self.write("good.cpp", "int x = 1;\n")))
        self.assertTrue(formatting.badly_formatted(tool, self.write("bad.cpp", "int   x=1;\n")))

    @unittest.skipUnless(shutil.which("c++"), "no compiler")
    def test_tell_a_header_that_leans_on_others(self):
        self.write("good.hpp", "#pragma once\n#include <string>\nstd::string f();\n")
        self.write("bad.hpp", "#pragma once\nstd::string f();\n")
        self.write("twice.hpp", "struct a {};\n")
        self.assertIsNone(headers.compile_alone("c++", self.root, "good.hpp"))
        self.assertIn("alone", headers.compile_alone("c++", self.root, "bad.hpp"))
        self.assertIn("alone", headers.compile_alone("c++", self.root, "twice.hpp"))

    @unittest.skipUnless(shutil.which("clang-tidy"), "clang-tidy is not installed")
    def test_lint_what_changed_and_only_that(self):
        self.write(".clang-tidy", "Checks: '-*,modernize-use-nullptr'\nWarningsAsErrors: '*'\nHeaderFilterRegex: '.*'\n")
        header = self.write("gateway/limit/a.hpp", "#pragma once\nint* f();\n")
        path = self.write("gateway/limit/a.cpp", '#include "gateway/limit/a.hpp"\nint* f() { return nullptr; }\n')
        other = self.write("gateway/limit/b.cpp", '#include "gateway/limit/a.hpp"\nint* g() { return f(); }\n')
        entries = [
            {"directory": str(self.root), "file": str(file), "command": f"c++ -I{self.root} -DX=1 -c {file}"}
            for file in (path, other, path)
        ]
        database = self.write("compile_commands.json", json.dumps(entries))
        files, flags = lint.sources_by_folder(self.root, database)
        self.assertEqual(files, {"limit": {path, other}})
        self.assertEqual(list(flags["limit"]), [f"-I{self.root}", "-DX=1"])
        unity = self.write("build/Unity/unity_0.cxx", f'#include "{path}"\n\n#include "{other}"\n')
        entries = [{**entries[0], "file": str(unity)}]
        database = self.write("compile_commands.json", json.dumps(entries))
        self.assertEqual(lint.sources_by_folder(self.root, database), (files, flags))
        known = self.root / "lint"
        known.mkdir()

        def said(tool=shutil.which("clang-tidy")):
            return lint.lint(tool, self.root, known, "limit", files["limit"], flags["limit"])

        self.assertEqual(said(), "")
        self.assertEqual(said("/bin/false"), "", "is remembered")
        header.write_text("#pragma once\ninline int* f() { return 0; }\n")
        path.write_text('#include "gateway/limit/a.hpp"\n')
        self.assertIn("use nullptr", said())
        self.assertIn("use nullptr", said(), "a bad verdict is not remembered")
        other.write_text('#include "gateway/limit/a.hpp"\n\nint* g() { return 0; }\n')
        self.assertIn("gateway/limit/b.cpp:3:", said(), "where it is, not where it was checked")

    def test_leave_out_headers_that_their_own_source_includes_first(self):
        self.write("a.cpp", '#include "a.hpp"\n\n#include <string>\n')
        self.write("b.cpp", '#include <string>\n\n#include "b.hpp"\n')
        for name, is_so in (("a.hpp", True), ("b.hpp", False), ("c.hpp", False)):
            self.assertEqual(headers.is_first_in_own_source(self.root, name), is_so, name)

    def test_leave_out_headers_that_reach_asio(self):
        texts = {
            "a.hpp": '#include "b.hpp"\n',
            "b.hpp": "#include <boost/asio/ip/tcp.hpp>\n",
            "c.hpp": "#include <vector>\n",
        }
        self.assertTrue(headers.reaches_slow("a.hpp", texts))
        self.assertFalse(headers.reaches_slow("c.hpp", texts))


if __name__ == "__main__":
    unittest.main()
