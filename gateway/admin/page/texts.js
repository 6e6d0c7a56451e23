// Writes moments, durations and numbers for people.

export const time = (at) => new Date(at * 1000).toLocaleTimeString('en-GB');

export const date = (at) => new Date(at * 1000).toISOString().replace('T', ' ').slice(0, 16) + ' UTC';

export function length(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 120) return `${s} s`;
  if (s < 7200) return `${Math.floor(s / 60)} min`;
  if (s < 172800) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} days`;
}

export const number = (n) => (n === 0 ? '0' : n >= 100 ? Math.round(n).toString() : n.toFixed(n >= 10 ? 1 : 2));

export const milliseconds = (s) => (s === undefined ? '–' : `${number(s * 1000)} ms`);

// Names a client: the values of its key, or the bucket's hash for those without the token.
export function client(of) {
  if (of.client) return of.client;
  if (of.key?.length) return of.key.map((part) => part.value ?? `${part.part} sha256 ${part.sha256.slice(0, 12)}…`).join(', ');
  return of.bucket ? `bucket ${of.bucket}` : '';
}
