/** Acts on a click on a link that would open it here; with a key held down the browser opens it elsewhere. */
export const onPlainClick =
  (act: () => void) =>
  (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    act();
  };
