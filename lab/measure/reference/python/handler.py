"""What get-product does, in Python with boto3."""

import json
import logging
import os

import boto3

logging.getLogger().setLevel(logging.INFO)
CLIENT = boto3.client("dynamodb")
TABLE = os.environ["TABLE_NAME"]


def handle(event, _context):
    product_id = event["pathParameters"]["productId"]
    found = CLIENT.query(
        TableName=TABLE,
        KeyConditionExpression="PK = :pk",
        ExpressionAttributeValues={":pk": {"S": f"p#{product_id}"}},
    )
    product = {"productId": product_id}
    for item in found["Items"]:
        if item["EntityType"]["S"] == "product":
            product |= {name: item[name]["S"] for name in ("name", "description", "category")}
            price = item["price"]["M"]
            product["price"] = {"amount": int(price["amount"]["N"]), "currency": price["currency"]["S"]}
            product["version"] = int(item["version"]["N"])
        elif item["EntityType"]["S"] == "stock":
            product["available"] = int(item["available"]["N"])
    logging.info("answered %s", product_id)
    return {"statusCode": 200, "headers": {"content-type": "application/json"}, "body": json.dumps(product)}
