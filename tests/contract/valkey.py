"""The contract of stores in Redis, held by Valkey 8 from Debian's backports.

    valkey.py CONTRACT_STORE FOLDER     the test program; where the packages are kept

Skipped, and says so, where the packages cannot be fetched.
"""
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77  # what ctest takes for "skipped"
SOURCE = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm-backports main"
# All that asks a Redis, and nothing else.
TESTS = "store_contract/[12].*:schedule_test/0.*:redis_store.*:batches.*:leases.*:rebasing.*:cluster.*:sentinel.*:all/*"


def fetch(folder):
    """The packages' files, below `folder`. What went wrong, or nothing."""
    for name in ("lists/partial", "cache/archives/partial", "root"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "sources.list").write_text(SOURCE + "\n")
    options = ("Dir::State::lists=lists", "Dir::Cache=cache", "Dir::Etc::sourcelist=sources.list",
               "Dir::Etc::sourceparts=-", "APT::Sandbox::User=root", "Acquire::http::Timeout=20")  # fmt: skip
    apt = ["apt-get", "-qq"]
    for option in options:
        name, value = option.split("=")
        local = name.startswith("Dir") and value != "-"
        apt += ["-o", f"{name}={folder / value if local else value}"]
    for command in ([*apt, "update"], [*apt, "download", "valkey-server", "valkey-tools"]):
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
        except (OSError, subprocess.TimeoutExpired) as why:
            return str(why)
        if done.returncode != 0:
            return done.stderr.strip() or f"{command[-1]}: {done.returncode}"
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, folder / "root"], check=True)
    return None


def main(program, folder):
    server = folder / "root/usr/bin/valkey-server"
    if not server.exists():
        problem = fetch(folder) if shutil.which("apt-get") else "there is no apt-get"
        if problem:
            print(f"skipped: Valkey cannot be fetched from Debian's backports: {problem}")
            return SKIPPED
    # What the tests start by the name of redis-server.
    names = folder / "names"
    names.mkdir(exist_ok=True)
    link = names / "redis-server"
    link.unlink(missing_ok=True)
    link.symlink_to(server.resolve())
    path = f"{names.resolve()}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    print(subprocess.run([link, "--version"], capture_output=True, text=True, check=True).stdout)
    filters = f"--gtest_filter={TESTS}"
    return subprocess.run([program, filters, "--gtest_brief=1"], env={"PATH": path}).returncode


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2])))
