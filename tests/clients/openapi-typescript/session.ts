import { randomBytes, randomUUID } from "node:crypto";
import createClient from "openapi-fetch";
import type { components, paths } from "./till";

type Schemas = components["schemas"];

const shop = createClient<paths>({ baseUrl: process.env.TILL_URL });
const headers = { Authorization: `Bearer ${process.env.TILL_TOKEN}` };
const lines = [{ productId: "espresso-beans", quantity: 2 }];
const money = ({ amount, currency }: Schemas["Money"]) => `${amount} ${currency}`;
const order = ({ status, total }: Schemas["OrderState"]) => `${status}, ${total ? money(total) : "-"}`;
const payment = (order: Schemas["Order"]) => order.invoice?.payments[0].type;

/** The answer, or the problem as an exception. */
function done<T>({ data, error }: { data?: T; error?: unknown }): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

async function guest() {
  const products = done(await shop.GET("/products", { params: { query: { category: "coffee" } } }));
  const beans = products.items.find((product) => product.productId === "espresso-beans")!;
  console.log(`product: ${money(beans.price)}, ${beans.availability}`);
  const shipTo = { country: "DE", postalCode: "10115" } as const;
  const quote = done(await shop.POST("/guests/quotes", { body: { lines, shipTo } }));
  console.log(`quote of a guest: ${money(quote.total)}`);

  const header = { "Guest-Secret": randomBytes(32).toString("base64url") };
  const body = { name: "Grace Hopper", email: "grace@example.com" };
  const { guestId } = done(await shop.POST("/guests", { params: { header }, body }));
  const placed = done(
    await shop.POST("/guests/{guestId}/orders", {
      params: { path: { guestId }, header: { ...header, "Idempotency-Key": randomUUID() } },
      body: { lines, expectedTotal: quote.total, shipTo: { ...shipTo, name: body.name, line1: "Weg 1", city: "Berlin" } },
    }),
  );
  console.log(`order of a guest: ${order(placed)}, ${payment(placed)}`);
  const path = { guestId, orderId: placed.orderId };
  console.log(`read: ${order(done(await shop.GET("/guests/{guestId}/orders/{orderId}", { params: { path, header } })))}`);

  const { error, response } = await shop.POST("/guests/quotes", {
    body: { lines, shipTo: { country: "DE", postalCode: "1011" } },
  });
  const fault = (error as Schemas["Problem"]).errors![0];
  console.log(`fault: ${response.status}, ${fault.pointer}, ${fault.code}`);
}

async function customer() {
  const path = { customerId: "ada" };
  const cart = done(await shop.PUT("/customers/{customerId}/cart", { headers, params: { path }, body: { lines } }));
  console.log(`cart: ${cart.lines[0].quantity} ${cart.lines[0].productId}`);
  const place = (body: Schemas["NewOrder"]) =>
    shop.POST("/orders", { headers, params: { header: { "Idempotency-Key": randomUUID() } }, body });
  const placed = done(await place({ lines, cart: cart.version })) as Schemas["Order"];
  console.log(`order: ${order(placed)}, ${payment(placed)}`);
  const { orderId } = placed;
  console.log(`read: ${order(done(await shop.GET("/orders/{orderId}", { headers, params: { path: { orderId } } })))}`);
  const list = done(await shop.GET("/customers/{customerId}/orders", { headers, params: { path } }));
  const listed = list.items.find((order) => order.orderId === orderId)!;
  console.log(`listed: ${listed.status}, ${money(listed.total)}`);

  const { error } = await place({ lines, expectedTotal: { amount: 1, currency: "EUR" } });
  const problem = error as Schemas["Problem"];
  console.log(`problem: ${problem.status}, ${problem.type}, ${money(problem.total!)}`);
}

guest().then(customer);
