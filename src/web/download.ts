/** Saves a file to the person's computer. */
export function download(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser may still be asking where to save it.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
