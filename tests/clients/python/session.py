import os
import secrets
import uuid

import till
from till import (
    CountryInput, Destination, GuestBasket, Introduction, Money, NewAddress, NewCart, NewCartLine, NewGuestOrder,
    NewOrder, RequestedLine,
)

anyone = till.ApiClient(till.Configuration(host=os.environ["TILL_URL"]))
ada = till.ApiClient(till.Configuration(host=os.environ["TILL_URL"], access_token=os.environ["TILL_TOKEN"]))


def key():
    return str(uuid.uuid4())


def money(money):
    return f"{money.amount} {money.currency}"


def order(order):
    return f"{order.status}, {money(order.total)}"


def payment(order):
    return order.invoice.payments[0].type


def refused(request):
    """The problem of a request that the shop refuses."""
    try:
        raise AssertionError(f"not refused: {request()}")
    except till.ApiException as refusal:
        return refusal.data


def guest():
    products = till.ProductsApi(anyone).list_products(category="coffee").items
    beans = next(product for product in products if product.product_id == "espresso-beans")
    print(f"product: {money(beans.price)}, {beans.availability}")
    guests = till.GuestsApi(anyone)
    lines = [RequestedLine(product_id="espresso-beans", quantity=2)]
    ship_to = Destination(country=CountryInput.DE, postal_code="10115")
    quote = guests.quote_guest_basket(GuestBasket(lines=lines, ship_to=ship_to))
    print(f"quote of a guest: {money(quote.total)}")

    secret = secrets.token_urlsafe(32)
    guest = guests.create_guest(secret, Introduction(name="Grace Hopper", email="grace@example.com"))
    home = NewAddress(name="Grace Hopper", line1="Weg 1", city="Berlin", country=CountryInput.DE, postal_code="10115")
    new = NewGuestOrder(lines=lines, expected_total=quote.total, ship_to=home)
    placed = guests.place_guest_order(guest.guest_id, secret, key(), new)
    print(f"order of a guest: {order(placed)}, {payment(placed)}")
    read = guests.get_guest_order(guest.guest_id, secret, placed.order_id)
    print(f"read: {order(read)}")

    ship_to.postal_code = "1011"
    problem = refused(lambda: guests.quote_guest_basket(GuestBasket(lines=lines, ship_to=ship_to)))
    print(f"fault: {problem.status}, {problem.errors[0].pointer}, {problem.errors[0].code}")


def customer():
    customers, orders = till.CustomersApi(ada), till.OrdersApi(ada)
    cart = customers.put_cart("ada", NewCart(lines=[NewCartLine(product_id="espresso-beans", quantity=2)]))
    print(f"cart: {cart.lines[0].quantity} {cart.lines[0].product_id}")
    new = NewOrder(lines=[RequestedLine(product_id="espresso-beans", quantity=2)], cart=cart.version)
    placed = orders.place_order(key(), new)
    print(f"order: {order(placed)}, {payment(placed)}")
    print(f"read: {order(orders.get_order(placed.order_id))}")
    listed = customers.list_customer_orders("ada").items
    print(f"listed: {order(next(listed for listed in listed if listed.order_id == placed.order_id))}")

    new.cart, new.expected_total = None, Money(amount=1, currency="EUR")
    problem = refused(lambda: orders.place_order(key(), new))
    print(f"problem: {problem.status}, {problem.type}, {money(problem.total)}")


guest()
customer()
