// As token_issuer.js, by npm's package jose, wherever NODE_PATH has it; with HS256, too.
//   {"make": ALG}                          the public JSON Web Key of a new key, or the secret
//   {"sign": ALG, "header": …, "payload": …}   a token, signed by the last key of that algorithm
//   {"verify": TOKEN, "alg": ALG}          whether that key has signed it
const readline = require('readline');
const url = require('url');

const keys = {};

async function answer(jose, asked) {
  if (asked.make) {
    const options = { extractable: true };
    const pair = asked.make === 'HS256'
      ? await jose.generateSecret('HS256', options)
      : await jose.generateKeyPair(asked.make, options);
    keys[asked.make] = { sign: pair.privateKey ?? pair, verify: pair.publicKey ?? pair };
    const jwk = await jose.exportJWK(keys[asked.make].verify);
    return { ...jwk, alg: asked.make, use: 'sig', kid: await jose.calculateJwkThumbprint(jwk) };
  }
  if (asked.verify) {
    return jose.jwtVerify(asked.verify, keys[asked.alg].verify).then(() => true, () => false);
  }
  return new jose.SignJWT(asked.payload).setProtectedHeader(asked.header).sign(keys[asked.sign].sign);
}

// One after the other, so that answers are in the order of the questions.
async function main() {
  const jose = await import(url.pathToFileURL(require.resolve('jose')));
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await answer(jose, JSON.parse(line))) + '\n');
  }
}

main();
