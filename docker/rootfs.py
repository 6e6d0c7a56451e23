#!/usr/bin/python3
"""Takes what the installed gateway needs out of a Debian, and nothing else: no shell, no package manager.

    rootfs.py FROM TO       FROM is a root file system with the package gateway and ca-certificates; TO is made

Also for scanners and people: the packages that these files are of, in /var/lib/dpkg/status.d, and their licences.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

PROGRAM = "usr/bin/gateway"
# Beside the libraries that the program is linked to.
FILES = ["etc/gateway/gateway.yaml", "etc/os-release", "etc/ssl/certs/ca-certificates.crt", "usr/lib/os-release",
         "usr/share/gateway/gateway.schema.json"]  # fmt: skip
FOLDERS = ["usr/share/zoneinfo"]
USER = 10001
WRITTEN = {
    "etc/passwd": f"root:x:0:0:root:/:/nonexistent\ngateway:x:{USER}:{USER}:HTTP gateway:/var/lib/gateway:/nonexistent\n",
    "etc/group": f"root:x:0:\ngateway:x:{USER}:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
}
# Where OpenSSL looks for certificates of authorities.
LINKS = {"usr/lib/ssl/cert.pem": "/etc/ssl/certs/ca-certificates.crt"}


def libraries(source):
    """Paths of the shared libraries, as the tree's own loader finds them."""
    listed = subprocess.run(["chroot", source, "ldd", f"/{PROGRAM}"], check=True, capture_output=True, text=True).stdout
    return [path.lstrip("/") for path in re.findall(r"(/\S+) \(0x", listed)]


def copy(source, target, name):
    """Copies a file; a link and what it leads to, which is in the same tree."""
    path = source / name
    # Debian's /lib and /lib64 lead to /usr.
    real = path.parent.resolve().relative_to(source.resolve()) / path.name
    to = target / real
    to.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():
        leads_to = path.readlink()
        if not to.is_symlink():
            to.symlink_to(leads_to)
        next_one = leads_to.relative_to("/") if leads_to.is_absolute() else real.parent / leads_to
        return [str(real), *copy(source, target, next_one)]
    shutil.copy2(path, to)
    return [str(real)]


def owners(source, names):
    """Packages that installed these files."""
    found = set()
    for name in names:
        for candidate in (f"/{name}", "/" + name.removeprefix("usr/")):
            done = subprocess.run(["dpkg-query", f"--root={source}", "--search", candidate], capture_output=True, text=True)
            found.update(owner.strip().split(":")[0] for line in done.stdout.splitlines()
                         if not line.startswith("diversion by ")
                         for owner in line.rpartition(": ")[0].split(","))  # fmt: skip
    return sorted(found)


def make(source, target):
    names = [PROGRAM, *FILES, *libraries(source)]
    copied = [part for name in names for part in copy(source, target, name)]
    for folder in FOLDERS:
        shutil.copytree(source / folder, target / folder, symlinks=True, ignore=shutil.ignore_patterns("posix", "right"))
        copied.append(folder)
    for folder in ("lib", "lib64"):
        if (source / folder).is_symlink():
            (target / folder).symlink_to((source / folder).readlink())
    for name, text in WRITTEN.items():
        (target / name).write_text(text)
    for name, leads_to in LINKS.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).symlink_to(leads_to)
    (target / "var/lib/gateway").mkdir(parents=True)
    os.chown(target / "var/lib/gateway", USER, USER)
    (target / "tmp").mkdir()
    (target / "tmp").chmod(0o1777)
    status = target / "var/lib/dpkg/status.d"
    status.mkdir(parents=True)
    # Certificates of authorities are written when their package is installed, and are no file of it.
    for package in owners(source, copied) + ["ca-certificates"]:
        entry = subprocess.run(["dpkg-query", f"--root={source}", "--status", package], check=True, capture_output=True, text=True)
        (status / package).write_text(entry.stdout)
        licence = pathlib.Path("usr/share/doc", package, "copyright")
        if (source / licence).exists():
            (target / licence).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2((source / licence).resolve(), target / licence)


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
