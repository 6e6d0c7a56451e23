// Says why a request was rejected, and lets the operator change the bucket in which it stood.

import { byId, element, setPairs } from './elements.js';
import { client, date, length } from './texts.js';

export class Why {
  #dialog = byId('why');
  #says = byId('bucket-says');
  #api;
  #limits;
  #rejection;

  // `api` calls the admin API, and limits() returns the limits in force.
  constructor(api, limits) {
    this.#api = api;
    this.#limits = limits;
    byId('why-close').addEventListener('click', () => this.#dialog.close());
    byId('bucket-form').addEventListener('submit', (event) => event.preventDefault());
    for (const button of this.#dialog.querySelectorAll('[data-call]')) {
      button.addEventListener('click', () => this.#call(button.dataset.call));
    }
    byId('tokens').addEventListener('keydown', (event) => event.key === 'Enter' && this.#call('grant'));
    byId('ban-for').addEventListener('keydown', (event) => event.key === 'Enter' && this.#call('ban'));
  }

  async open(rejection) {
    this.#rejection = rejection;
    this.#says.textContent = '';
    byId('bucket-actions').disabled = !this.#api.hasToken || !rejection.bucket;
    byId('why-text').replaceChildren(this.#facts(rejection));
    this.#dialog.showModal();
    byId('why-text').focus();
    if (!this.#api.hasToken) {
      this.#says.textContent = 'With the token: who it was, what would become of the request now, and changes of the bucket.';
      return;
    }
    await this.#explain(rejection);
    if (rejection.bucket) await this.#call('look');
  }

  #facts(r) {
    const limit = this.#limits().find((l) => l.limit === r.limit);
    const list = element('dl');
    const pairs = [
      ['When', `${date(r.at)} (${new Date(r.at * 1000).toLocaleTimeString('en-GB')})`],
      ['Request', r.method ? `${r.method} ${r.host}${r.path}` : `${r.request_id}`],
      ['Client', client(r)],
      ['Route', r.route],
      ['Limit', limit ? `${r.limit}: ${limit.rate}, up to ${limit.capacity}, by ${limit.key.join(', ') || 'nobody in particular'}, in store ${limit.store}` : r.limit],
      ['Told to wait', r.retry_after === undefined ? 'no time' : length(r.retry_after)],
      ['Bucket', r.bucket ?? 'none'],
    ];
    setPairs(list, pairs);
    return list;
  }

  async #explain(r) {
    const { ok, body } = await this.#api.post('v1/explain', { method: r.method, url: `http://${r.host || 'localhost'}${r.path}`, peer: r.client });
    if (this.#rejection !== r) return;
    if (!ok) {
      byId('why-text').append(element('p', {}, `explain: ${body.detail}`));
      return;
    }
    const items = body.limits.map((l) => {
      const left = l.remaining === undefined ? '' : `, ${l.remaining} tokens left`;
      const later = l.retry ? `, passes in ${length(l.retry)}` : '';
      const ban = l.banned_until ? `, banned until ${date(l.banned_until)}` : '';
      return element('li', {}, `${l.limit}: ${l.says ?? 'does not apply'}${left}${later}${ban}${l.why ? ` (${l.why})` : ''}`);
    });
    const verdict = body.verdict;
    byId('why-text').append(
      element('p', {}, `The same request now, without its headers: ${verdict.says}${verdict.detail ? `, ${verdict.status} ${verdict.detail}` : ''}.`),
      element('ul', {}, ...items),
    );
  }

  async #call(name) {
    const r = this.#rejection;
    const body = { limit: r.limit, bucket: r.bucket };
    if (name === 'grant') body.tokens = Number(byId('tokens').value);
    if (name === 'ban') body.for = byId('ban-for').value;
    const answer = await this.#api.post(`v1/${name}`, body);
    if (this.#rejection !== r) return;
    const done = { look: 'Now', reset: 'Reset', grant: 'Granted', ban: 'Banned', unban: 'Unbanned' }[name];
    this.#says.textContent = answer.ok ? `${done}: ${state(answer.body)}` : `${name}: ${answer.body.detail}`;
  }
}

function state(of) {
  const ban = of.banned_until ? `banned until ${date(of.banned_until)}` : 'not banned';
  return `${of.remaining} of ${of.limit} tokens, full in ${length(of.reset)}, ${ban}.`;
}
