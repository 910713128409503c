"""A random shop: orders with codes, which are paid, shipped, delivered, cancelled and returned in parts or as a whole."""

import contextlib
import json
import os
import random
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from third_party.tools import HTTP, ROOT, TARGET, Failed

LOCAL = Path(os.environ.get("CARGO_TARGET_DIR", TARGET)) / "debug" / "local"
ATTEMPTS = 5


class Shop:
    """A running stack, as an admin."""

    def __init__(self, url: str):
        self.url = url
        self.port = url.rsplit(":", 1)[1]
        self.tokens = {}
        self.tokens["admin"] = self.token("admin", "admin")

    def token(self, subject: str, scope: str) -> str:
        return self.request("POST", "/_local/token", {"sub": subject, "scope": scope})["token"]

    def request(self, method: str, path: str, body=None, key=None, customer=None, version=None):
        """The answer. A refusal because of the state of the order or the stock is None."""
        subject = customer or "admin"
        if subject not in self.tokens and customer:
            self.tokens[customer] = self.token(customer, "shop")
        headers = {"Content-Type": "application/json"}
        if subject in self.tokens:
            headers["Authorization"] = f"Bearer {self.tokens[subject]}"
        if key:
            headers["Idempotency-Key"] = key
        if version:
            headers["If-Match"] = f'"{version}"'
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with HTTP.open(request, timeout=60) as answer:
                    text = answer.read()
                    return json.loads(text) if text else {}
            except urllib.error.HTTPError as error:
                if error.code in (409, 422):
                    return None
                # A machine with much else to do.
                if error.code != 503 or attempt == ATTEMPTS:
                    raise Failed(f"{method} {path}: {error.code} {error.read().decode()}") from error
                time.sleep(attempt)

    def get(self, path: str):
        return self.request("GET", path)

    def all(self, path: str, **query) -> list:
        """The items of all pages."""
        items, query = [], {**query, "limit": 100}
        while True:
            page = self.get(f"{path}?{urllib.parse.urlencode(query)}")
            items += page["items"]
            if not page["next"]:
                return items
            query["cursor"] = page["next"]


@contextlib.contextmanager
def running(tables: str):
    """An empty stack with a table of this layout."""
    words = [LOCAL, "--port", "0", "--quiet", "--empty", "--tables", tables]
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        if not line.startswith("listening on "):
            raise Failed(f"the stack did not start: {line!r}")
        yield Shop(line.removeprefix("listening on ").strip())
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)


CATEGORIES = ("coffee", "kitchen", "equipment")
PRODUCTS = [f"product-{n}" for n in range(9)]
CODES = {"TEN": (10, None), "THIRD": (33, 40), "SELDOM": (7, None), "COFFEE": (20, None), "MORE": (5, 40)}
# Codes that an order may have beside others.
COMBINABLE = {"COFFEE": {"category": "coffee"}, "MORE": {}}


def make(shop: Shop, chance: random.Random, orders: int, first: int = 0) -> None:
    """Places orders, and takes each of them a random part of its way."""
    customers = [f"customer-{n}" for n in range(7)]
    if first == 0:
        for name in customers:
            body = {"username": name, "email": f"{name}@example.com", "name": name}
            shop.request("POST", "/customers", body, customer=name)
        for n, name in enumerate(PRODUCTS):
            # Half of a discount of one cent falls to each of the first two.
            price = {"amount": 5 if n < 2 else chance.randrange(1, 9999), "currency": "EUR"}
            body = {"productId": name, "name": name, "description": name, "category": CATEGORIES[n % 3]}
            shop.request("POST", "/products", {**body, "price": price, "stock": 200})
        shop.request("PATCH", f"/products/{PRODUCTS[0]}", {"cells": 4}, version=1)
        for code, (percent, uses) in CODES.items():
            body = {"code": code, "percent": percent} | ({"maxUses": uses} if uses else {})
            more = {"combinable": True, **COMBINABLE[code]} if code in COMBINABLE else {}
            shop.request("POST", "/discounts", body | more)
        for product in PRODUCTS[:2]:
            halves(shop, customers[0], product)
    for n in range(first, first + orders):
        lines = chance.sample(PRODUCTS[:-1], chance.randint(1, 4))
        body = {"lines": [{"productId": product, "quantity": chance.randint(1, 7)} for product in lines]}
        codes = chance.choice([[], [], ["TEN"], ["THIRD"], ["COFFEE"], ["COFFEE", "MORE"], ["MORE", "COFFEE"]])
        # The last customer orders once, and nothing is cancelled.
        customer = customers[-1] if n == 0 else chance.choice(customers[:-1])
        body |= {"discountCode": codes[0]} if codes == ["TEN"] else {"discountCodes": codes}
        # An order without a line of the category is refused.
        order = shop.request("POST", "/orders", body, f"o-{n}", customer)
        if order and n > 0:
            go_on(shop, chance, order, customer)


def go_on(shop: Shop, chance: random.Random, order: dict, customer: str) -> None:
    path, invoice = f"/orders/{order['orderId']}", order["invoice"]["invoiceId"]
    ways = ("stay", "cancel", "pay", "cancel a part", "deliver", "return", "return", "cancel after payment")
    way = chance.choice(ways)
    if way == "cancel":
        shop.request("POST", f"{path}/cancellation", {}, customer=customer)
    if way in ("stay", "cancel"):
        return
    shop.request("POST", f"/invoices/{invoice}/payments", {"reference": f"bank-{order['orderId']}"})
    if way == "cancel after payment":
        shop.request("POST", f"{path}/cancellation", {})
    if way == "cancel a part":
        shop.request("POST", f"{path}/cancellation", {"lines": [some(chance, order)]})
    if way in ("pay", "cancel after payment"):
        return
    shop.request("POST", f"{path}/status", {"status": "SHIPPED"})
    shop.request("POST", f"{path}/status", {"status": "DELIVERED"})
    for n in range(chance.randint(1, 2) if way == "return" else 0):
        body = {"lines": [some(chance, order)]}
        back = shop.request("POST", f"{path}/returns", body, f"r-{n}", customer)
        what = chance.choice(["wait", "receive", "receive", "refuse"])
        if back and what != "wait":
            receipt = {"accepted": True, "restock": chance.random() < 0.5} if what == "receive" else {"accepted": False}
            receipt |= {} if what == "receive" else {"reason": "not ours"}
            shop.request("POST", f"/returns/{back['returnId']}/receipt", receipt)


def halves(shop: Shop, customer: str, product: str) -> None:
    """An order of which one line is cancelled, with half a cent of its discount."""
    lines = [{"productId": product, "quantity": 1} for product in PRODUCTS[:2]]
    order = shop.request("POST", "/orders", {"lines": lines, "discountCode": "TEN"}, f"halves-{product}", customer)
    shop.request("POST", f"/invoices/{order['invoice']['invoiceId']}/payments", {"reference": f"bank-{product}"})
    shop.request("POST", f"/orders/{order['orderId']}/cancellation", {"lines": [{"productId": product, "quantity": 1}]})


def some(chance: random.Random, order: dict) -> dict:
    """Some units of one line."""
    line = chance.choice(order["lines"])
    return {"productId": line["productId"], "quantity": chance.randint(1, line["quantity"])}
