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

  // A phone has panels below each other, and no column of numbers beside a chart.
  const phone = matchMedia("(max-width: 640px)");
  const narrowed = (node) => {
    if (node.hconcat) [node.vconcat, node.hconcat] = [node.hconcat];
    if (node.concat) node.columns = 1;
    if (typeof node.width === "number") {
      const width = Math.min(node.width, Math.max(140, innerWidth - 250));
      if (node.height === node.width) node.height = width;
      node.width = width;
    }
    if (node.layer) {
      node.layer = node.layer.filter(
        (each) => each.mark?.type !== "text" || each.encoding?.x?.value === undefined,
      );
    }
    for (const parts of [node.concat, node.vconcat, node.layer]) parts?.forEach(narrowed);
    return node;
  };

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
  const text = document.getElementById("specs").textContent;
  const draw = async () => {
    let drawn = 0;
    for (const [name, spec] of Object.entries(JSON.parse(text))) {
      const figure = document.getElementById(name);
      try {
        await vegaEmbed(figure.querySelector(".live"), phone.matches ? narrowed(spec) : spec, options);
        figure.classList.add("drawn");
        drawn += 1;
      } catch (error) {
        console.error(`${name} is not drawn`, error);
      }
    }
    document.documentElement.dataset.drawn = drawn;
  };
  phone.addEventListener("change", draw);
  await draw();
})();
