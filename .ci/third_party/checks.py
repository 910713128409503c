"""Checks of a deployed stack: the scenario, the sample events, and one function deployed by hand."""

import importlib.machinery
import importlib.util
import json
import re

from botocore.exceptions import ClientError

from third_party.deployment import LOGS
from third_party.tools import ROOT, Failed, environment, run


def stranger(cloud):
    """Checks that a user without a policy is refused, so that success below proves that the policies allow it."""
    iam = cloud.client("iam")
    iam.create_user(UserName="stranger")
    key = iam.create_access_key(UserName="stranger")["AccessKey"]
    try:
        cloud.client("dynamodb", (key["AccessKeyId"], key["SecretAccessKey"])).list_tables()
    except ClientError as error:
        if error.response["Error"]["Code"].startswith("AccessDenied"):
            return
        raise
    raise Failed("a stranger may list tables: is AUTH=true still how MiniStack is told to check policies?")


def scenario(variables):
    """Runs `cargo test --test deployed` against this deployment. Returns the lines that it prints for its steps."""
    command = ["cargo", "test", "--locked", "--package", "tests", "--test", "deployed", "--", "--nocapture"]
    wish = f"{(LOGS / 'ministack.log').relative_to(ROOT)} has the functions' logs; --keep leaves the stack running."
    output = run(command, wish, environment(**variables, RUST_BACKTRACE="0"), LOGS / "scenario.log")
    return re.findall(r"^ +[\d.]+ s  .*$", output, re.MULTILINE)


def events(cloud, deployment):
    """Invokes each deployed function with its sample event, in the order of the events' times. Returns the number of
    events."""
    smoke = function_smoke()
    # The stack has no search and one table, so the functions of a search index and of a migration are not deployed, and
    # a search is answered 404.
    names = [name for name in smoke.functions_by_event_time() if resource(name) in deployment.ids]
    names.remove("search-products")
    for name in names:
        try:
            smoke.check(name, invoke(cloud, deployment.ids[resource(name)], ROOT / "events" / f"{name}.json"))
        except smoke.Failed as failure:
            raise Failed(f"{failure}\nRepair the function or events/{name}.json.") from failure
    return len(names)


def function_smoke():
    """Loads .ci/function-smoke, which knows the order of the events and checks the answers."""
    path = str(ROOT / ".ci" / "function-smoke")
    loader = importlib.machinery.SourceFileLoader("function_smoke", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def resource(function):
    """The template's name of the function: the folder's, in capitals."""
    return "".join(word.capitalize() for word in function.split("-"))


def invoke(cloud, function, event):
    command = ["cargo", "lambda", "invoke", "--remote", "--endpoint-url", cloud.url, "--region", cloud.region]
    command += ["--output-format", "json", "--data-file", event, function]
    wish = f"{function} could not be invoked: {(LOGS / 'ministack.log').relative_to(ROOT)} may say why."
    said = run(command, wish, environment(**cloud.variables()))
    try:
        return json.loads(said[said.index("{"):])
    except ValueError as error:
        raise Failed(f"{function} answered {said!r}, which is no JSON: is its code right?") from error


def deploy_one(cloud, deployment, name="get-product"):
    """One function's code, deployed without SAM: its role, variables and address stay what the stack says."""
    functions, function = cloud.client("lambda"), deployment.ids[resource(name)]
    before = functions.get_function_configuration(FunctionName=function)
    command = ["cargo", "lambda", "deploy", "--endpoint-url", cloud.url, "--region", cloud.region]
    command += ["--merge-env", "--binary-name", "reads", function]
    run(command, f"{function} could not be deployed.", environment(**cloud.variables()), LOGS / "deploy-one.log")
    after = functions.get_function_configuration(FunctionName=function)
    if after["RevisionId"] == before["RevisionId"]:
        raise Failed(f"{function} is what it was before cargo lambda deploy: {after}")
    for kept in ("Role", "Environment", "Timeout", "MemorySize", "Architectures", "Handler", "Runtime"):
        if after.get(kept) != before.get(kept):
            raise Failed(f"cargo lambda deploy changed {kept} of {function}: {before.get(kept)}, {after.get(kept)}")
    function_smoke().check(name, invoke(cloud, function, ROOT / "events" / f"{name}.json"))


def refusals(cloud, deployment):
    """Fails if a role does not allow what its function does. How many lines were looked through."""
    pages = cloud.client("logs").get_paginator("filter_log_events").paginate(logGroupName=deployment.ids["Logs"])
    lines = [event["message"] for page in pages for event in page["events"]]
    refused = [line for line in lines if "is not authorized to perform" in line]
    if refused:
        raise Failed(f"a role in stacks/roles.yaml is too narrow; {len(refused)} lines such as\n    {refused[0]}")
    if not lines:
        raise Failed("the functions' log is empty: does MiniStack write it elsewhere?")
    return len(lines)
