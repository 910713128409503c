import { randomBytes, randomUUID } from "node:crypto";
import * as till from "./till";

const basePath = process.env.TILL_URL;
const guests = new till.GuestsApi(new till.Configuration({ basePath }));
const products = new till.ProductsApi(new till.Configuration({ basePath }));
const signedIn = new till.Configuration({ basePath, accessToken: process.env.TILL_TOKEN });
const customers = new till.CustomersApi(signedIn);
const orders = new till.OrdersApi(signedIn);
const lines = [{ productId: "espresso-beans", quantity: 2 }];
const money = ({ amount, currency }: till.Money) => `${amount} ${currency}`;
const order = ({ status, total }: till.OrderState) => `${status}, ${total ? money(total) : "-"}`;
const payment = (order: till.Order) => order.invoice?.payments[0].type;

/** The problem of a request that the shop refuses. */
async function refused(request: Promise<unknown>): Promise<till.Problem> {
  const error = await request.then(() => undefined, (error) => error);
  if (error instanceof till.ResponseError) return till.ProblemFromJSON(await error.response.json());
  throw new Error(`not refused: ${error}`);
}

async function guest() {
  const { items } = await products.listProducts({ category: "coffee" });
  const beans = items.find((product) => product.productId === "espresso-beans")!;
  console.log(`product: ${money(beans.price)}, ${beans.availability}`);
  const shipTo = { country: till.CountryInput.De, postalCode: "10115" };
  const quote = await guests.quoteGuestBasket({ guestBasket: { lines, shipTo } });
  console.log(`quote of a guest: ${money(quote.total)}`);

  const guestSecret = randomBytes(32).toString("base64url");
  const introduction = { name: "Grace Hopper", email: "grace@example.com" };
  const { guestId } = await guests.createGuest({ guestSecret, introduction });
  const home = { ...shipTo, name: introduction.name, line1: "Weg 1", city: "Berlin" };
  const newGuestOrder = { lines, expectedTotal: quote.total, shipTo: home };
  const placed = await guests.placeGuestOrder({ guestId, guestSecret, idempotencyKey: randomUUID(), newGuestOrder });
  console.log(`order of a guest: ${order(placed)}, ${payment(placed)}`);
  console.log(`read: ${order(await guests.getGuestOrder({ guestId, guestSecret, orderId: placed.orderId }))}`);

  const nowhere = { ...shipTo, postalCode: "1011" };
  const { status, errors } = await refused(guests.quoteGuestBasket({ guestBasket: { lines, shipTo: nowhere } }));
  console.log(`fault: ${status}, ${errors![0].pointer}, ${errors![0].code}`);
}

async function customer() {
  const customerId = "ada";
  const cart = await customers.putCart({ customerId, newCart: { lines } });
  console.log(`cart: ${cart.lines[0].quantity} ${cart.lines[0].productId}`);
  const place = (newOrder: till.NewOrder) => orders.placeOrder({ idempotencyKey: randomUUID(), newOrder });
  const placed = await place({ lines, cart: cart.version });
  console.log(`order: ${order(placed)}, ${payment(placed)}`);
  console.log(`read: ${order(await orders.getOrder({ orderId: placed.orderId }))}`);
  const { items } = await customers.listCustomerOrders({ customerId });
  console.log(`listed: ${order(items.find((order) => order.orderId === placed.orderId)!)}`);

  const problem = await refused(place({ lines, expectedTotal: { amount: 1, currency: "EUR" } }));
  console.log(`problem: ${problem.status}, ${problem.type}, ${money(problem.total!)}`);
}

guest().then(customer);
