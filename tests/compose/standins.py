# SPDX-License-Identifier: Apache-2.0
"""standins - images under the official names where no registry can be reached.

compose.yaml names official images. Where they are neither there nor to be had, they are made of
Debian's packages (and Kafka's jars from Maven), so that it runs as it is; standins/NAME/Dockerfile
says how. They are labelled, kept by the engine, and made again when their recipe changes.
"""
import hashlib
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engine import run
from local.servers import fetch_jars

RECIPES = Path(__file__).resolve().parent / "standins"
BASE = "debian:bookworm-slim"
IMAGES = {"postgres:15": "postgres", "redis:7": "redis", "apache/kafka:4.1.0": "kafka",
          "haproxy:2.6": "haproxy", "node:18-bookworm-slim": "node"}
LABEL = "decima.standin"
NPM = "npm@10.9.2"
SOURCES = [f"deb http://deb.debian.org/debian{part} bookworm{suite} main" for part, suite in
           (("", ""), ("", "-updates"), ("-security", "-security"))]


def provide(environment, own):
    """See that all images are there: {image: "official" or "stand-in"}."""
    wanted = {}
    for image in (BASE, *IMAGES):
        label = label_of(image, environment)
        if label is None and not own:
            done = subprocess.run(["docker", "pull", "-q", image], capture_output=True, check=False,
                                  env=environment, timeout=600)
            label = label_of(image, environment) if done.returncode == 0 else None
        if label is None or label not in ("", digest(image)):
            wanted[image] = digest(image)
    if BASE in wanted:
        make_base(wanted.pop(BASE), environment)
    with ThreadPoolExecutor(3) as threads:
        for made in [threads.submit(make, image, key, environment)
                     for image, key in wanted.items()]:
            made.result()
    return {image: "stand-in" if label_of(image, environment) else "official"
            for image in (BASE, *IMAGES)}


def label_of(image, environment):
    """Of a stand-in the digest of its recipe; "" of what is none; None: there is no such image."""
    done = subprocess.run(
        ["docker", "image", "inspect", "-f", f'{{{{index .Config.Labels "{LABEL}"}}}}', image],
        capture_output=True, text=True, check=False, env=environment, timeout=60)
    return done.stdout.strip() if done.returncode == 0 else None


def digest(image):
    total = hashlib.sha256(repr((NPM, SOURCES)).encode())
    for file in sorted((RECIPES / IMAGES[image]).iterdir()) if image in IMAGES else ():
        total.update(file.name.encode() + file.read_bytes())
    return total.hexdigest()[:16]


def make_base(key, environment):
    """Debian as the slim image has it: no manuals, no translations."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "root.tar"
        run(["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--include=usr-is-merged",
             "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr",
             *(f"--dpkgopt=path-exclude=/usr/share/{kind}/*" for kind in ("man", "locale", "doc")),
             "--dpkgopt=path-include=/usr/share/doc/*/copyright", "bookworm", root, *SOURCES])
        run(["docker", "import", "-c", 'CMD ["bash"]', "-c", f"LABEL {LABEL}={key}", "-c",
             "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", root, BASE],
            environment)


def make(image, key, environment):
    with tempfile.TemporaryDirectory() as scratch:
        context = Path(scratch) / "context"
        shutil.copytree(RECIPES / IMAGES[image], context)
        if IMAGES[image] == "kafka":
            shutil.copytree(fetch_jars(), context / "jars")
        if IMAGES[image] == "node":
            add_npm(context)
        run(["docker", "build", "-q", "--label", f"{LABEL}={key}", "-t", image, context],
            environment)


def add_npm(context):
    """npm as its package has it, and what authorities this machine believes."""
    packed = run(["npm", "pack", "--silent", NPM], cwd=context).split()[-1]
    run(["tar", "-xzf", context / packed, "-C", context])
    (context / "package").rename(context / "npm")
    (context / packed).unlink()
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", context / "authorities.crt")
