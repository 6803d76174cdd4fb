/** Files that the build embeds as text or by address (`import … with { type: "text" | "file" }`). */
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*.fasta" {
  const text: string;
  export default text;
}
declare module "*.tsv" {
  const text: string;
  export default text;
}
declare module "*.ttf" {
  const address: string;
  export default address;
}
