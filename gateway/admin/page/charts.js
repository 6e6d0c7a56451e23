// Draws the two charts with Chart.js. A series is told apart by its dashes as well as by its colour, and
// the legend names it with its last value.

import { byId, element, visible } from './elements.js';
import { number, time } from './texts.js';

const dashes = [[], [6, 3], [2, 2], [10, 3, 2, 3], [4, 4], [1, 4]];

const colour = (i) => getComputedStyle(document.documentElement).getPropertyValue(`--series-${(i % 6) + 1}`).trim();
const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class LineChart {
  #chart;
  #legend;
  #canvas;
  #unit;

  constructor(id, unit) {
    this.#canvas = byId(`${id}-chart`);
    this.#legend = byId(`${id}-legend`);
    this.#unit = unit;
    const axis = () => ({ ticks: {}, grid: {}, border: {} });
    this.#chart = new Chart(this.#canvas, {
      type: 'line',
      data: { datasets: [] },
      options: {
        animation: false,
        parsing: false,
        normalized: true,
        responsive: true,
        maintainAspectRatio: false,
        events: [],
        elements: { point: { radius: 0 }, line: { borderWidth: 2, tension: 0 } },
        plugins: { legend: { display: false }, tooltip: { enabled: false } },
        scales: {
          x: { ...axis(), type: 'linear', ticks: { maxTicksLimit: 6, maxRotation: 0, callback: (at) => time(at) } },
          y: { ...axis(), beginAtZero: true, ticks: { maxTicksLimit: 5 } },
        },
      },
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#colour());
    this.#colour();
  }

  // `series` is a list of [name, points], each point {x: Unix time, y: value or null}.
  draw(series, from, to) {
    const sets = this.#chart.data.datasets;
    series.forEach(([name, points], i) => {
      sets[i] ??= { borderDash: dashes[i % dashes.length], borderColor: colour(i), spanGaps: false };
      sets[i].label = name;
      sets[i].data = points;
    });
    sets.length = series.length;
    this.#chart.options.scales.x.min = from;
    this.#chart.options.scales.x.max = to;
    this.#chart.update('none');
    this.#label(series);
  }

  #label(series) {
    const last = series.map(([name, points]) => {
      const y = points.at(-1)?.y;
      return `${name}: ${y === null || y === undefined ? '–' : number(y)}${this.#unit}`;
    });
    this.#canvas.setAttribute('aria-label', `the last ten minutes; now ${last.join(', ')}`);
    if (this.#legend.children.length !== series.length) {
      this.#legend.replaceChildren(...series.map((_, i) => element('span', {}, sample(i), element('span'))));
    }
    last.forEach((text, i) => (this.#legend.children[i].lastChild.textContent = visible(text)));
  }

  #colour() {
    this.#chart.data.datasets.forEach((set, i) => (set.borderColor = colour(i)));
    for (const axis of Object.values(this.#chart.options.scales)) {
      axis.ticks.color = variable('--quiet');
      axis.grid.color = variable('--line') + '55';
    }
    this.#legend.replaceChildren();
    this.#chart.update('none');
  }
}

// Returns a piece of the series' line.
function sample(i) {
  const space = 'http://www.w3.org/2000/svg';
  const svg = document.createElementNS(space, 'svg');
  const line = document.createElementNS(space, 'line');
  for (const [name, value] of Object.entries({ x1: 0, y1: 5, x2: 29, y2: 5, 'stroke-width': 2 })) line.setAttribute(name, value);
  line.setAttribute('stroke', colour(i));
  line.setAttribute('stroke-dasharray', dashes[i % dashes.length].join(' '));
  svg.setAttribute('aria-hidden', 'true');
  svg.append(line);
  return svg;
}
