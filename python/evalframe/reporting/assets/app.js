// Draws the charts of a report, sorts its tables, and searches them.
(async () => {
  "use strict";

  for (const table of document.querySelectorAll("table.data")) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    table.tHead.addEventListener("click", (event) => {
      const head = event.target.closest("th");
      if (!event.target.closest("button")) return;
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const key = (row) => row.cells[head.cellIndex];
      const order = (one, other) => {
        const [a, b] = [key(one), key(other)];
        if (!("v" in a.dataset)) {
          return sign * a.textContent.localeCompare(b.textContent, "en", { numeric: true });
        }
        const [x, y] = [a, b].map((cell) => cell.dataset.v);
        // What has no number stays last, both ways.
        return x && y ? sign * (x - y) : !x - !y;
      };
      body.append(...[...body.rows].sort(order));
    });

    const search = table.closest(".wrap").previousElementSibling;
    const [input, output] = [search.querySelector("input"), search.querySelector("output")];
    const whole = (row) =>
      [row, ...row.querySelectorAll("[title]")].map((each) => each.title || each.textContent);
    const texts = new Map(rows.map((row) => [row, whole(row).join(" ").toLowerCase()]));
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      for (const row of rows) row.hidden = !texts.get(row).includes(wanted);
      const found = rows.filter((row) => !row.hidden).length;
      output.value = wanted && `${found} of ${rows.length} row${rows.length === 1 ? "" : "s"}`;
    });
    search.hidden = false;
  }

  const refuse = async (uri) => {
    throw new Error(`a report loads nothing, and not ${uri}`);
  };
  const options = {
    mode: "vega-lite",
    ast: true, // without eval
    actions: false,
    renderer: "svg",
    loader: { load: refuse, sanitize: refuse },
  };

  // A phone has panels, names of colours and halves of titles below each other, no column of
  // numbers beside a chart, and charts as wide as it is.
  const phone = matchMedia("(max-width: 640px)");
  const LEAST = 140;
  function* nodes(node) {
    yield node;
    for (const parts of [node.concat, node.vconcat, node.layer]) {
      for (const part of parts ?? []) yield* nodes(part);
    }
  }
  const isColumn = (layer) => layer.mark?.type === "text" && layer.encoding?.x?.value !== undefined;
  const stacked = (spec) => {
    for (const node of nodes(spec)) {
      if (node.hconcat) [node.vconcat, node.hconcat] = [node.hconcat];
      if (node.concat) node.columns = 1;
      if (node.layer) node.layer = node.layer.filter((layer) => !isColumn(layer));
      const x = node.encoding?.x;
      for (const named of [x, x?.axis]) {
        if (typeof named?.title === "string") named.title = named.title.split(" · ");
      }
    }
    spec.config.legend = { ...spec.config.legend, columns: 1 };
    return spec;
  };
  const narrowed = (spec, excess) => {
    const sized = [...nodes(spec)].filter((node) => typeof node.width === "number");
    const width = Math.max(LEAST, Math.max(...sized.map((node) => node.width)) - excess);
    for (const node of sized) {
      if (node.height === node.width) node.height = Math.min(node.height, width);
      node.width = Math.min(node.width, width);
    }
    return spec;
  };

  const drawn = async (figure, spec) => {
    const live = figure.querySelector(".live");
    const embedded = (each) => vegaEmbed(live, structuredClone(each), options);
    await embedded(phone.matches ? stacked(spec) : spec);
    const excess = live.querySelector("svg").width.baseVal.value - figure.clientWidth;
    if (phone.matches && excess > 0) await embedded(narrowed(spec, excess));
    figure.classList.add("drawn");
  };
  const text = document.getElementById("specs").textContent;
  const draw = async () => {
    let number = 0;
    for (const [name, spec] of Object.entries(JSON.parse(text))) {
      try {
        await drawn(document.getElementById(name), spec);
        number += 1;
      } catch (error) {
        console.error(`${name} is not drawn`, error);
      }
    }
    document.documentElement.dataset.drawn = number;
  };
  phone.addEventListener("change", draw);
  await draw();
})();
