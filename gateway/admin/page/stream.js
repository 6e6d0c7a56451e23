// Reads the stream of server-sent events. EventSource could not send the token, so that this reads a
// response of fetch(), and goes on where it was when the stream is lost.

const again = 1000;
const silence = 5000;

export class Stream {
  #token = '';
  #last = '';
  #abort = new AbortController();
  #heard;
  #says;

  // Calls heard(event) for each event, and says(state) for "live", "lost" or "refused: REASON".
  constructor(heard, says) {
    this.#heard = heard;
    this.#says = says;
    this.#run();
  }

  // Asks anew, with the token or without one, for everything that the other audience has not seen.
  use(token) {
    this.#token = token;
    this.#last = '';
    this.#abort.abort();
  }

  async #run() {
    for (;;) {
      this.#abort = new AbortController();
      const token = this.#token;
      try {
        await this.#read(this.#abort);
      } catch {
        // Lost, or asked anew: the same follows.
      }
      if (token === this.#token) {
        this.#says('lost');
        await new Promise((go) => setTimeout(go, again));
      }
    }
  }

  async #read(abort) {
    const headers = this.#token ? { Authorization: `Bearer ${this.#token}` } : {};
    if (this.#last) headers['Last-Event-ID'] = this.#last;
    const token = this.#token;
    const answer = await fetch('v1/stream', { headers, signal: abort.signal, cache: 'no-store' });
    if (!answer.ok) {
      const problem = await answer.json().catch(() => ({}));
      if (answer.status === 401 || answer.status === 403) this.#token = '';
      this.#says(`refused: ${problem.detail ?? answer.status}`, token);
      throw new Error('refused');
    }
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    for (;;) {
      const timer = setTimeout(() => abort.abort(), silence);
      const { done, value } = await reader.read();
      clearTimeout(timer);
      if (done) return;
      text += value;
      const events = text.split('\n\n');
      text = events.pop();
      this.#events(events, token);
    }
  }

  #events(events, token) {
    const parsed = [];
    for (const lines of events) {
      const data = /^data: (.*)$/m.exec(lines);
      const id = /^id: (.*)$/m.exec(lines);
      if (data) parsed.push(JSON.parse(data[1]));
      if (id) this.#last = id[1];
    }
    if (parsed.length > 0 && token === this.#token) {
      this.#heard(parsed);
      this.#says('live', token);
    }
  }
}
