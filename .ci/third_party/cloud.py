"""MiniStack: a third party's AWS on a port of this machine, with an administrator and nothing else in it."""

import contextlib
import json
import os
import secrets
import socket
import tempfile
import time

import boto3
from botocore.config import Config

from third_party.tools import HTTP, MINISTACK, ROOT, Failed, running

REGION = "eu-central-1"
START_SECONDS = 120


class Cloud:
    """Where it answers, and who we are there."""

    def __init__(self, port, root_secret):
        self.url = f"http://127.0.0.1:{port}"
        self.region = REGION
        self.keys = ("test", root_secret)
        self.keys = self.administrator()

    def client(self, service, keys=None):
        key, secret = keys or self.keys
        # Ignore the machine's proxy for local ports.
        config = Config(proxies={}, retries={"max_attempts": 1}, read_timeout=120)
        return boto3.client(
            service, endpoint_url=self.url, region_name=REGION, config=config, aws_access_key_id=key,
            aws_secret_access_key=secret,
        )

    def variables(self):
        """For a program that shall find this cloud and nothing else."""
        key, secret = self.keys
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ACCESS_KEY_ID": key,
            "AWS_SECRET_ACCESS_KEY": secret,
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": "127.0.0.1,localhost,.localhost",
        }

    def administrator(self):
        """The keys of a user who may do everything, as the root user gives them out."""
        iam = self.client("iam")
        iam.create_user(UserName="deployer")
        iam.attach_user_policy(UserName="deployer", PolicyArn="arn:aws:iam::aws:policy/AdministratorAccess")
        key = iam.create_access_key(UserName="deployer")["AccessKey"]
        return key["AccessKeyId"], key["SecretAccessKey"]


@contextlib.contextmanager
def cloud(log):
    """A cloud that ends with the block, and leaves its log."""
    port, root_secret = free_port(), secrets.token_urlsafe(24)
    with tempfile.TemporaryDirectory(prefix="till-third-party-") as folder, log.open("w") as output:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "TMPDIR": folder,
            "GATEWAY_PORT": str(port),
            "BIND_HOST": "127.0.0.1",
            "IOT_MTLS_ENABLED": "0",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            # Check the policies of every caller, functions included.
            "AUTH": "true",
            # The root user's key for this run.
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": root_secret,
        }
        # MiniStack's functions are processes of its process group.
        with running([MINISTACK[0] / "bin" / "ministack"], environment, output) as process:
            wait_until_healthy(process, port, log)
            yield Cloud(port, root_secret)


def wait_until_healthy(process, port, log):
    give_up = time.monotonic() + START_SECONDS
    while True:
        if process.poll() is not None:
            raise Failed(f"MiniStack ended with code {process.returncode}: see {log.relative_to(ROOT)}")
        with contextlib.suppress(OSError, json.JSONDecodeError):
            with HTTP.open(f"http://127.0.0.1:{port}/_ministack/health", timeout=5) as response:
                json.load(response)
                return
        if time.monotonic() > give_up:
            raise Failed(f"MiniStack does not answer within {START_SECONDS} s: see {log.relative_to(ROOT)}")
        time.sleep(0.1)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
