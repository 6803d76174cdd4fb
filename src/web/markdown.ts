/** Markdown as HTML. Code and tables, which may scroll, can be reached by keyboard. */
export const toHtml = (markdown: string): string =>
  Bun.markdown
    .html(markdown, { headings: { ids: true } })
    .replaceAll("<pre>", '<pre tabindex="0">')
    .replaceAll(/<table>.*?<\/table>/gs, '<div class="table-scroll" tabindex="0">$&</div>');
