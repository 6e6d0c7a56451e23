// Lists the last rejections, the newest first. Rows stay as they are while somebody is among them.

import { byId, element, visible } from './elements.js';
import { client, length, time } from './texts.js';

const most = 200;
const reasons = {
  rejected: 'rejected', blocked: 'plan is blocked', failed_closed: 'store failed', missing_key: 'key is missing', bad_cost: 'cost is invalid',
};

export class Rejections {
  #table = byId('rejections');
  #waiting = [];
  #explain;

  // Calls explain(rejection) when somebody asks why.
  constructor(explain) {
    this.#explain = explain;
  }

  clear() {
    this.#waiting = [];
    this.#table.tBodies[0].replaceChildren();
  }

  add(fresh) {
    this.#waiting = [...this.#waiting, ...fresh].slice(-most);
    if (!this.#isRead()) this.#show();
  }

  #isRead() {
    return this.#table.matches(':hover') || this.#table.contains(document.activeElement) || byId('why').open;
  }

  #show() {
    const body = this.#table.tBodies[0];
    body.prepend(...this.#waiting.reverse().map((one) => this.#row(one)));
    this.#waiting = [];
    while (body.rows.length > most) body.lastElementChild.remove();
  }

  #row(one) {
    const why = element('button', { type: 'button', 'aria-label': visible(`Why was the request of ${time(one.at)} by ${client(one)} rejected?`) }, 'Why?');
    why.addEventListener('click', () => this.#explain(one));
    const texts = [
      reasons[one.why] ?? one.why, one.route, one.limit, client(one),
      one.retry_after === undefined ? '' : length(one.retry_after), one.request_id,
    ];
    const cells = texts.map((text) => element('td', {}, text));
    return element('tr', {}, element('th', { scope: 'row' }, time(one.at)), ...cells, element('td', {}, why));
  }
}
