/**
 * Charts of how costs grow, as SVG: a panel for each engine, both axes logarithmic, the bare driver dashed.
 *
 * @module
 */

import type { Growth } from "./growth.ts";

const PANEL = { width: 300, height: 220, left: 52, right: 12, top: 44, bottom: 40 };
/** Told apart by people who see no red or green, too (Okabe and Ito). */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"];
const LEGEND = 26;

/** A chart. @param unit is what `x` counts. */
export function chart(title: string, unit: string, curves: readonly Growth[]): string {
  const engines = [...new Set(curves.map(({ engine }) => engine))];
  const operations = [...new Set(curves.map(({ operation }) => operation))];
  const points = curves.flatMap((curve) => curve.points);
  const xs = extent(points.map(({ x }) => x));
  const ys = decades(points.flatMap(({ ours, raw }) => [ours, raw]));
  const width = PANEL.width * engines.length;
  const height = PANEL.height + LEGEND;
  const panels = engines.map((engine, i) => {
    const own = curves.filter((curve) => curve.engine === engine);
    return `<g transform="translate(${i * PANEL.width} 0)">${panel(engine, unit, own, operations, xs, ys)}</g>`;
  });
  const legend = [...operations.map((name, i) => ({ name, colour: COLOURS[i], dash: "" })), {
    name: "bare driver",
    colour: "#777",
    dash: "4 3",
  }].map(({ name, colour, dash }, i) => {
    const x = PANEL.left + i * (width - PANEL.left) / (operations.length + 1);
    return `<g transform="translate(${x.toFixed(0)} ${PANEL.height + 12})">` +
      `<path d="M0 0h18" stroke="${colour}" stroke-width="2" stroke-dasharray="${dash}"/>` +
      `<text x="24" y="4">${escape(name)}</text></g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11" fill="#222">` +
    `<title>${escape(title)}</title><rect width="${width}" height="${height}" fill="#fff"/>` +
    `<text x="${PANEL.left}" y="16" font-size="13" font-weight="bold">${escape(title)}</text>` +
    `${panels.join("")}${legend.join("")}</svg>\n`;
}

type Extent = readonly [low: number, high: number];

function panel(
  engine: string,
  unit: string,
  curves: readonly Growth[],
  operations: readonly string[],
  xs: Extent,
  ys: Extent,
): string {
  const { width, height, left, right, top, bottom } = PANEL;
  const x = scale(xs, [left, width - right]);
  const y = scale(ys, [height - bottom, top]);
  const grid: string[] = [];
  for (let decade = ys[0]; decade <= ys[1] * 1.001; decade *= 10) {
    grid.push(`<path d="M${left} ${y(decade)}H${width - right}" stroke="#ddd"/>`);
    grid.push(`<text x="${left - 6}" y="${Number(y(decade)) + 4}" text-anchor="end">${microseconds(decade)}</text>`);
  }
  const ticks = [...new Set(curves.flatMap(({ points }) => points.map((point) => point.x)))].map((value) =>
    `<text x="${x(value)}" y="${height - bottom + 16}" text-anchor="middle">${count(value, unit)}</text>`
  );
  const lines = curves.map(({ operation, points }) => {
    const colour = COLOURS[operations.indexOf(operation)];
    const path = (read: (point: Growth["points"][number]) => number) =>
      "M" + points.map((point) => `${x(point.x)} ${y(read(point))}`).join("L");
    return `<path d="${path(({ raw }) => raw)}" fill="none" stroke="${colour}" stroke-dasharray="4 3" opacity=".6"/>` +
      `<path d="${path(({ ours }) => ours)}" fill="none" stroke="${colour}" stroke-width="2"/>`;
  });
  return `<text x="${left}" y="${top - 10}" font-weight="bold">${engine}</text>${grid.join("")}${ticks.join("")}` +
    `<text x="${(left + width - right) / 2}" y="${height - 6}" text-anchor="middle">${escape(unit)}</text>${
      lines.join("")
    }`;
}

function extent(values: readonly number[]): Extent {
  return [Math.min(...values), Math.max(...values)];
}

function decades(values: readonly number[]): Extent {
  const [low, high] = extent(values);
  return [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high))];
}

/** From a logarithmic axis to places in the picture. */
function scale([low, high]: Extent, [from, to]: Extent): (value: number) => string {
  const span = Math.log(high / low) || 1;
  return (value) => (from + (to - from) * Math.log(value / low) / span).toFixed(1);
}

function microseconds(value: number): string {
  return value >= 1e6 ? `${value / 1e6} s` : value >= 1e3 ? `${value / 1e3} ms` : `${value} µs`;
}

function count(value: number, unit: string): string {
  if (unit === "bytes") return value >= 1024 * 1000 ? "1 MB" : `${value / 1024} KB`;
  return value.toLocaleString("en");
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
