// The pages of the storefront. Each is a function of the address: it returns its title, its HTML, and what to do once shown.
import { Problem, asGuest, call, forget, get, introduce, load, money, once, pay, productsById, save } from './api.js';

const $ = (selector, within = document) => within.querySelector(selector), main = $('#main');

// A template escapes every value, so that no name of a product runs as a script; only other templates are taken as HTML.
class Html { constructor(text) { this.text = text; } }
const text = value => Array.isArray(value) ? value.map(text).join('') : value instanceof Html ? value.text
  : value == null || value === false ? '' : String(value).replace(/[&<>"']/g, sign => `&#${sign.charCodeAt(0)};`);
const html = ([first, ...parts], ...values) => new Html(parts.reduce((all, part, at) => all + text(values[at]) + part, first));

/** Lets screen readers speak these words. Everybody sees them for some seconds, unless the page shows them anyway. */
function say(words, isShown = false) {
  $('#said').className = isShown ? 'hidden' : '';
  $('#said').textContent = '';
  setTimeout(() => { $('#said').textContent = words; }, 50); // A text that replaces the same text would not be spoken.
}

// ---- The cart is in this browser: ids and quantities. Names and prices come from the API each time it is shown. ----
const MOST_LINES = 10; // An order of a guest has no more.
const cart = () => load('cart') ?? [];

function setQuantity(productId, quantity) {
  const lines = cart().map(line => line.productId === productId ? { ...line, quantity } : line);
  if (!lines.some(line => line.productId === productId)) lines.push({ productId, quantity });
  save('cart', lines.filter(line => line.quantity > 0));
  showCount();
}
function showCount() {
  const units = cart().reduce((sum, { quantity }) => sum + quantity, 0);
  $('#count').innerHTML = text(html`${units}<span class="hidden"> ${units === 1 ? 'product' : 'products'}</span>`);
}

// ---- Parts of pages ----
/** The first image, or a drawing with the initial. An absent `alt` is no text, because the name stands beside it. */
function picture({ images: [image] = [], name, productId }) {
  if (image) return html`<img class="picture" src="${image.url}" alt="${image.alt}" loading="lazy">`;
  const hue = [...productId].reduce((sum, letter) => (sum * 31 + letter.codePointAt()) % 360, 7);
  return html`<svg class="picture drawn" style="--hue: ${hue}" viewBox="0 0 9 9" aria-hidden="true">
    <text x="4.5" y="5.7">${[...name][0]}</text></svg>`;
}

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region' });
const AVAILABILITY = { fewLeft: 'Few left', soldOut: 'Sold out' };
// A value that a later release adds is shown as nothing, never as an error.
const badge = ({ availability: it }) => AVAILABILITY[it] && html`<span class="badge ${it}">${AVAILABILITY[it]}</span>`;
const categoryLink = name => html`<a href="#/?category=${encodeURIComponent(name)}">${name}</a>`;
const card = product => html`<li class="card">${picture(product)}
  <h2><a href="#/products/${product.productId}">${product.name}</a></h2>
  <p>${money(product.price)} ${badge(product)}</p></li>`;

/** A labelled field. Its name is the JSON pointer of its value in the request, so that an error's pointer finds it. */
const field = (label, pointer, attributes) => html`<p class="field"><label for="${pointer}">${label}</label>
  <input id="${pointer}" name="${pointer}" aria-describedby="${pointer}-error" ${attributes}>
  <span class="error" id="${pointer}-error"></span></p>`;
/** A choice of one of these values, each with its label. */
const choice = (legend, name, options, chosen) => html`<fieldset class="choice"><legend>${legend}</legend>
  ${options.map(([value, label]) => html`<label><input type="radio" name="${name}" id="${name}-${value}" value="${value}"
    ${value === chosen && html`checked`}><span>${label}</span></label>`)}</fieldset>`;
/** The body of a request: the values of the form's fields that are not empty, at their pointers. */
function bodyOf(form) {
  const body = {};
  for (const [pointer, value] of new FormData(form)) {
    const [, ...names] = pointer.split('/'), last = names.pop();
    if (value.trim()) names.reduce((object, name) => object[name] ??= {}, body)[last] = value.trim();
  }
  return body;
}

const FIELDS = { 'discount-invalid': '/discountCode', 'discount-exhausted': '/discountCode', 'not-shipped': '/shipTo/country' };
/** Marks the fields that a problem is about (a guest's name is the address's), or shows it in the form's alert. */
function mark(form, problem) {
  const errors = problem?.errors.map(({ pointer, detail }) => [pointer.slice(1), detail]) ?? [];
  if (FIELDS[problem?.kind]) errors.push([FIELDS[problem.kind], problem.message]);
  const marked = [...form.elements].filter(({ name, type }) => name && type !== 'radio').filter(input => {
    const error = errors.find(([pointer]) => pointer === input.name || `/shipTo${pointer}` === input.name);
    input.ariaInvalid = error ? 'true' : null;
    $(`[id="${input.name}-error"]`, form).textContent = error?.[1] ?? '';
    return error;
  });
  $('[role=alert]', form).textContent = problem && marked.length === 0 ? problem.message : '';
  marked[0]?.focus();
}

/** Runs what a form does when it is sent, one at a time, and shows what goes wrong. */
function onSubmit(form, act) {
  form.addEventListener('submit', async event => {
    event.preventDefault();
    const button = event.submitter; // There is none if what is sold out is sent by Enter.
    if (!button || button.ariaDisabled === 'true') return;
    button.ariaDisabled = 'true'; // The attribute `disabled` would take the focus away.
    mark(form);
    await Promise.resolve().then(act).catch(error => mark(form, shown(error)));
    button.ariaDisabled = 'false';
  });
}
/** The problem. A defect of the page is one, too. */
function shown(error) {
  if (!(error instanceof Problem)) console.error(error);
  return error instanceof Problem ? error : new Problem(400, { detail: 'Something went wrong. Load the page again.' });
}
const row = (name, amount) => amount && html`<div><dt>${name}</dt><dd>${money(amount)}</dd></div>`;
const sums = ({ subtotal, discount, shipping, shippingMethod, tax, total }) => html`<dl class="sums">${row('Goods', subtotal)}
  ${discount.amount > 0 && row('Discount', { ...discount, amount: -discount.amount })}
  ${row(shippingMethod?.name ?? 'Shipping', shipping)}${row('Tax', tax)}${row('Total', total)}</dl>`;

const lineList = lines => html`<ul class="lines">${lines.map(({ name, quantity, amount }) =>
  html`<li><span>${quantity} × ${name}</span> ${money(amount)}</li>`)}</ul>`;

// ---- Products ----
async function listing(query) {
  const [q, category, available] = ['q', 'category', 'available'].map(name => query.get(name));
  const read = cursor => get(q ? '/search' : '/products', { q, category, available, limit: 24, cursor });
  const page = await read();
  const title = q ? `Results for “${q}”` : category ? category[0].toUpperCase() + category.slice(1) : 'All products';
  const body = html`<div class="head"><h1>${title}</h1>
    <label class="check"><input type="checkbox" id="available" ${available && html`checked`}> Only what can be bought</label></div>
    <ul class="grid">${page.items.map(card)}</ul>
    ${page.items.length === 0 && !page.next && html`<p>Nothing was found. <a href="#/">See all products</a></p>`}
    <p><button class="plain" id="more">Show more</button></p>`;
  const ready = () => {
    let { next } = page, more = $('#more'), grid = $('.grid');
    more.hidden = !next;
    more.onclick = async () => {
      const cursor = next, before = grid.children.length;
      next = null; // A second click finds nothing to do.
      const following = cursor && await read(cursor).catch(error => say(shown(error).message));
      if (!following) return void (next ??= cursor);
      grid.insertAdjacentHTML('beforeend', text(following.items.map(card)));
      more.hidden = !(next = following.next);
      grid.children[before]?.querySelector('a').focus(); // The button may be gone.
    };
    $('#available').onchange = ({ target: { checked } }) => {
      query.delete('available');
      location.hash = `#/?${query}${checked ? '&available=true' : ''}`;
    };
    say(`${page.items.length}${page.next ? ' or more' : ''} products`, true);
  };
  return { title, body, ready };
}

async function product(id) {
  const chosen = await get(`/products/${id}`), of = chosen.variantOf ?? id;
  const variants = get(`/products/${of}/variants`, { limit: 100 });
  const [first, { items }] = await Promise.all([of === id ? chosen : get(`/products/${of}`), variants]);
  const label = (part, { attributes = {}, name }) => Object[part](attributes).join(', ') || name;
  const options = [first, ...items].map(it => [it.productId, label('values', it)]);
  const body = html`<article class="product"><div class="pictures">${picture(chosen)}
      ${(chosen.images ?? []).slice(1).map(image => picture({ images: [image] }))}</div>
    <div><p class="crumb">${categoryLink(chosen.category)}</p>
      <h1>${chosen.name}</h1><p class="price">${money(chosen.price)} ${badge(chosen)}</p><p class="text">${chosen.description}</p>
      <form novalidate><p role="alert"></p>
        ${items.length > 0 && choice(label('keys', { ...first, name: 'Variant' }), 'variant', options, id)}
        ${chosen.recalled ? html`<p class="error">This product is recalled and cannot be ordered.</p>`
    : chosen.availability !== 'soldOut' && html`<div class="buy">
          ${field('Quantity', '/quantity', html`type="number" min="1" value="1"`)}<button>Add to cart</button></div>`}
      </form></div></article>`;
  const ready = () => {
    const form = $('form', main);
    form.onchange = ({ target: { name, value } }) => { if (name === 'variant') location.replace(`#/products/${value}`); };
    onSubmit(form, () => {
      const quantity = Number(form['/quantity'].value), before = cart().find(line => line.productId === id)?.quantity ?? 0;
      const detail = !(quantity >= 1 && Number.isInteger(quantity)) ? 'must be a whole number from 1 on'
        : before + quantity > chosen.available ? `only ${chosen.available} are left${before ? `, and ${before} of them in your cart` : ''}`
        : !before && cart().length === MOST_LINES && `a cart has at most ${MOST_LINES} different products`;
      if (detail) throw new Problem(400, { errors: [{ pointer: '#/quantity', detail }] });
      setQuantity(id, before + quantity);
      say(`${quantity} × ${chosen.name} added to the cart`);
    });
  };
  return { title: chosen.name, body, ready };
}

// ---- Cart and checkout ----
const EMPTY = { title: 'Cart', body: html`<h1>Cart</h1><p>Your cart is empty. <a href="#/">See all products</a></p>` };

async function showCart() {
  const lines = cart();
  if (lines.length === 0) return EMPTY;
  const found = new Map((await productsById(lines.map(line => line.productId))).map(it => [it.productId, it]));
  const total = lines.reduce((sum, { productId: id, quantity }) => sum + (found.get(id)?.price.amount ?? 0) * quantity, 0);
  const [any, ...others] = found.values(), hasSum = others.every(it => it.price.currency === any.price.currency);
  const line = ({ productId, quantity }) => {
    const it = found.get(productId);
    const remove = html`<button class="plain" id="r-${productId}" data-remove="${productId}">Remove<span class="hidden"> ${it?.name}</span></button>`;
    if (!it) return html`<li class="line"><p>A product that is no longer sold</p>${remove}</li>`;
    return html`<li class="line">${picture(it)}
      <p><a href="#/products/${productId}">${it.name}</a><br>${money(it.price)} ${badge(it)}</p>
      <strong>${money({ ...it.price, amount: it.price.amount * quantity })}</strong>
      <div><label><span class="hidden">Quantity of ${it.name}</span>
        <input type="number" min="1" max="10000" id="q-${productId}" value="${quantity}"></label>${remove}</div></li>`;
  };
  const body = html`<h1>Cart</h1><ul class="cartlines">${lines.map(line)}</ul>
    ${any && html`<div class="sumup"><p>Goods: <strong>${hasSum && money({ ...any.price, amount: total })}</strong></p>
      <p><a class="button" href="#/checkout">Go to checkout</a></p></div>`}`;
  const ready = () => {
    $('.cartlines').onchange = ({ target: { id, value } }) => {
      setQuantity(id.slice(2), Math.min(Math.max(Math.trunc(value) || 1, 1), 10000));
      go();
    };
    $('.cartlines').onclick = ({ target: { dataset: { remove } } }) => {
      if (!remove) return;
      setQuantity(remove, 0);
      go('Removed from the cart');
    };
  };
  return { title: 'Cart', body, ready };
}
const PRICED = ['/shipTo/country', '/shipTo/postalCode', '/shippingMethod', '/discountCode']; // The total depends on these fields.

const methods = ({ shippingMethods = [], shippingMethod }) => shippingMethods.length > 1 && choice('Shipping', '/shippingMethod',
  shippingMethods.map(({ methodId, name, price }) => [methodId, `${name}: ${money(price)}`]), shippingMethod.methodId);
/** Throws the problem with the name of the product that it is about. */
async function named(problem) {
  const [it] = problem.productId ? await productsById([problem.productId]).catch(() => []) : [];
  throw it ? Object.assign(problem, { message: `${it.name}: ${problem.message}` }) : problem;
}
async function checkout() {
  const open = load('order'), lines = cart();
  if (lines.length === 0 && !open) return EMPTY;
  const { zones } = await get('/shipping');
  // A zone without countries is the rest of the world: a shop that has one lists here where it wants to sell.
  const countries = new Set([...zones.flatMap(zone => zone.countries ?? []), ...zones.length ? [] : ['AT', 'DE', 'FR', 'NL']]);
  const body = html`<h1>Checkout</h1><form class="checkout" id="checkout" ${open && html`novalidate`}>
    <div ${open && html`inert`}><fieldset><legend>You</legend>
      ${field('Email', '/email', html`type="email" autocomplete="email" required`)}
      ${field('Name', '/shipTo/name', html`autocomplete="name" required maxlength="100"`)}</fieldset>
    <fieldset><legend>Delivery</legend><p class="field"><label for="/shipTo/country">Country</label>
      <select id="/shipTo/country" name="/shipTo/country" autocomplete="country" aria-describedby="/shipTo/country-error">
        ${[...countries].map(code => html`<option value="${code}">${COUNTRIES.of(code)}</option>`)}</select>
      <span class="error" id="/shipTo/country-error"></span></p>
      ${field('Street and number', '/shipTo/line1', html`autocomplete="address-line1" required maxlength="100"`)}
      ${field('Postal code', '/shipTo/postalCode', html`autocomplete="postal-code" maxlength="20"`)}
      ${field('City', '/shipTo/city', html`autocomplete="address-level2" required maxlength="100"`)}</fieldset><div id="methods"></div>
    <fieldset><legend>Discount</legend>
      ${field('Code (if you have one)', '/discountCode', html`autocomplete="off" maxlength="64"`)}</fieldset></div>
    <aside><h2>Your order</h2><div id="quote" aria-live="polite"><p class="quiet">The total depends on where it is sent.</p></div>
      <p role="alert"></p><button id="order">${open ? 'Send the order again' : 'Show the total'}</button></aside></form>`;
  const ready = () => {
    const form = $('#checkout');
    let quoted, offered, newest = 0;
    /** Asks what the order costs, and shows the answer, unless it was overtaken by a newer one. */
    async function quote() {
      const mine = ++newest, { email, shipTo: { country, postalCode }, ...rest } = bodyOf(form);
      quoted = undefined;
      $('#order').textContent = 'Show the total';
      const path = `/guests/quotes${rest.discountCode ? '/discounted' : ''}`; // Codes can be guessed, so its limit is lower.
      const answer = await call('POST', path, { body: { ...rest, lines, shipTo: { country, postalCode } } }).catch(named);
      if (mine !== newest) return;
      quoted = answer;
      if (offered !== (offered = JSON.stringify(answer.shippingMethods))) $('#methods').innerHTML = text([methods(answer)]);
      $('#quote').innerHTML = text([lineList(answer.lines), sums(answer)]);
      $('#order').textContent = `Order for ${money(answer.total)}`;
    }
    form.onchange = ({ target: { name } }) => {
      if (!PRICED.includes(name) || !form['/shipTo/postalCode'].value) return;
      if (name === '/shipTo/country') $('#methods').innerHTML = offered = ''; // Another country has others.
      quote().then(() => mark(form), error => mark(form, shown(error)));
    };
    onSubmit(form, async () => {
      // Another tab may have sent an order, or may have got its answer.
      if (!open !== !load('order')) return go();
      if (open) return send();
      if (!quoted) return quote();
      const { email, ...order } = bodyOf(form);
      await introduce(email, order.shipTo.name);
      await send({ ...order, lines, expectedTotal: quoted.total });
    });
    /** Sends the order. If its outcome is unknown, the form is closed, and the same order is sent again. */
    async function send(order) {
      const { guestId, secret } = load('guest');
      try {
        const { orderId } = await once('order', `/guests/${guestId}/orders`, { headers: asGuest(secret), body: order }).catch(named);
        ['cart', 'guest'].forEach(forget); // Each order has its own guest, so that its address opens no other.
        showCount();
        location.hash = `#/orders/${guestId}/${orderId}/${secret}`;
      } catch (problem) {
        // A form that was closed is opened again when the order is refused.
        if (problem.isOpen || open) return go().then(() => mark($('#checkout') ?? form, problem));
        if (problem.kind !== 'price-changed') throw problem;
        const before = money(quoted.total);
        await quote();
        throw new Problem(409, { detail: `The total has changed from ${before}. Order again if you agree with the new one.` });
      }
    }
    if (open) mark(form, new Problem(0, { detail: 'Your order was sent, but no answer came. Send it again: it is placed once.' }));
  };
  return { title: 'Checkout', body, ready };
}

// ---- The order ----
const STATUSES = { PENDING: 'Ordered', PAID: 'Paid', PACKING: 'Packed', SHIPPED: 'Shipped', DELIVERED: 'Delivered' };
const CARDS = [['pm_card_visa', '4242 4242 4242 4242'], ['pm_card_chargeDeclined', '4000 0000 0000 0002 (is declined)']];
const UNPAID = { declined: 'The card was declined. Try another one.', pending: 'The payment is not complete. Try again.' };

async function showOrder(guestId, orderId, secret) {
  const path = `/guests/${guestId}/orders/${orderId}`, headers = asGuest(secret), read = () => call('GET', path, { headers });
  const order = await read();
  const { status, lines, shipments = [], returns = [], credits = [], shipTo } = order;
  const nameOf = id => lines.find(it => it.productId === id).name;
  const parts = of => of.map(({ productId, quantity }) => `${quantity} × ${nameOf(productId)}`).join(', ');
  const done = Object.keys(STATUSES).indexOf(status), steps = Object.values(STATUSES).map((name, at) =>
    html`<li class="${at <= done && 'done'}" ${at === done && html`aria-current="step"`}>${name}</li>`);
  const due = status === 'PENDING' && order.invoice.payments.find(it => it.type === 'card' && /pending|declined/.test(it.status));
  // What is neither credited nor on its way back can be returned.
  const back = [...credits, ...returns.filter(it => it.status === 'requested').flatMap(it => it.lines)];
  const left = line => back.filter(it => it.productId === line.productId)
    .reduce((units, it) => units - (it.units ?? it.quantity), line.quantity);
  const returnable = status === 'DELIVERED' ? lines.filter(line => left(line) > 0) : [];
  const body = html`<h1>Your order</h1><p class="quiet">${orderId}, ${new Date(order.placedAt).toLocaleString()}</p>
    ${status === 'CANCELLED' ? html`<p class="badge soldOut">Cancelled</p>` : html`<ol class="steps">${steps}</ol>`}
    <p>Keep this page’s address: it is the only way to your order. Whoever knows it can see, pay and return the order.</p>
    <div class="checkout"><div>
      ${due && html`<form id="pay">${choice(`Pay ${money(due.amount)} with a test card`, 'card', CARDS, CARDS[0][0])}
        <p role="alert"></p><button>Pay</button></form>`}
      ${shipments.map(it => html`<section><h2>${it.deliveredAt ? 'Delivered' : 'On its way'}</h2><p>${parts(it.lines)}<br>
        ${it.carrier} ${it.trackingUrl ? html`<a href="${it.trackingUrl}">${it.trackingNumber ?? 'Track it'}</a>`
    : it.trackingNumber}</p></section>`)}
      ${returns.map(it => html`<section><h2>Return ${it.status}</h2><p>${parts(it.lines)}</p></section>`)}
      ${returnable.length > 0 && html`<form id="return"><fieldset><legend>Return products</legend>
        ${returnable.map(line => field(`Units of ${line.name}, at most ${left(line)}`, `/units/${line.productId}`,
    html`type="number" min="0" max="${left(line)}" value="0"`))}
        ${field('Reason (if you like)', '/reason', html`maxlength="100"`)}</fieldset>
        <p role="alert"></p><button>Request the return</button></form>`}
    </div><aside><h2>What you ordered</h2>${lineList(lines)}${sums(order)}
      ${shipTo && html`<address>${shipTo.name}<br>${shipTo.line1}<br>${shipTo.postalCode} ${shipTo.city}<br>
        ${COUNTRIES.of(shipTo.country)}</address>`}
      <p><button class="plain" id="invoice">Print the invoice</button></p></aside></div>`;
  const ready = () => {
    // A link cannot send the guest's secret, so the page is read here. Browsers block a window that is opened later.
    $('#invoice').onclick = async () => {
      const shows = window.open(''), failed = problem => text(html`<p>${shown(problem).message}</p>`);
      const page = await call('GET', `${path}/invoice/page`, { headers }).catch(failed);
      shows.location = URL.createObjectURL(new Blob([page], { type: 'text/html;charset=utf-8' }));
    };
    if (due) onSubmit($('#pay'), async () => {
      const outcome = await pay(path, secret, new FormData($('#pay')).get('card'));
      if (UNPAID[outcome]) throw new Problem(409, { detail: UNPAID[outcome] });
      await go('The order is paid');
    });
    if ($('#return')) onSubmit($('#return'), async () => {
      const { units, reason } = bodyOf($('#return'));
      const wanted = Object.entries(units).map(([productId, quantity]) => ({ productId, quantity: Number(quantity) }));
      const body = { lines: wanted.filter(({ quantity }) => quantity > 0), reason };
      if (body.lines.length === 0) throw new Problem(400, { detail: 'Say how many units you return.' });
      await once(`return.${orderId}`, `${path}/returns`, { headers, body });
      await go('The return is requested');
    });
    // The shop changes the order, so the page looks again while somebody sees it.
    const mine = visit, again = setInterval(async () => {
      if (mine !== visit) return clearInterval(again);
      const now = document.hidden ? order : await read().catch(() => order);
      if (mine === visit && now.version !== order.version) go();
    }, 5000);
  };
  return { title: 'Your order', body, ready };
}

// ---- The way from the address to a page ----
const PAGES = { __proto__: null, '': listing, products: product, cart: showCart, checkout, orders: showOrder };
let visit = 0;

/** Shows the page of the address. The focus stays on what has the same id, or goes to the heading, as on a new page. */
async function go(words = '') {
  const mine = ++visit, [path, search] = location.hash.split('?'), query = new URLSearchParams(search);
  const [, name = '', ...parts] = path.split('/');
  const page = await Promise.resolve().then(() => PAGES[name](...parts, query)).catch(error => ({
    title: 'Sorry', body: html`<h1>Sorry</h1><p role="alert">${shown(error).message}</p><a href="#/">See all products</a>`,
  }));
  if (mine !== visit) return;
  const isFirst = !main.hasChildNodes(), focused = main.contains(document.activeElement) && document.activeElement.id;
  main.innerHTML = text(page.body);
  say(words);
  $('#q').value = query.get('q');
  document.title = `${page.title} – Till`;
  markCategory();
  page.ready?.();
  const heading = $('h1', main), kept = focused && document.getElementById(focused);
  heading.tabIndex = -1;
  if (!isFirst) (kept || heading).focus();
  if (!kept) scrollTo(0, 0);
}
const markCategory = () => document.querySelectorAll('#categories a').forEach(link => {
  link.ariaCurrent = link.hash === location.hash.replace('&available=true', '') ? 'page' : null;
});
addEventListener('hashchange', () => go());
addEventListener('storage', showCount); // The cart of another tab is the same.
const instead = act => event => { event.preventDefault(); act(); };
$('.skip').onclick = instead(() => main.focus()); // The address names the page, so this link must not change it.
$('#search').onsubmit = instead(() => { location.hash = `#/?${new URLSearchParams({ q: $('#q').value.trim() })}`; });
showCount();
go();
const { items } = await get('/categories', { limit: 100 });
$('#categories').innerHTML = text(items.map(({ category }) => categoryLink(category)));
markCategory();
