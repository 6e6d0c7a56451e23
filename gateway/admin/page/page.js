// Joins the parts of the page: the stream, the figures, the token, and the dialogue about a bucket.

import { LineChart } from './charts.js';
import { byId } from './elements.js';
import { Past } from './past.js';
import { Rejections } from './rejections.js';
import { Stream } from './stream.js';
import { showCertificates, showFindings, showLimits, showProcess, showServers, showStores } from './tables.js';
import { Why } from './why.js';

const tenMinutes = 600;
const past = new Past();

const api = {
  token: '',
  get hasToken() {
    return this.token !== '';
  },
  async post(path, body) {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${this.token}` };
    try {
      const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
      return { ok: answer.ok, body: await answer.json() };
    } catch {
      return { ok: false, body: { detail: 'the gateway does not answer' } };
    }
  },
};

const why = new Why(api, () => past.state.limits ?? []);
const rejections = new Rejections((one) => why.open(one));
const charts = { requests: new LineChart('requests', '/s'), latency: new LineChart('latency', ' ms') };

const verdicts = [
  ['allowed', (r) => r.allowed ?? 0],
  ['rejected', (r) => r.rejected ?? 0],
  ['blocked', (r) => r.blocked ?? 0],
  ['store failed', (r) => r.failed_closed ?? 0],
  ['errors', (r) => r.errors ?? 0],
  ['bad key or cost', (r) => (r.missing_key ?? 0) + (r.bad_cost ?? 0)],
];

function points(of) {
  return past.seconds.map((s) => ({ x: s.at, y: of(s) }));
}

const inMilliseconds = (seconds) => (seconds === undefined ? null : seconds * 1000);

function draw() {
  const to = past.now;
  charts.requests.draw(verdicts.map(([name, of]) => [name, points((s) => of(s.requests))]), to - tenMinutes, to);
  const upstreams = [...new Set((past.state.servers ?? []).map((s) => s.upstream))].slice(0, 2);
  charts.latency.draw([
    ['gateway p50', points((s) => inMilliseconds(s.latency.p50))],
    ['gateway p99', points((s) => inMilliseconds(s.latency.p99))],
    ...upstreams.flatMap((u) => [
      [`upstream ${u} p50`, points((s) => inMilliseconds(s.upstreams[u]?.p50))],
      [`upstream ${u} p99`, points((s) => inMilliseconds(s.upstreams[u]?.p99))],
    ]),
  ], to - tenMinutes, to);
}

function show() {
  for (const part of [showFindings, showLimits, showStores, showServers, showCertificates, showProcess]) part(past);
  if (!document.hidden) draw();
}

function takeEvents(events) {
  for (const event of events) {
    // Without new ones those are shown that came while somebody was among the rows.
    rejections.add(event.rejections ?? []);
    past.add(event);
  }
  show();
}

function forgetAll() {
  past.clear();
  rejections.clear();
}

function showLink(state, token) {
  byId('link').textContent = state === 'live' ? 'live' : state === 'lost' ? 'The gateway does not answer. Trying again every second.' : state;
  byId('link').className = state === 'live' ? 'up' : 'down';
  document.documentElement.dataset.link = state;
  if (state.startsWith('refused') && token) {
    setToken('');
    forgetAll();
    byId('token-says').textContent = state;
  } else if (state === 'live' && token) {
    byId('token-says').textContent = 'The token is in use, in this page only.';
  }
}

const stream = new Stream(takeEvents, showLink);

function setToken(token) {
  api.token = token;
  byId('forget').hidden = token === '';
  byId('token').value = '';
}

function useToken(token) {
  setToken(token);
  forgetAll();
  byId('token-says').textContent = '';
  stream.use(token);
}

byId('token-form').addEventListener('submit', (event) => {
  event.preventDefault();
  useToken(byId('token').value.trim());
});
byId('forget').addEventListener('click', () => useToken(''));
document.addEventListener('visibilitychange', () => !document.hidden && draw());
