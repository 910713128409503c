"""Tools from PyPI, commands, and how progress and failure are told."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = ROOT / "target"

# The same tools in the same place as in .ci/run.
BUILD_TOOLS = (TARGET / "ci-venv", ROOT / ".ci" / "requirements.txt")
# In a separate environment, because MiniStack needs another version of boto3.
MINISTACK = (TARGET / "third-party-venv", ROOT / ".ci" / "third_party" / "requirements.txt")

# All requests stay on this machine, so a configured proxy is ignored.
HTTP = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Failed(Exception):
    """What went wrong, and what to do about it."""


def enough_room(*needs):
    """Fails unless each folder's disk has as many GB free: without room a function is not answered, and does not say why."""
    for folder, gigabytes in needs:
        free = shutil.disk_usage(folder).free / 1e9
        if free < gigabytes:
            raise Failed(f"{folder} has {free:.1f} GB of free space, and {gigabytes} GB are needed")


@contextlib.contextmanager
def step(name):
    """One line of progress, with the seconds it took. Yields a list for what is worth adding to it."""
    begin, facts = time.monotonic(), []
    print(f"{name} ... ", end="", flush=True)
    try:
        yield facts
    except BaseException:
        print(f"failed after {time.monotonic() - begin:.1f} s", flush=True)
        raise
    print(", ".join([*facts, f"{time.monotonic() - begin:.1f} s"]), flush=True)


def install(*environments):
    """Installs the lists of these environments from PyPI, unless they are there."""
    folders = [requirements.parent for _, requirements in environments]
    run([ROOT / ".ci" / "install", *folders], "PyPI, or the index that pip and uv are configured for, must answer.")


def ensure(packages):
    """Installs the programs that are missing, on a machine that is ours to install on: each by the first of its packages
    that there is."""
    for program, names in packages.items():
        if shutil.which(program):
            continue
        wanted = " or ".join(names)
        if not shutil.which("apt-get") or os.geteuid() != 0:
            raise Failed(f"there is no {program}: install {wanted}")
        print(f"installing {program}", flush=True)
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        silent = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        install = ["apt-get", "install", "-qq", "-y", "--no-install-recommends"]
        if all(subprocess.run([*install, name], env=silent).returncode for name in names):
            raise Failed(f"apt-get cannot install {program}: install {wanted} yourself")


def run(command, wish, environment=None, log=None, folder=ROOT):
    """What the command prints. Its output goes to the log, too; `wish` tells what to do if it fails."""
    command = [str(word) for word in command]
    with running(command, environment, subprocess.PIPE, folder) as process:
        said, _ = process.communicate()
    if log:
        log.write_text(said)
    if process.returncode != 0:
        last = "\n    ".join(said.strip().splitlines()[-25:])
        raise Failed(f"{' '.join(command[:4])} ended with code {process.returncode}\n    {last}\n{wish}")
    return said


@contextlib.contextmanager
def running(command, environment, output, folder=ROOT):
    """A process in a group of its own, which ends with the block, asked first and then made to."""
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
        text=True, errors="replace", start_new_session=True,
    )
    try:
        yield process
    finally:
        for wish in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, wish)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)


def environment(**more):
    """This process's environment with the tools in its path, and without any AWS account that happens to be set."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "TILL_"))}
    path = f"{BUILD_TOOLS[0] / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "PATH": path, "SAM_CLI_TELEMETRY": "0", "CARGO_TERM_COLOR": "never", **more}
