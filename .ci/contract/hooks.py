"""Requests about what the demo shop and the nastiest history have. Made-up ids name nothing, and nothing would ever be
ordered."""

import json
import pathlib
import re

import schemathesis
from hypothesis import strategies

PRODUCTS = ["espresso-beans", "filter-beans", "decaf-beans", "hand-grinder", "espresso-cup", "paper-filters"]

HISTORY = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "nastiest.ndjson"


def ids():
    """The ids of the history, by the parameter of a path that takes them. Of many products, the first and the last."""
    found = {}
    for line in HISTORY.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        name = {"discount": "code", "giftCard": "code"}.get(record["type"], record["type"] + "Id")
        identity = record.get(name) or record["customerId"]
        found.setdefault(name, []).append(identity)
        if record["type"] == "order":
            found.setdefault("invoiceId", []).append(record.get("invoiceId", f"inv-{identity}"))
    return {name: [*all_of_them[:3], *all_of_them[-3:]] for name, all_of_them in found.items()}


IDS = ids()
USED = dict.fromkeys(IDS, 0)

schemathesis.openapi.format("entity-tag", strategies.sampled_from(["*", '"1"', '"1", "2"', 'W/"1"', '"abc"']))
schemathesis.openapi.format(
    "date-time-or-date",
    strategies.one_of(strategies.dates().map(str), strategies.datetimes().map(lambda time: f"{time.isoformat()}Z")),
)


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """The coverage phase makes headers of letters and digits alone. Of an entity tag, which has quotes, it finds no right
    value, and then takes a wrong one for right. A format brings values of its own."""
    for operations in raw_schema["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                if parameter["name"] == "If-Match":
                    parameter["schema"]["format"] = "entity-tag"


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """Every other id that could be one is one of the history."""
    for name, value in (path_parameters or {}).items():
        if name in IDS and re.fullmatch("[A-Za-z0-9_-]{1,64}", str(value)):
            USED[name] += 1
            if USED[name] % 2:
                path_parameters[name] = IDS[name][USED[name] // 2 % len(IDS[name])]
    return path_parameters


@schemathesis.hook
def map_body(context, body):
    """Every other line of an order or a cart is of a product that exists."""
    if not isinstance(body, dict) or not isinstance(body.get("lines"), list):
        return body
    for at, line in enumerate(body["lines"]):
        if at < len(PRODUCTS) and isinstance(line, dict) and isinstance(line.get("productId"), str) and len(body["lines"]) < 4:
            line["productId"] = PRODUCTS[at]
    return body
