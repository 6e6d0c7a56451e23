#!/usr/bin/python3
"""Writes what an image consists of (SPDX 2.3) and what it and the packages were made from (SLSA provenance 1.0).

    sbom.py ROOTFS VERSION EPOCH DIGEST COMMIT OUT FILE...

OUT.spdx.json lists the Debian packages in the image with this digest; OUT.provenance.json names it and the files,
the commit (with "-dirty" if files differ from it), and the packages of the system that built them (.buildinfo).
Neither depends on when it is written.
"""

import hashlib
import json
import pathlib
import re
import sys
import time

HOME = "https://spdx.org/spdxdocs"


def fields(text):
    """The fields of a stanza of dpkg's, without what continues them."""
    return dict(re.findall(r"(?m)^([\w-]+): (.*)$", text))


def purl(package, version, architecture):
    return f"pkg:deb/debian/{package}@{version.replace('+', '%2B').replace('~', '%7E')}?arch={architecture}"


def spdx(rootfs, version, epoch, digest):
    image = {
        "SPDXID": "SPDXRef-image", "name": "gateway", "versionInfo": version, "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION", "primaryPackagePurpose": "CONTAINER",
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest.removeprefix("sha256:")}],
    }  # fmt: skip
    packages, relations = [image], [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-image")]
    for path in sorted((rootfs / "var/lib/dpkg/status.d").iterdir()):
        its = fields(path.read_text())
        name = "SPDXRef-package-" + re.sub(r"[^\w.-]", "-", its["Package"]).replace("_", "-")
        packages.append({
            "SPDXID": name, "name": its["Package"], "versionInfo": its["Version"], "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
            "licenseDeclared": "Apache-2.0" if its["Package"] == "gateway" else "NOASSERTION",
            "copyrightText": "NOASSERTION", "supplier": "NOASSERTION" if "@" not in its["Maintainer"] else
            "Organization: " + its["Maintainer"].partition(" <")[0],
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": purl(its["Package"], its["Version"], its["Architecture"])}],
        })  # fmt: skip
        relations.append(("SPDXRef-image", "CONTAINS", name))
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"gateway-{version}",
        "documentNamespace": f"{HOME}/gateway-{version}-{digest.removeprefix('sha256:')}",
        "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)), "creators": ["Tool: scripts/package"]},
        "packages": packages,
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations
        ],
    }  # fmt: skip


def provenance(digest, commit, files):
    subjects = [{"name": path.name, "digest": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}
                for path in files if path.suffix in (".deb", ".tar")]  # fmt: skip
    built_with = []
    for path in files:
        if path.suffix == ".buildinfo":
            installed = re.search(r"(?ms)^Installed-Build-Depends:\n(.*?)^\S", path.read_text())[1]
            built_with = re.findall(r"^ (\S+?)(?::\w+)? \(= (\S+?)\)", installed, re.MULTILINE)
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "gateway", "digest": {"sha256": digest.removeprefix("sha256:")}}, *subjects],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "scripts/package", "externalParameters": {"commit": commit},
                "resolvedDependencies": [{"uri": f"git+gateway@{commit}", "digest": {"gitCommit": commit.removesuffix("-dirty")}}]
                + [{"uri": purl(name, version, "any")} for name, version in built_with],
            },
            "runDetails": {"builder": {"id": "scripts/package"}},
        },
    }  # fmt: skip


if __name__ == "__main__":
    rootfs, version, epoch, digest, commit, out = sys.argv[1:7]
    for kind, made in (
        ("spdx", spdx(pathlib.Path(rootfs), version, int(epoch), digest)),
        ("provenance", provenance(digest, commit, [pathlib.Path(name) for name in sys.argv[7:]])),
    ):
        pathlib.Path(f"{out}.{kind}.json").write_text(json.dumps(made, indent=1) + "\n")
