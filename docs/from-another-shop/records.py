"""Makes records of a history (history.md) of another shop's export, in NDJSON.

    python3 records.py shopify orders_export.csv > history.ndjson
    python3 records.py woocommerce orders.json > history.ndjson
"""

import base64
import csv
import hashlib
import json
import re
import sys
from decimal import Decimal

WITHOUT_MINOR_UNITS = {"BIF", "CLP", "DJF", "GNF", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"}
WITH_THOUSANDTHS = {"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"}


def digits(currency):
    return 0 if currency in WITHOUT_MINOR_UNITS else 3 if currency in WITH_THOUSANDTHS else 2


def minor(amount, currency):
    return int((Decimal(str(amount or 0)) * 10 ** digits(currency)).to_integral_value())


def an_id(text, otherwise):
    """What an id may hold of a text. A number as long as that of a payment card gets a letter in front."""
    text = re.sub(r"[^A-Za-z0-9_]+", "-", text or "").strip("-") or otherwise
    return ("n" + text if re.fullmatch(r"[0-9-]{12,}", text) else text)[:60]


def name(text, otherwise="-"):
    return " ".join("".join(c for c in text or "" if c.isprintable() or c.isspace()).split())[:200] or otherwise


def moment(text):
    """`2024-05-01 12:00:00 +0200` and `2024-05-01T10:00:00`, which is in UTC, as RFC 3339."""
    day, time, zone = re.fullmatch(r"(\S{10})[ T](\d\d:\d\d:\d\d)(?: ?([+-]\d\d):?(\d\d))?.*", text).group(1, 2, 3) if text else (0, 0, 0)
    return text and f"{day}T{time}" + (f"{zone}:{text.strip()[-2:]}" if zone else "Z")


def shopify(file):
    """The orders of a CSV export: the first row of an order has everything but its further lines."""
    orders = {}
    for row in csv.DictReader(file):
        order = orders.setdefault(row["Name"], row | {"lines": []})
        order["lines"].append((row["Lineitem sku"], row["Lineitem name"], int(row["Lineitem quantity"]), row["Lineitem price"]))
    for order in orders.values():
        paid = order["Financial Status"]
        yield {
            "id": order["Name"], "email": order["Email"], "name": order["Billing Name"] or order["Shipping Name"],
            "at": moment(order["Created at"]), "currency": order["Currency"], "lines": order["lines"], "fees": [],
            "total": order["Total"], "shipping": order["Shipping"], "method": order["Shipping Method"],
            "codes": [(order["Discount Code"], order["Discount Amount"])],
            "refunded": order["Refunded Amount"], "cancelled": moment(order.get("Cancelled at") or order.get("Canceled at")),
            "delivered": moment(order["Fulfilled at"]) if order["Fulfillment Status"] == "fulfilled" else None,
            "is_paid": paid in ("paid", "refunded", "partially_refunded"),
            "reference": order.get("Payment References") or order.get("Payment Reference"),
            "to": [order["Shipping " + part] for part in ("Name", "Address1", "Address2", "City", "Zip", "Province", "Country")],
        }


def woocommerce(file):
    """The orders of `GET /wp-json/wc/v3/orders`."""
    for order in json.load(file):
        to, status = order["shipping"], order["status"]
        # `subtotal` is a line before the coupons. If it does not divide by the units, some units cost a cent more.
        cent, lines = Decimal(1) / 10 ** digits(order["currency"]), []
        for line in order["line_items"]:
            units, subtotal = line["quantity"], Decimal(line["subtotal"])
            each = subtotal / units // cent * cent
            more = int((subtotal - each * units) / cent)
            lines += [(line["sku"], line["name"], some, price) for some, price in ((units - more, each), (more, each + cent)) if some]
        yield {
            "id": order["number"], "email": order["billing"]["email"],
            "name": f"{order['billing']['first_name']} {order['billing']['last_name']}",
            "at": moment(order["date_created_gmt"]), "currency": order["currency"], "lines": lines,
            "fees": [(fee["name"], fee["total"]) for fee in order["fee_lines"]], "total": order["total"],
            "shipping": order["shipping_total"], "method": next((line["method_title"] for line in order["shipping_lines"]), ""),
            "codes": [(coupon["code"], coupon["discount"]) for coupon in order["coupon_lines"]],
            "refunded": sum(-Decimal(refund["total"]) for refund in order["refunds"]),
            "cancelled": moment(order["date_modified_gmt"]) if status == "cancelled" else None,
            "delivered": moment(order["date_completed_gmt"]), "is_paid": bool(order["date_paid_gmt"]),
            "reference": order["transaction_id"],
            "to": [f"{to['first_name']} {to['last_name']}", to["address_1"], to["address_2"], to["city"], to["postcode"], to["state"], to["country"]],
        }


def records(orders):
    customers, products = {}, {}
    for order in orders:
        currency = order["currency"]
        money = lambda amount: {"amount": amount, "currency": currency}
        order_id, at = an_id(order["id"], "order"), order["at"]
        if not (order["is_paid"] or order["cancelled"]):
            print(f"{order['id']} is not paid, and is left out", file=sys.stderr)
            continue
        email = order["email"] or "walk-in@example.invalid"
        customer = "c-" + hashlib.sha256(email.lower().encode()).hexdigest()[:16]
        customers.setdefault(customer, {
            "type": "customer", "customerId": customer, "username": customer, "email": email,
            "name": name(order["name"]), "createdAt": at,
        })
        lines = [(an_id(sku, an_id(text, "product")), text, units, minor(price, currency)) for sku, text, units, price in order["lines"]]
        lines += [(an_id("fee-" + text, "fee"), text, 1, minor(amount, currency)) for text, amount in order["fees"]]
        # The lines of a product become one line. The last line may be tax and tips.
        most = 200 if order["cancelled"] or order["delivered"] else 40
        kept = list(dict.fromkeys(product for product, *_ in lines))
        if len(kept) >= most:
            rest = sum(units * price for product, _, units, price in lines if product not in kept[:most - 2])
            lines = [line for line in lines if line[0] in kept[:most - 2]] + [("further-lines", "Further lines", 1, rest)]
        codes = [(an_id(code, "discount"), minor(amount, currency)) for code, amount in order["codes"] if minor(amount, currency)]
        discount, shipping, total = sum(amount for _, amount in codes), minor(order["shipping"], currency), minor(order["total"], currency)
        # Tax and tips that the export adds to the total alone.
        more = total + discount - shipping - sum(units * price for _, _, units, price in lines)
        if more > 0:
            lines.append(("tax-and-tips", "Tax and tips", 1, more))
        # Prices that were reduced without a code.
        discount += max(-more, 0)
        own = []
        for product, text, units, price in lines:
            own.append({"productId": product, "name": name(text), "quantity": units, "unitPrice": money(price)})
            products.setdefault(product, {
                "type": "product", "productId": product, "name": name(text), "category": "history", "price": money(price), "listed": False,
            })
        paid = total if order["is_paid"] else 0
        back = paid if order["cancelled"] else minor(order["refunded"], currency)
        card = {"amount": money(total)}
        if paid:
            card["transfer"] = {"reference": name(order["reference"], "unknown"), "amount": paid}
        if back:
            card["refunds"] = [{"reference": "refund", "amount": back}]
        record = {
            "type": "order", "orderId": order_id, "customerId": customer, "placedAt": at, "lines": own, "total": money(total),
            "status": "CANCELLED" if order["cancelled"] else "DELIVERED" if order["delivered"] else "PAID",
        }
        if total:
            record["card"] = card
        if discount:
            record |= {"discount": money(discount), "codes": [{"code": code, "amount": money(amount)} for code, amount in codes]}
        if shipping or order["method"]:
            record["shipping"] = money(shipping)
            if order["method"]:
                record["shippingMethod"] = {"methodId": an_id(order["method"], "shipping"), "name": name(order["method"])[:100]}
        if order["cancelled"]:
            record["cancellation"] = {"at": order["cancelled"]}
        elif order["delivered"]:
            record["deliveredAt"] = order["delivered"]
        if back and not order["cancelled"]:
            key = base64.urlsafe_b64encode(hashlib.sha256(order_id.encode()).digest()).decode().rstrip("=")
            record["allowances"] = [{"key": key, "amount": back, "reason": "Refunded in the earlier shop", "at": order["delivered"] or at}]
        parts = zip(("name", "line1", "line2", "city", "postalCode", "region", "country"), order["to"])
        to = {part: name(text)[:100] for part, text in parts if text and text.strip()}
        if {"name", "line1", "city", "country"} <= to.keys():
            to["postalCode"] = to.get("postalCode", "").lstrip("'")
            record["shipTo"] = {part: text for part, text in to.items() if text}
        yield record
    yield from customers.values()
    yield from products.values()


with open(sys.argv[2], newline="", encoding="utf-8-sig") as file:
    for record in records({"shopify": shopify, "woocommerce": woocommerce}[sys.argv[1]](file)):
        print(json.dumps(record, ensure_ascii=False))
