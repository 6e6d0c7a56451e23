// Makes elements. Texts are only ever set as text, so that what a stranger sent is never markup.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.map((child) => (child instanceof Node ? child : visible(child))));
  return made;
}

// Returns a text whose control characters and marks of writing direction are shown, and not obeyed.
export function visible(text) {
  return String(text).replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (sign) => '\\u' + sign.codePointAt(0).toString(16).padStart(4, '0'),
  );
}

export const byId = (id) => document.getElementById(id);

// Sets the rows of a table's body where they have changed: [[key, cells]], each cell a text or a node.
export function setRows(table, rows) {
  const body = table.tBodies[0];
  const known = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  rows.forEach(([key, cells], i) => {
    let row = known.get(key);
    if (!row) {
      row = element('tr', { 'data-key': key });
      cells.forEach((_, n) => row.append(element(n === 0 ? 'th' : 'td', n === 0 ? { scope: 'row' } : {})));
    }
    cells.forEach((cell, n) => setCell(row.cells[n], cell));
    if (body.rows[i] !== row) body.insertBefore(row, body.rows[i] ?? null);
    known.delete(key);
  });
  for (const row of known.values()) row.remove();
}

// A cell is a text, or { text, kind } with a class, or { lines } of several texts.
function setCell(at, cell) {
  const { text, lines = [text], kind = 'text' } = typeof cell === 'object' ? cell : { text: cell, kind: '' };
  const shown = lines.map(visible).join('\n');
  if (at.textContent !== shown) at.textContent = shown;
  if (at.className !== kind) at.className = kind;
}

// Sets a list of names, each with one value or more.
export function setPairs(list, pairs) {
  const shown = JSON.stringify(pairs);
  if (list.dataset.shown === shown) return;
  list.dataset.shown = shown;
  list.replaceChildren(...pairs.flatMap(([name, ...values]) => [
    element('dt', {}, name), ...values.map((value) => element('dd', {}, value)),
  ]));
}
