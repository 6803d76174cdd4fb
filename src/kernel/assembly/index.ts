/** Exports of the module. The caller lays out its memory. */
export { score } from "./score";
export { trace16 } from "./trace";
export { prepareScan, scan, scannedRows, scannedSequences } from "./scan";
export { band32, scoreBand } from "./band";
export { dense, embed, sigmoid, addPositive, gatedMeans } from "./network";
