"""The steps, one after the other."""

import contextlib
import shlex
import signal

from third_party import checks, deployment, differences, page, restore, sign_in
from third_party.cloud import cloud
from third_party.deployment import LOGS, Deployment
from third_party.tools import Failed, step


def run(options):
    LOGS.mkdir(parents=True, exist_ok=True)
    if not options.reuse_build:
        build()
    with contextlib.ExitStack() as running:
        with step("MiniStack"):
            aws = running.enter_context(cloud(LOGS / "ministack.log"))
        stack = deploy(aws)
        variables = {**aws.variables(), **where(aws, stack), **sign_in.variables(aws, stack)}
        try:
            check(aws, variables)
            # Before the sample events, whose made-up counts the audit of the restored table would find.
            stack = lose_and_restore(aws, stack, variables)
            invoke(aws, stack)
            with step("The first order, by the commands of docs/deploying.md") as facts:
                facts.append(page.first_order(aws, stack, variables))
        except Failed as failure:
            if not options.keep:
                raise
            print(f"\n{failure}")
        if options.keep:
            keep(variables)
        else:
            with step("Deletion of the stack, not of the table and the queues"):
                deployment.delete(aws, stack)


def build():
    with step("sam validate --lint"):
        deployment.validate()
    with step("sam build, not optimised"):
        deployment.build()
    with step("Difference: what is refused") as facts:
        facts.append(f"left out: {', '.join(differences.refused(deployment.BUILT))}")
    with step("Difference: attributes of nested resources") as facts:
        facts.append(f"{differences.lost_attributes(deployment.BUILT)} written in another way")
    with step("Difference: buckets that demand TLS") as facts:
        facts.append(f"{differences.without_tls(deployment.BUILT)} do not demand it here")


def deploy(aws):
    with step("sam deploy") as facts:
        deployment.deploy(aws, [*sign_in.parameters(), *differences.PARAMETERS])
        stack = Deployment(aws)
        facts.append(f"{sum(stack.kinds().values())} resources")
    with step("Difference: routes of the HTTP API's body") as facts:
        facts.append(f"{differences.routes(aws, stack)} made through the API")
    with step("Difference: conditions on keys and sources") as facts:
        facts.append(f"left out of {differences.unknown_conditions(aws, stack)} roles")
    with step("Difference: numbers that come from parameters") as facts:
        facts.append(f"set again for {differences.concurrency(aws, stack)} event source")
    with step("Difference: shards in events") as facts:
        facts.append(f"named for {differences.shards(aws, stack)} function")
    return stack


def check(aws, variables):
    with step("A stranger is refused"):
        checks.stranger(aws)
    with step("Story") as facts:
        steps = checks.scenario(variables)
        facts.append(f"{len(steps)} steps")
    print("\n".join(steps))


def invoke(aws, stack):
    with step("Sample events, by cargo lambda invoke") as facts:
        facts.append(f"{checks.events(aws, stack)} answered as they should be")
    with step("One function, by cargo lambda deploy"):
        checks.deploy_one(aws, stack)
    with step("What the functions say they were refused") as facts:
        facts.append(f"nothing in {checks.refusals(aws, stack)} lines of their log")


def lose_and_restore(aws, stack, variables):
    with step("The table is lost") as facts:
        backup, items = restore.lose(aws, stack)
        facts.append(f"{len(items)} items")
    with step("It is restored, by .ci/restore-table"):
        stack, steps = restore.restore(aws, backup)
    print("\n".join(steps))
    with step("The items of the lost table") as facts:
        facts.append(f"{restore.compare(aws, stack, items)} are as they were")
    with step("Story, in the restored shop") as facts:
        facts.append(f"{len(checks.scenario(variables))} steps")
    with step("What the functions say they were refused") as facts:
        facts.append(f"nothing in {checks.refusals(aws, stack)} lines of their log")
    return stack


def where(aws, stack):
    """The scenario's variables: the stack's outputs, and the API's name in MiniStack."""
    api = aws.client("apigatewayv2").get_api(ApiId=stack.ids["Api"])
    return {
        "TILL_API_URL": api["ApiEndpoint"],
        "TILL_GATEWAY": "names-no-requests",
        "TILL_WRITE_QUEUE_ARN": stack.outputs["WriteQueueArn"],
        "TILL_DEAD_LETTERS_ARN": stack.outputs["DeadLettersArn"],
    }


def keep(variables):
    print("\nThe stack is running. In another terminal:\n")
    print("\n".join(f"    export {name}={shlex.quote(value)}" for name, value in variables.items()))
    print("\n    cargo test -p tests --test deployed -- --nocapture")
    print("\nCtrl-C stops it.", flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        print()
