"""The template, checked, built and deployed by the SAM CLI as a customer would do it, and what came of it."""

import json
import platform
from collections import Counter

from third_party.tools import ROOT, TARGET, Failed, environment, run

STACK = "till"
LOGS = TARGET / "third-party"
BUCKET = "till-artifacts"
# Not the folder of a user's own `sam build`: this build is not for AWS.
BUILT = LOGS / "build"
ARCHITECTURE = "arm64" if platform.machine() in ("aarch64", "arm64") else "x86_64"

# Fat link-time optimisation takes minutes, and nothing is measured here.
QUICK = {
    "CARGO_PROFILE_RELEASE_LTO": "off",
    "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
    "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
}


def validate():
    run(["sam", "validate", "--lint"], "Mend the template.", environment(), LOGS / "validate.log")


def build():
    command = ["sam", "build", "--build-dir", BUILT, "--parameter-overrides", f"Architecture={ARCHITECTURE}"]
    run(command, "Is the template right, and every function built?", environment(**QUICK), LOGS / "build.log")


def deploy(cloud, parameters):
    """The template as it is, by a bucket that is made here: the one that SAM makes refuses who comes without TLS."""
    location = {"LocationConstraint": cloud.client("s3").meta.region_name}
    cloud.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration=location)
    command = ["sam", "deploy", "--no-confirm-changeset", "--no-progressbar", "--no-resolve-s3", "--s3-bucket", BUCKET]
    command += ["--template-file", BUILT / "template.yaml", "--config-file", ROOT / "samconfig.toml"]
    command += ["--parameter-overrides", f"Architecture={ARCHITECTURE}", *parameters]
    wish = f"The stack's events are above, MiniStack's log is {(LOGS / 'ministack.log').relative_to(ROOT)}."
    run(command, wish, environment(**cloud.variables()), LOGS / "deploy.log")


def delete(cloud, stack):
    """By CloudFormation, because `sam delete` only understands where the templates of the stacks inside are if that is
    AWS. The table and the queues with orders have to be left: a deletion by mistake must not lose the orders."""
    cloudformation, sqs = cloud.client("cloudformation"), cloud.client("sqs")
    queues = {url.rsplit("/", 1)[1] for url in stack.nested["State"].of_type("AWS::SQS::Queue")}
    cloudformation.delete_stack(StackName=stack.name)
    cloudformation.get_waiter("stack_delete_complete").wait(StackName=stack.name, WaiterConfig={"Delay": 1})
    left = {url.rsplit("/", 1)[1] for url in sqs.list_queues().get("QueueUrls", [])}
    if len(queues) != 2 or not queues <= left:
        raise Failed(f"of the queues with orders {queues} only {left} are left after the deletion of the stack")
    if stack.outputs["TableName"] not in cloud.client("dynamodb").list_tables()["TableNames"]:
        raise Failed("the table was deleted with the stack: the policy of State in template.yaml is to retain it")


class Deployment:
    """A stack as it was deployed."""

    def __init__(self, cloud, name=STACK):
        self.cloudformation = cloud.client("cloudformation")
        (stack,) = self.cloudformation.describe_stacks(StackName=name)["Stacks"]
        self.name = name
        self.parameters = {one["ParameterKey"]: one["ParameterValue"] for one in stack.get("Parameters", [])}
        self.outputs = {one["OutputKey"]: one["OutputValue"] for one in stack.get("Outputs", [])}
        pages = self.cloudformation.get_paginator("list_stack_resources").paginate(StackName=name)
        self.resources = [one for page in pages for one in page["StackResourceSummaries"]]
        self.ids = {one["LogicalResourceId"]: one["PhysicalResourceId"] for one in self.resources}
        nested = [one for one in self.resources if one["ResourceType"] == "AWS::CloudFormation::Stack"]
        self.nested = {one["LogicalResourceId"]: Deployment(cloud, one["PhysicalResourceId"]) for one in nested}

    def template(self):
        """What CloudFormation made of the template."""
        return self.cloudformation.get_template(StackName=self.name, TemplateStage="Processed")["TemplateBody"]

    def kinds(self):
        """How many resources of each type there are, nested ones included."""
        kinds = Counter(one["ResourceType"] for one in self.resources)
        return sum((one.kinds() for one in self.nested.values()), kinds)

    def of_type(self, kind):
        return [one["PhysicalResourceId"] for one in self.resources if one["ResourceType"] == kind]

    def value(self, value):
        """What an intrinsic function comes to in this stack, as far as the template's HTTP API needs it."""
        if isinstance(value, list):
            return [self.value(one) for one in value]
        if not isinstance(value, dict) or len(value) != 1:
            return value
        ((name, argument),) = value.items()
        if name == "Ref":
            return self.parameters.get(argument) or self.ids.get(argument, "")
        if name == "Fn::If":
            condition, yes, no = argument
            return self.value(yes if self.holds(self.template()["Conditions"][condition]) else no)
        if name == "Fn::GetAtt":
            resource, attribute = argument if isinstance(argument, list) else argument.split(".", 1)
            return self.nested[resource].outputs[attribute.removeprefix("Outputs.")]
        return value

    def holds(self, condition):
        ((name, argument),) = condition.items()
        if name == "Fn::Not":
            return not self.holds(argument[0])
        if name == "Fn::Equals":
            left, right = self.value(argument)
            return left == right
        if name == "Condition":
            return self.holds(self.template()["Conditions"][argument])
        raise NotImplementedError(f"a condition of {name}")
