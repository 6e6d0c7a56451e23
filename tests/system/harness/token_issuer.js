// Signs tokens: an answer of one line of JSON to each line on stdin.
//   {"make": ALG}                          the public half of a new key, as a JSON Web Key
//   {"sign": ALG, "header": …, "payload": …}   a token, signed by the last key of that algorithm
const crypto = require('crypto');
const readline = require('readline');

const pairs = {
  RS256: () => crypto.generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => crypto.generateKeyPairSync('ed25519'),
};
const keys = {};

const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

function make(alg) {
  keys[alg] = pairs[alg]();
  return keys[alg].publicKey.export({ format: 'jwk' });
}

function sign(alg, header, payload) {
  const text = part(header) + '.' + part(payload);
  const key = { key: keys[alg].privateKey, dsaEncoding: 'ieee-p1363' };
  const digest = alg === 'EdDSA' ? null : 'sha256';
  return text + '.' + crypto.sign(digest, Buffer.from(text), key).toString('base64url');
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const asked = JSON.parse(line);
  const answer = asked.make ? make(asked.make) : sign(asked.sign, asked.header, asked.payload);
  process.stdout.write(JSON.stringify(answer) + '\n');
});
