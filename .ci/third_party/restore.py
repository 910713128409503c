"""The table is lost, and .ci/restore-table brings the shop back."""

import re

from third_party import differences
from third_party.deployment import LOGS, Deployment
from third_party.tools import ROOT, Failed, environment, run

NAME = "till-restored"


def lose(cloud, deployment):
    """Deletes the table. DynamoDB keeps a system backup of a deleted table; MiniStack does not, so one is made before.
    Returns the backup's ARN, and the items that the table had."""
    dynamodb, table = cloud.client("dynamodb"), deployment.outputs["TableName"]
    items = contents(dynamodb, table)
    backup = dynamodb.create_backup(TableName=table, BackupName="system")["BackupDetails"]["BackupArn"]
    dynamodb.update_table(TableName=table, DeletionProtectionEnabled=False)
    dynamodb.delete_table(TableName=table)
    return backup, items


def restore(cloud, backup):
    """Runs the script up to the closed shop, repairs what MiniStack does differently, and runs it to its end. Returns the
    deployment, and the lines that the script prints for its steps."""
    command = [ROOT / ".ci" / "restore-table", "--as", NAME, "--backup", backup]
    variables = environment(**cloud.variables())
    log = (LOGS / "ministack.log").relative_to(ROOT)
    said = run([*command, "--stay-closed"], f"The shop was not restored; {log} may say why.", variables, LOGS / "restore.log")
    correct(cloud)
    run(command, f"The shop was not opened; {log} may say why.", variables, LOGS / "open.log")
    # Opening the shop changes each function and each event source.
    return correct(cloud), re.findall(r"^\d\d:\d\d:\d\d  .*$|^ +\d+ s$", said, re.MULTILINE)


def correct(cloud):
    """Repairs what MiniStack does differently, as after the deployment. Returns the deployment."""
    deployment = Deployment(cloud)
    differences.unknown_conditions(cloud, deployment)
    differences.concurrency(cloud, deployment)
    # The checkpoint of the lost table's stream is in the restored table. On AWS the new stream has other shards.
    differences.shards(cloud, deployment, "shardId-restored")
    return deployment


def compare(cloud, deployment, before):
    """Checks that the stack uses the restored table, and that it has every item as it was. Returns their number."""
    table, dynamodb = deployment.outputs["TableName"], cloud.client("dynamodb")
    if table != NAME:
        raise Failed(f"the stack uses {table}, and not {NAME}")
    after = contents(dynamodb, table)
    lacking = [key for key, item in before.items() if after.get(key) != item]
    if lacking:
        raise Failed(f"{len(lacking)} items are not as they were, such as {lacking[0]}")
    described = dynamodb.describe_table(TableName=table)["Table"]
    if not described["DeletionProtectionEnabled"] or described["StreamSpecification"]["StreamViewType"] != "NEW_AND_OLD_IMAGES":
        raise Failed(f"the restored table lacks its protection or its stream: {described}")
    return len(before)


def contents(dynamodb, table):
    pages = dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
    return {(item["PK"]["S"], item["SK"]["S"]): item for page in pages for item in page["Items"]}
