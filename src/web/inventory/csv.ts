/** Rows of a CSV file (RFC 4180) separated by commas, semicolons or tabs, for display; the server parses the file itself. */
export function readCsv(text: string): string[][] {
  const first = text.slice(0, text.search(/\r?\n|$/));
  const separator = [",", ";", "\t"].reduce((best, each) =>
    first.split(each).length > first.split(best).length ? each : best,
  );
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = "";
  let quoted = false;
  for (let i = text.startsWith("\ufeff") ? 1 : 0; i < text.length; i++) {
    const character = text[i];
    if (quoted) {
      if (character !== '"') cell += character;
      else if (text[i + 1] === '"') cell += text[++i];
      else quoted = false;
    } else if (character === '"' && cell === "") quoted = true;
    else if (character === separator) {
      row.push(cell);
      cell = "";
    } else if (character === "\n") {
      row.push(cell.replace(/\r$/, ""));
      rows.push(row);
      row = [];
      cell = "";
    } else cell += character;
  }
  if (cell !== "" || row.length > 0) rows.push([...row, cell]);
  return rows;
}
