import wasm from "zxing-wasm/reader/zxing_reader.wasm" with { type: "file" };

/** Reads codes from the camera with the browser's BarcodeDetector, or with zxing-wasm, which is loaded when needed. */

interface Detector {
  detect(source: HTMLVideoElement): Promise<{ rawValue: string }[]>;
}
declare const BarcodeDetector: {
  new (options: { formats: readonly string[] }): Detector;
  getSupportedFormats(): Promise<string[]>;
};

/** Codes that are read, as BarcodeDetector and zxing-wasm name them. */
const FORMATS = ["qr_code", "code_128", "data_matrix"] as const;
export const ZXING_FORMATS = ["QRCode", "Code128", "DataMatrix"] as const;
/** Milliseconds between two frames. */
const PAUSE = 150;
/** Milliseconds within which the same code is the same scan. */
const SAME_SCAN = 2500;
/** Widest frame that zxing-wasm gets, in pixels. */
const MAX_WIDTH = 800;

/**
 * Shows the camera in `video` and reports every code it sees until `stop` is aborted.
 * @throws Error where there is no camera, or no permission to use it
 */
export async function watchCamera(
  video: HTMLVideoElement,
  onCode: (code: string) => void,
  stop: AbortSignal,
): Promise<void> {
  if (!navigator.mediaDevices) throw new Error("Browsers allow the camera on HTTPS pages only.");
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  const end = (): void => stream.getTracks().forEach((track) => track.stop());
  if (stop.aborted) return end();
  stop.addEventListener("abort", end);
  video.srcObject = stream;
  await video.play();
  const read = await openReader();
  let last = { code: "", at: 0 };
  while (!stop.aborted) {
    for (const code of video.readyState >= 2 ? await read(video) : []) {
      const now = performance.now();
      if (code !== last.code || now - last.at > SAME_SCAN) onCode(code);
      last = { code, at: now };
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

async function openReader(): Promise<(video: HTMLVideoElement) => Promise<string[]>> {
  if (typeof BarcodeDetector !== "undefined") {
    const supported = await BarcodeDetector.getSupportedFormats();
    if (FORMATS.every((format) => supported.includes(format))) {
      const detector = new BarcodeDetector({ formats: FORMATS });
      return async (video) => (await detector.detect(video)).map(({ rawValue }) => rawValue);
    }
  }
  const { prepareZXingModule, readBarcodes } = await import("zxing-wasm/reader");
  prepareZXingModule({ overrides: { locateFile: () => new URL(wasm, import.meta.url).href } });
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true })!;
  return async (video) => {
    const scale = Math.min(1, MAX_WIDTH / video.videoWidth);
    canvas.width = Math.round(video.videoWidth * scale);
    canvas.height = Math.round(video.videoHeight * scale);
    context.drawImage(video, 0, 0, canvas.width, canvas.height);
    const frame = context.getImageData(0, 0, canvas.width, canvas.height);
    const found = await readBarcodes(frame, { formats: [...ZXING_FORMATS] });
    return found.map(({ text }) => text).filter((text) => text !== "");
  };
}
