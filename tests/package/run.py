"""Every proof of the packages and the image of one release: scripts/package --check calls this.

    run.py RELEASE TREE FOLDER SECOND VERSION ARCHITECTURE

TREE is a tar file of a bare system. FOLDER has what was built; SECOND has the same, built again. Prints a line
"N passed, N failed", and fails if any did.
"""

import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def main():
    release, tree, folder, second, version, architecture = sys.argv[1:]
    os.environ |= {
        "RELEASE": release, "TREE": tree, "SECOND": second, "VERSION": version,
        "DEB": f"{folder}/gateway_{version}_{architecture}.deb",
        "IMAGE": f"{folder}/gateway-image_{version}_{architecture}.oci.tar",
    }  # fmt: skip
    tests = unittest.defaultTestLoader.discover(str(HERE))
    done = unittest.TextTestRunner(verbosity=2).run(tests)
    failed = len(done.failures) + len(done.errors)
    print(f"{done.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
