// Keeps the list of requests, or the story of one, up to date. The server renders what has changed.
const list = document.querySelector('#requests'), live = document.querySelector('#live');
const parsed = text => new DOMParser().parseFromString(text, 'text/html');
const rendered = async path => parsed(await (await fetch(path)).text());

async function show(id, told) {
  const old = document.getElementById(`r-${id}`);
  if (old?.dataset.told === told) return;
  const text = await (await fetch(`/_local/console/requests/${id}?row=1`)).text();
  const row = parsed(`<table>${text}</table>`).querySelector('tr');
  if (!row) return;
  document.querySelector('#none')?.remove();
  const focused = old?.contains(document.activeElement);
  old ? old.replaceWith(row) : list.prepend(row);
  if (focused) row.querySelector('a').focus();
}

async function renew(story, told) {
  if (story.dataset.told === told) return;
  const open = [...story.querySelectorAll('details')].map(details => details.open);
  const fresh = (await rendered(location.href)).querySelector('#story');
  if (!fresh) return;
  fresh.querySelectorAll('details').forEach((details, place) => { details.open = open[place] ?? false; });
  story.replaceChildren(...fresh.childNodes);
  story.dataset.told = fresh.dataset.told;
}

// One after the other: rows come in the order of their requests.
let last = Promise.resolve();
new EventSource('/_local/requests/live').onmessage = event => {
  last = last.then(async () => {
    const { id } = JSON.parse(event.data), story = document.querySelector('#story');
    if (story?.dataset.story === id) await renew(story, event.data);
    if (list && live.checked) await show(id, event.data);
  }).catch(() => {});
};
