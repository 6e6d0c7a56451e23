#!/usr/bin/python3
"""Writes the image of a root file system, as the last stage of the Dockerfile describes it, without Docker.

    oci.py ROOTFS VERSION ARCHITECTURE EPOCH ARCHIVE

ARCHIVE is an OCI layout in a tar file, which `docker load` and `podman load` take, and skopeo as oci-archive. The
same files give the same bytes: every time is EPOCH. Prints the digest of the image.
"""

import gzip
import hashlib
import io
import json
import pathlib
import re
import shlex
import sys
import tarfile
import time

DOCKERFILE = pathlib.Path(__file__).with_name("Dockerfile")
MEDIA = "application/vnd.oci.image."
DURATIONS = {"interval": "Interval", "timeout": "Timeout", "start-period": "StartPeriod"}


def described(dockerfile):
    """The configuration that the last stage asks for."""
    text = re.sub(r"(?m)^#.*\n", "", dockerfile).replace("\\\n", " ")
    stage = text[text.rindex("\nFROM scratch") :].strip().splitlines()[1:]
    config = {"Env": ["PATH=/usr/bin"], "Labels": {}, "ExposedPorts": {}}
    for line in stage:
        word, _, rest = line.partition(" ")
        if word == "LABEL":
            config["Labels"].update(pair.split("=", 1) for pair in shlex.split(rest))
        elif word == "EXPOSE":
            config["ExposedPorts"] = {f"{port}/tcp": {} for port in rest.split()}
        elif word in ("USER", "STOPSIGNAL"):
            config[{"USER": "User", "STOPSIGNAL": "StopSignal"}[word]] = rest
        elif word in ("ENTRYPOINT", "CMD"):
            config[word.capitalize()] = json.loads(rest)
        elif word == "HEALTHCHECK":
            options, _, command = rest.partition(" CMD ")
            check = {"Test": ["CMD", *json.loads(command)]}
            for name, value in re.findall(r"--([\w-]+)=(\d+)", options):
                if name in DURATIONS:
                    check[DURATIONS[name]] = int(value) * 10**9
                else:
                    check[name.capitalize()] = int(value)
            config["Healthcheck"] = check
        elif word != "COPY":
            raise SystemExit(f"oci.py does not know the Dockerfile's {word}")
    return config


def entry(name, epoch, size=0, kind=tarfile.REGTYPE, mode=0o644):
    info = tarfile.TarInfo(name)
    info.mtime, info.size, info.type, info.mode = epoch, size, kind, mode
    return info


def layer_of(rootfs, epoch):
    """The tar file of the root file system."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(rootfs.rglob("*")):
            name = str(path.relative_to(rootfs))
            info = tar.gettarinfo(path, name)
            plain = entry(name, epoch, info.size, info.type, info.mode & 0o7777)
            plain.linkname, plain.uid, plain.gid = info.linkname, info.uid, info.gid
            if info.islnk():
                plain.type, plain.linkname, plain.size = tarfile.REGTYPE, "", path.stat().st_size
            if plain.isreg():
                with open(path, "rb") as content:
                    tar.addfile(plain, content)
            else:
                tar.addfile(plain)
    return made.getvalue()


def digest(data):
    return hashlib.sha256(data).hexdigest()


def write(rootfs, version, architecture, epoch, archive):
    config = described(DOCKERFILE.read_text())
    config["Labels"]["org.opencontainers.image.version"] = version
    layer = layer_of(rootfs, epoch)
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    packed = gzip.compress(layer, 9, mtime=0)
    image = {
        "architecture": architecture, "os": "linux", "created": created, "config": config,
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest(layer)]},
        "history": [{"created": created, "created_by": f"gateway_{version}_{architecture}.deb"}],
    }  # fmt: skip
    blobs = {}

    def blob(kind, data):
        blobs[digest(data)] = data
        return {"mediaType": MEDIA + kind, "digest": "sha256:" + digest(data), "size": len(data)}

    def text(value):
        return json.dumps(value, sort_keys=True).encode()

    manifest = {
        "schemaVersion": 2, "mediaType": MEDIA + "manifest.v1+json",
        "config": blob("config.v1+json", text(image)),
        "layers": [blob("layer.v1.tar+gzip", packed)],
    }  # fmt: skip
    listed = blob("manifest.v1+json", text(manifest))
    tag = version.replace("+", "-")  # A tag has no "+".
    names = {"org.opencontainers.image.ref.name": tag, "io.containerd.image.name": f"docker.io/library/gateway:{tag}"}
    index = {"schemaVersion": 2, "mediaType": MEDIA + "index.v1+json", "manifests": [listed | {"annotations": names}]}
    # What a Docker looks for that knows no OCI layout.
    of_docker = [{"Config": "blobs/sha256/" + manifest["config"]["digest"][7:], "RepoTags": [f"gateway:{tag}"],
                  "Layers": ["blobs/sha256/" + manifest["layers"][0]["digest"][7:]]}]  # fmt: skip
    files = {"oci-layout": text({"imageLayoutVersion": "1.0.0"}), "index.json": text(index), "manifest.json": text(of_docker)}
    files |= {f"blobs/sha256/{name}": data for name, data in blobs.items()}
    with tarfile.open(archive, "w", format=tarfile.GNU_FORMAT) as tar:
        for folder in ("blobs", "blobs/sha256"):
            tar.addfile(entry(folder, epoch, kind=tarfile.DIRTYPE, mode=0o755))
        for name, data in sorted(files.items()):
            tar.addfile(entry(name, epoch, len(data)), io.BytesIO(data))
    return listed["digest"]


if __name__ == "__main__":
    print(write(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5]))
