// Who the visitor is, in this tab, and the buttons that call the API.
const PEOPLE = { ada: { sub: 'ada', scope: 'shop' }, staff: { sub: 'staff', scope: 'admin' }, guest: null };
const who = document.querySelector('#who');
const say = text => { document.querySelector('#said').textContent = text; };

/** The token of this visitor, or none for a guest. It is fetched once for a tab. */
export async function token(name = who.value) {
  const asked = PEOPLE[name], kept = sessionStorage.getItem(`token.${name}`);
  if (!asked || kept) return kept;
  const answer = await fetch('/_local/token', { method: 'POST', body: JSON.stringify(asked) });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail);
  sessionStorage.setItem(`token.${name}`, body.token);
  return body.token;
}

/** Sends a request as this visitor. */
export async function call(method, path, { as = who.value, body, headers = {} } = {}) {
  const bearer = await token(as);
  return fetch(path, { method, body, headers: { ...headers, ...(bearer && { authorization: `Bearer ${bearer}` }) } });
}

who.value = sessionStorage.getItem('who') ?? 'ada';
who.onchange = async () => {
  sessionStorage.setItem('who', who.value);
  say('');
  await token().catch(error => say(error.message));
  dispatchEvent(new Event('who'));
};
// The secret of the tokens may be another one since the stack was started anew.
const started = document.querySelector('[data-started]')?.dataset.started;
if (started && sessionStorage.getItem('started') !== started) {
  for (const name of Object.keys(PEOPLE)) sessionStorage.removeItem(`token.${name}`);
  sessionStorage.setItem('started', started);
}

const element = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text, ...more });
const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? ''));

// <button data-call="METHOD /path" data-as="ada" data-body="..." data-links='[["/_local/table?partition=o%23{orderId}", "its items"]]'>
document.addEventListener('click', async event => {
  const button = event.target.closest('[data-call]');
  if (!button) return;
  const [method, path] = button.dataset.call.split(' '), { body, as = who.value } = button.dataset;
  const out = button.parentElement.querySelector('output'), began = performance.now();
  const headers = body ? { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() } : {};
  const answer = await call(method, path, { as, body, headers }).catch(error => error);
  if (answer instanceof Error) return out.replaceChildren(element('p', answer.message, { className: 'bad' }));
  const text = await answer.text(), value = (() => { try { return JSON.parse(text); } catch { return {}; } })();
  const line = element('p', '');
  line.append(element('b', `${answer.status} ${value.title ?? ''}`, { className: answer.ok ? 'good' : 'bad' }),
    ` after ${Math.round(performance.now() - began)} ms. ${value.detail ?? ''} `);
  const links = answer.ok ? JSON.parse(button.dataset.links ?? '[]') : [[value.type ?? '', 'What this problem means']];
  for (const [href, name] of links) if (href) line.append(element('a', name, { href: filled(href, value) }), ' ');
  const details = element('details', '');
  details.append(element('summary', 'The answer'), element('pre', JSON.stringify(value, null, 2)));
  out.replaceChildren(line, details);
  const id = answer.headers.get('apigw-requestid'), has = !path.startsWith('/_local/') || path.startsWith('/_local/scheduled/');
  if (id && has) line.append(element('a', 'What it did', { href: `/_local/console/requests/${id}` }));
  out.dispatchEvent(new CustomEvent('answered', { bubbles: true, detail: { id } }));
});
