"""Where MiniStack is not AWS, and the stack has to be brought to what the template says: docs/third-party.md."""

import json
import re

from samcli.yamlhelper import yaml_dump, yaml_parse

from third_party.tools import Failed

# AWS::Backup::BackupSelection is unknown to MiniStack. The template works without it.
PARAMETERS = ["BackupDays=0", "TableIs=created"]


def refused(built):
    """What MiniStack refuses is taken out of the built copies of the two stacks inside. Tells what it was."""
    watch, sign_in = (built / name / "template.yaml" for name in ("Operations", "SignIn"))
    operations, users = yaml_parse(watch.read_text()), yaml_parse(sign_in.read_text())
    unknown = [name for name, one in operations["Resources"].items() if is_unknown_there(one)]
    for name in unknown:
        del operations["Resources"][name]
    # This attribute is missing in MiniStack, but not the one that it is derived from.
    issuer = users["Outputs"]["Issuer"]
    is_unknown = issuer["Value"] == {"Fn::GetAtt": ["Users", "ProviderURL"]}
    if is_unknown:
        issuer["Value"] = {"Fn::Sub": "https://${Users.ProviderName}"}
    watch.write_text(yaml_dump(operations))
    sign_in.write_text(yaml_dump(users))
    return unknown + ["ProviderURL"] * is_unknown


def is_unknown_there(resource):
    """An alarm over an expression, or a saved query."""
    is_over_an_expression = resource["Type"] == "AWS::CloudWatch::Alarm" and "Metrics" in resource["Properties"]
    return is_over_an_expression or resource["Type"] == "AWS::Logs::QueryDefinition"


def lost_attributes(built):
    """In an update of a nested stack, MiniStack forgets the attributes of resources that stay as they are. In the built
    copies of the stacks State and Roles, those of queues are made of their URLs, and those of roles of their names. How
    many."""
    return sum(in_other_ways(built / name / "template.yaml") for name in ("State", "Roles"))


def in_other_ways(file):
    stack = yaml_parse(file.read_text())
    count = 0

    def known(value):
        nonlocal count
        if isinstance(value, list):
            return [known(one) for one in value]
        if not isinstance(value, dict):
            return value
        attribute = value.get("Fn::GetAtt")
        owner, name = (attribute if isinstance(attribute, list) else attribute.split(".")) if attribute else ("", "")
        kind = stack["Resources"].get(owner, {}).get("Type")
        if kind not in ("AWS::SQS::Queue", "AWS::IAM::Role"):
            return {key: known(one) for key, one in value.items()}
        count += 1
        if kind == "AWS::IAM::Role":
            return {"Fn::Sub": f"arn:${{AWS::Partition}}:iam::${{AWS::AccountId}}:role/${{{owner}}}"}
        of_url = {"Fn::Select": [4, {"Fn::Split": ["/", {"Ref": owner}]}]}
        parts = ["arn", {"Ref": "AWS::Partition"}, "sqs", {"Ref": "AWS::Region"}, {"Ref": "AWS::AccountId"}, of_url]
        return {"QueueName": of_url, "Arn": {"Fn::Join": [":", parts]}}[name]

    file.write_text(yaml_dump(known(stack)))
    return count


def without_tls(built):
    """MiniStack has no TLS here, so the buckets' policies of the built copy do not demand it. How many."""
    file, count = built / "template.yaml", 0
    template = yaml_parse(file.read_text())
    for name, resource in list(template["Resources"].items()):
        if resource["Type"] != "AWS::S3::BucketPolicy":
            continue
        document = resource["Properties"]["PolicyDocument"]
        document["Statement"] = [one for one in document["Statement"] if one.get("Sid") != "TlsOnly"]
        if not document["Statement"]:
            del template["Resources"][name]
        count += 1
    file.write_text(yaml_dump(template))
    return count


def routes(cloud, deployment):
    """MiniStack ignores an HTTP API's body. The deployed one is made through the API, call by call. How many routes."""
    api, gateway = deployment.ids["Api"], cloud.client("apigatewayv2")
    body = deployment.template()["Resources"]["Api"]["Properties"]["Body"]
    if gateway.get_routes(ApiId=api)["Items"]:
        raise Failed("MiniStack reads an HTTP API's body now. This step can go, and its row in docs/third-party.md.")
    authorizers = {
        name: authorizer(gateway, api, deployment, name, scheme["x-amazon-apigateway-authorizer"])
        for name, scheme in body["components"]["securitySchemes"].items()
    }
    count = 0
    for path, operations in body["paths"].items():
        for method, operation in operations.items():
            target = integration(gateway, api, cloud, deployment, operation["x-amazon-apigateway-integration"])
            route = {"ApiId": api, "RouteKey": f"{method.upper()} {path}", "Target": f"integrations/{target}"}
            ((name, scopes),) = operation["security"][0].items()
            if name != "NONE":
                route |= {"AuthorizationType": "JWT", "AuthorizerId": authorizers[name], "AuthorizationScopes": scopes}
            gateway.create_route(**route)
            count += 1
    return count


def authorizer(gateway, api, deployment, name, wish):
    jwt = wish["jwtConfiguration"]
    made = gateway.create_authorizer(
        ApiId=api, Name=name, AuthorizerType="JWT", IdentitySource=[wish["identitySource"]],
        JwtConfiguration={
            "Issuer": deployment.value(jwt["issuer"]),
            "Audience": deployment.value(deployment.value(jwt["audience"])),
        },
    )
    return made["AuthorizerId"]


def integration(gateway, api, cloud, deployment, wish):
    """The function is the one that the integration's URI names."""
    (function,) = re.findall(r"\$\{(\w+)\.Arn\}", wish["uri"]["Fn::Sub"])
    arn = cloud.client("lambda").get_function(FunctionName=deployment.ids[function])["Configuration"]["FunctionArn"]
    made = gateway.create_integration(
        ApiId=api, IntegrationType="AWS_PROXY", IntegrationMethod=wish["httpMethod"], IntegrationUri=arn,
        PayloadFormatVersion=wish["payloadFormatVersion"],
    )
    return made["IntegrationId"]


# Condition keys for the keys, the source and the attributes of a call. In MiniStack statements with these conditions never hold.
UNKNOWN = [("Null", "dynamodb:LeadingKeys"), ("Null", "events:source"), ("StringEqualsIfExists", "dynamodb:Select")]


def unknown_conditions(cloud, deployment):
    """Those conditions are taken out of the roles' policies. All else in them is enforced. How many roles."""
    iam, count = cloud.client("iam"), 0
    for role in deployment.nested["Roles"].of_type("AWS::IAM::Role"):
        for name in iam.list_role_policies(RoleName=role)["PolicyNames"]:
            policy = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
            before = json.dumps(policy)
            for condition in [statement["Condition"] for statement in policy["Statement"] if "Condition" in statement]:
                for operator, key in UNKNOWN:
                    if key in condition.get(operator, {}):
                        del condition[operator]
            after = json.dumps(policy)
            if after != before:
                iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=after)
                count += 1
    return count


def concurrency(cloud, deployment):
    """A number from a parameter is a text to MiniStack, on which its queue's poller fails. It is set once more."""
    functions, count = cloud.client("lambda"), 0
    for mapping in deployment.of_type("AWS::Lambda::EventSourceMapping"):
        scaling = functions.get_event_source_mapping(UUID=mapping).get("ScalingConfig")
        if scaling:
            wanted = {"MaximumConcurrency": int(scaling["MaximumConcurrency"])}
            functions.update_event_source_mapping(UUID=mapping, ScalingConfig=wanted)
            count += 1
    return count


def shards(cloud, deployment, name="shardId-only"):
    """MiniStack leaves a tumbling window out, and with it an event's shard. Its streams have one, which is named."""
    functions, count = cloud.client("lambda"), 0
    for logical_id, resource in deployment.template()["Resources"].items():
        # A resource whose condition is false is in the template, but not in the stack.
        if logical_id in deployment.ids and "TumblingWindowInSeconds" in resource.get("Properties", {}):
            function = deployment.ids[resource["Properties"]["FunctionName"]["Ref"]]
            variables = functions.get_function_configuration(FunctionName=function)["Environment"]["Variables"]
            variables["SINGLE_STREAM_SHARD"] = name
            functions.update_function_configuration(FunctionName=function, Environment={"Variables": variables})
            count += 1
    return count
