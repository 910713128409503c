import os
import secrets
import uuid

from till import AuthenticatedClient, Client
from till.api.customers import list_customer_orders, put_cart
from till.api.guests import create_guest, get_guest_order, place_guest_order, quote_guest_basket
from till.api.orders import get_order, place_order
from till.api.products import list_products
from till.models import (
    CountryInput, Destination, GuestBasket, Introduction, Money, NewAddress, NewCart, NewCartLine, NewGuestOrder,
    NewOrder, Problem, RequestedLine,
)

anyone = Client(os.environ["TILL_URL"])
ada = AuthenticatedClient(os.environ["TILL_URL"], os.environ["TILL_TOKEN"])


def key():
    return str(uuid.uuid4())


def money(money):
    return f"{money.amount} {money.currency}"


def order(order):
    return f"{order.status}, {money(order.total)}"


def payment(order):
    return order.invoice.payments[0].type_


def guest():
    products = list_products.sync(client=anyone, category="coffee").items
    beans = next(product for product in products if product.product_id == "espresso-beans")
    print(f"product: {money(beans.price)}, {beans.availability}")
    lines = [RequestedLine("espresso-beans", 2)]
    basket = GuestBasket(lines, ship_to=Destination(CountryInput.DE, postal_code="10115"))
    quote = quote_guest_basket.sync(client=anyone, body=basket)
    print(f"quote of a guest: {money(quote.total)}")

    secret = {"client": anyone, "guest_secret": secrets.token_urlsafe(32)}
    guest = create_guest.sync(**secret, body=Introduction(name="Grace Hopper", email="grace@example.com"))
    home = NewAddress("Berlin", CountryInput.DE, "Weg 1", "Grace Hopper", postal_code="10115")
    new = NewGuestOrder(lines, expected_total=quote.total, ship_to=home)
    placed = place_guest_order.sync(guest.guest_id, **secret, idempotency_key=key(), body=new)
    print(f"order of a guest: {order(placed)}, {payment(placed)}")
    print(f"read: {order(get_guest_order.sync(guest.guest_id, placed.order_id, **secret))}")

    nowhere = GuestBasket(lines, ship_to=Destination(CountryInput.DE, postal_code="1011"))
    problem = quote_guest_basket.sync(client=anyone, body=nowhere)
    print(f"fault: {problem.status}, {problem.errors[0].pointer}, {problem.errors[0].code}")


def customer():
    lines = [NewCartLine("espresso-beans", 2)]
    cart = put_cart.sync("ada", client=ada, body=NewCart(lines))
    print(f"cart: {cart.lines[0].quantity} {cart.lines[0].product_id}")
    new = NewOrder([RequestedLine("espresso-beans", 2)], cart=cart.version)
    placed = place_order.sync(client=ada, idempotency_key=key(), body=new)
    print(f"order: {order(placed)}, {payment(placed)}")
    print(f"read: {order(get_order.sync(placed.order_id, client=ada))}")
    orders = list_customer_orders.sync("ada", client=ada).items
    print(f"listed: {order(next(listed for listed in orders if listed.order_id == placed.order_id))}")

    new.cart, new.expected_total = None, Money(1, "EUR")
    problem = place_order.sync(client=ada, idempotency_key=key(), body=new)
    assert isinstance(problem, Problem)
    print(f"problem: {problem.status}, {problem.type_}, {money(problem.total)}")


guest()
customer()
