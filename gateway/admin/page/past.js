// Keeps the seconds that the stream has sent, at most ten minutes, and adds them up.

const length = 600;
export const window = 10;

export class Past {
  seconds = [];
  state = {};

  clear() {
    this.seconds = [];
    this.state = {};
  }

  add(event) {
    const { state, rejections, ...second } = event;
    this.seconds.push(second);
    if (this.seconds.length > length) this.seconds.shift();
    Object.assign(this.state, state);
  }

  get now() {
    return this.seconds.at(-1)?.at ?? 0;
  }

  // Returns the mean per second of one count over the last seconds.
  rate(kind, name, count) {
    const last = this.seconds.slice(-window);
    const sum = last.reduce((all, s) => all + (s[kind][name]?.[count] ?? 0), 0);
    return last.length ? sum / last.length : 0;
  }

  // Returns the last figure of that name within the window, or undefined.
  latest(kind, name, figure) {
    return this.seconds.slice(-window).findLast((s) => s[kind][name]?.[figure] !== undefined)?.[kind][name][figure];
  }

  requestRate() {
    const last = this.seconds.slice(-window);
    const sum = last.reduce((all, s) => all + Object.values(s.requests).reduce((a, b) => a + b, 0), 0);
    return last.length ? sum / last.length : 0;
  }
}
