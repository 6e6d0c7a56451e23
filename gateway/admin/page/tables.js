// Fills the tables and lists from what the stream has sent.

import { byId, element, setPairs, setRows } from './elements.js';
import { client, date, length, milliseconds, number, time } from './texts.js';
import { window as judged } from './past.js';

const causes = { gateway: 'The gateway', store: 'Store', upstream: 'Upstream', client: 'Client', limit: 'Limit' };
const word = (state) => ({ text: state, kind: state === 'up' || state === 'closed' ? 'up' : 'down' });

export function showFindings(past) {
  const found = past.state.findings ?? [];
  const rate = `${number(past.requestRate())} requests per second.`;
  const texts = found.map((f) => {
    const name = f.cause === 'client' ? client(f) : f.name;
    return [causes[f.cause], ` ${name} ${f.text}.`, ` Since ${time(f.since)}, for ${length(past.now - f.since)}.`];
  });
  if (texts.length === 0) texts.push(['Nothing.', ` All stores and upstream servers are up, and no client stands out. ${rate}`, '']);
  const list = byId('findings');
  const shown = texts.map((t) => t.join('')).join('\n');
  byId('answer').className = found.length ? 'bad' : 'good';
  if (list.dataset.shown === shown) return;
  list.dataset.shown = shown;
  texts.forEach(([cause, text, since], i) => {
    list.children[i]?.dataset.of || list.replaceChildren(...texts.map(() => finding()));
    const [name, rest, age] = list.children[i].children;
    set(name, cause);
    set(rest, text);
    set(age, since);
  });
  while (list.children.length > texts.length) list.lastChild.remove();
}

const finding = () =>
  element('li', { 'data-of': 'finding' }, element('span', { class: 'cause' }), element('span'), element('span', { 'aria-live': 'off' }));

function set(at, text) {
  const holder = element('span', {}, text);
  if (at.textContent !== holder.textContent) at.textContent = holder.textContent;
}

export function showLimits(past) {
  const top = (list, limit) =>
    (list ?? []).filter((one) => one.limit === limit).slice(0, 3).map((one) => `${client(one)}: ${number(one.count / judged)}/s`);
  setRows(byId('limits'), (past.state.limits ?? []).map((l) => {
    const rate = (outcome) => past.rate('limits', l.limit, outcome);
    const failed = rate('failed_open') + rate('failed_closed') + rate('failed_local');
    const rejected = rate('rejected') + rate('blocked');
    const all = rate('allowed') + rejected + rate('shadow_rejected') + failed;
    const share = all ? `${Math.round((rejected / all) * 100)} %` : '–';
    return [l.limit, [
      l.limit, `${l.rate}, up to ${l.capacity}`, l.mode, number(rate('allowed')), number(rejected),
      number(rate('shadow_rejected')), number(failed), share,
      { lines: top(past.state.top_requests, l.limit) }, { lines: top(past.state.top_rejections, l.limit) },
    ]];
  }));
}

export function showStores(past) {
  const requests = past.requestRate();
  setRows(byId('stores'), (past.state.stores ?? []).map((s) => {
    const since = s.since ? `${time(s.since)} (${length(past.now - s.since)})` : '';
    if (s.breaker === undefined) {
      const held = `${s.buckets} buckets of ${s.max_buckets}, ${s.turned_away} clients turned away`;
      return [s.store, [s.store, word(s.state), since, '', '', '', '', '', { text: held }]];
    }
    const rate = (count) => past.rate('stores', s.store, count);
    const failures = rate('failures');
    const why = s.last_failure && (failures || s.state === 'down') ? ` (${s.last_failure})` : '';
    return [s.store, [
      s.store, word(s.state), since, word(s.breaker), milliseconds(past.latest('stores', s.store, 'p99')), number(rate('calls')),
      requests ? number(rate('calls') / requests) : '–', number(failures) + why,
      { text: `${number(rate('remembered'))}/s remembered, ${number(rate('leased'))}/s from leases` },
    ]];
  }));
}

export function showServers(past) {
  setRows(byId('servers'), (past.state.servers ?? []).map((s) => {
    const why = !s.healthy ? ': fails its health checks' : s.ejected_for ? `: ejected, ${s.ejected_for} s left` : '';
    const took = `${milliseconds(past.latest('upstreams', s.upstream, 'p50'))}, ${milliseconds(past.latest('upstreams', s.upstream, 'p99'))}`;
    const reason = past.latest('upstreams', s.upstream, 'reason');
    const failures = number(past.rate('upstreams', s.upstream, 'failures')) + (reason ? ` (${reason})` : '');
    return [`${s.upstream} ${s.server}`, [
      s.upstream, s.server, { text: s.state + why, kind: s.state }, String(s.in_flight), `${s.ejections} times`,
      String(s.queued ?? 0), took, failures,
    ]];
  }));
}

export function showCertificates(past) {
  setRows(byId('certificates'), (past.state.certificates ?? []).map((c) => {
    const left = c.expires - past.now;
    const kind = left < 14 * 86400 ? 'down' : '';
    return [c.certificate, [c.certificate, { text: `${date(c.expires)}, ${left > 0 ? `in ${length(left)}` : 'expired'}`, kind }]];
  }));
}

export function showProcess(past) {
  const p = past.state.process;
  if (!p) return;
  const reload = p.reload;
  const lines = reload.said === undefined ? ['shown with the token'] : reload.said.length ? reload.said : ['nothing'];
  setPairs(byId('process'), [
    ['Version', p.version],
    ['State', p.draining ? 'draining' : 'serving'],
    ['Last load', `${date(reload.at)}, ${reload.succeeded ? 'succeeded' : 'refused: the old configuration is in force'}`],
    ['It said', ...lines],
    ['Connections', `${p.connections.clients} of clients (at most ${p.connections.max_clients}), ${p.connections.upstreams} to upstreams`],
    ['Waiting', `${p.connections.waiting} requests for their tokens`],
    ['Workers', String(p.workers)],
    ['Log lines dropped', String(p.log_lines_dropped)],
  ]);
}
