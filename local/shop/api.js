// The client of Till's API: what a storefront must know about HTTP, and nothing about its pages.

const meta = name => document.querySelector(`meta[name=${name}]`).content;
const API = meta('api'), PAYMENTS = meta('payments');

export const load = name => JSON.parse(localStorage.getItem(`till.${name}`));
export const save = (name, value) => localStorage.setItem(`till.${name}`, JSON.stringify(value));
export const forget = name => localStorage.removeItem(`till.${name}`);

/** An error response. A function sends a problem (RFC 9457); API Gateway sends `{"message": "..."}`, without a type. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail ?? body.message ?? `The shop answered ${status}.`);
    const kind = body.type?.split('/').pop();
    Object.assign(this, { status, kind, errors: body.errors ?? [], productId: body.productId });
  }
  /** Whether the request may have been carried out all the same, or may be carried out when it is sent again. */
  get isOpen() { return this.status === 0 || this.status === 429 || this.status >= 500; }
}

/** Sends a request, and returns the answer's JSON, or its text if it is a page. Throws a `Problem`. */
export async function call(method, path, { query = {}, body, headers } = {}) {
  const wanted = Object.entries(query).filter(([, value]) => value != null && value !== '');
  const url = API + path + (wanted.length ? `?${new URLSearchParams(wanted)}` : '');
  const json = body && { 'content-type': 'application/json' }, sent = body && JSON.stringify(body);
  for (let attempt = 0; ; attempt++) {
    let answer, content;
    try {
      // The gateway answers within 30 seconds. An answer that breaks off is lost, too, so it is read here.
      answer = await fetch(url, { method, headers: { ...json, ...headers }, body: sent, signal: AbortSignal.timeout(40_000) });
      content = await answer.text();
      if (answer.headers.get('content-type')?.includes('json')) content = JSON.parse(content);
    } catch {
      throw new Problem(0, { detail: 'The shop cannot be reached. Check your connection, and try again.' });
    }
    if (answer.ok) return content;
    // A busy shop says when to come again. Each request of this file may be repeated: see `once`.
    if (![429, 503].includes(answer.status) || attempt === 3) throw new Problem(answer.status, content);
    await new Promise(done => setTimeout(done, 1000 * (answer.headers.get('retry-after') ?? 2 ** attempt)));
  }
}

export const get = (path, query) => call('GET', path, { query });
export const asGuest = secret => ({ 'guest-secret': secret });

/** Sends a POST that must not be carried out twice. Key and body are kept until the outcome is known: after a lost answer
    or a closed tab, the next call sends the same request again, whatever it was asked to send, and gets its first answer. */
export async function once(name, path, { headers, body }) {
  const kept = load(name) ?? { path, body, headers: { ...headers, 'idempotency-key': crypto.randomUUID() } };
  save(name, kept);
  try {
    const answer = await call('POST', kept.path, kept);
    forget(name);
    return answer;
  } catch (problem) {
    if (problem.isOpen === false) forget(name);
    throw problem;
  }
}

/** Products by id, at most 100, in this order. Those that do not exist are left out. */
export const productsById = async ids => (await get('/products', { ids })).items;

/** Keeps the guest with this address and name as `guest`. Whoever knows the secret is the guest, so it is drawn here. It is
    kept before it is sent, so that a repetition makes no second guest. */
export async function introduce(email, name) {
  let guest = load('guest');
  if (guest?.email !== email || guest.name !== name) {
    const random = String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32)));
    guest = { email, name, secret: btoa(random).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') };
    save('guest', guest);
  }
  const { guestId } = await call('POST', '/guests', { body: { email, name }, headers: asGuest(guest.secret) });
  save('guest', { ...guest, guestId });
}

/** Pays an order with a test card of the pretend provider, and returns the payment's status. With Stripe, Stripe.js takes
    the client secret and the card (`stripe.confirmPayment`): no card number may reach your page or Till. */
export async function pay(order, secret, card) {
  const start = () => call('POST', `${order}/payment`, { headers: asGuest(secret) });
  const { intentId, clientSecret, status } = await start();
  if (!clientSecret) return status;
  const body = new URLSearchParams({ client_secret: clientSecret, payment_method: card });
  await fetch(`${PAYMENTS}/v1/payment_intents/${intentId}/confirm`, { method: 'POST', body }).catch(() => {});
  // The same request again asks the provider, so that the page needs neither the webhook nor the answer before.
  return (await start()).status;
}

export function money({ amount, currency }) {
  const format = new Intl.NumberFormat(navigator.language, { style: 'currency', currency });
  // Amounts are in minor units: cents of EUR, whole yen, thousandths of KWD.
  return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
}
