import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { qrMatrix } from "../../src/platform/qr-code.ts";

/** A camera that sees one label, as raw video (YUV4MPEG2). */

/** The consumable of the demonstration whose label the camera sees. */
export const BEFORE_CAMERA = { id: "5f1e627f-8aba-5e10-93ff-82dee93474e6", name: "BsaI-HF" };

const videoIn = (directory: string): string => join(directory, "camera.y4m");

/** Arguments of the browser whose camera sees `BEFORE_CAMERA`. */
export function cameraIn(directory: string): string[] {
  showToCamera(directory, BEFORE_CAMERA.id);
  return [
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    `--use-file-for-fake-video-capture=${videoIn(directory)}`,
  ];
}

/** Holds the label of another record before the camera, for pages that begin to watch it from now on. */
export function showToCamera(directory: string, id: string): void {
  const [width, height, module] = [640, 480, 10];
  const { size, dark } = qrMatrix(`http://lab/i/${id.slice(0, 13)}`);
  const left = (width - size * module) / 2;
  const top = (height - size * module) / 2;
  const luma = new Uint8Array(width * height).fill(235);
  for (let y = 0; y < size * module; y++)
    for (let x = 0; x < size * module; x++)
      if (dark(Math.floor(x / module), Math.floor(y / module))) luma[(top + y) * width + left + x] = 16;
  const grey = new Uint8Array((width * height) / 2).fill(128);
  const header = `YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420mpeg2\nFRAME\n`;
  writeFileSync(videoIn(directory), Buffer.concat([Buffer.from(header), luma, grey]));
}
