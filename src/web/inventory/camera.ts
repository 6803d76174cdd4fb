/** Reads codes from the camera: with what the browser has, else with a reader of QR codes that is loaded then. */

interface Detector {
  detect(source: HTMLVideoElement): Promise<{ rawValue: string }[]>;
}
declare const BarcodeDetector: { new (options: { formats: string[] }): Detector };

/** Pause between two looks, in milliseconds. */
const PAUSE = 150;
/** For so long, in milliseconds, the same code is still the same scan. */
const SAME = 2500;
/** Widest picture that is looked at without a detector, in pixels. */
const WIDEST = 800;

/**
 * Shows the camera in `video` and tells every code that comes before it, until `stop` is aborted.
 * @throws DOMException where there is no camera, or none for this page
 */
export async function watchCamera(
  video: HTMLVideoElement,
  onCode: (code: string) => void,
  stop: AbortSignal,
): Promise<void> {
  if (!navigator.mediaDevices)
    throw new Error(
      "The browser gives the camera only to pages that it got over HTTPS. A scanner that types works.",
    );
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
      if (code !== last.code || now - last.at > SAME) onCode(code);
      last = { code, at: now };
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

async function openReader(): Promise<(video: HTMLVideoElement) => Promise<string[]>> {
  if (typeof BarcodeDetector !== "undefined") {
    try {
      const detector = new BarcodeDetector({ formats: ["qr_code", "code_128"] });
      return async (video) => (await detector.detect(video)).map(({ rawValue }) => rawValue);
    } catch {
      // It knows none of these codes, as on some Linux systems.
    }
  }
  const { default: jsQR } = await import("jsqr");
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true })!;
  return async (video) => {
    const scale = Math.min(1, WIDEST / video.videoWidth);
    canvas.width = Math.round(video.videoWidth * scale);
    canvas.height = Math.round(video.videoHeight * scale);
    context.drawImage(video, 0, 0, canvas.width, canvas.height);
    const { data, width, height } = context.getImageData(0, 0, canvas.width, canvas.height);
    const found = jsQR(data, width, height);
    return found && found.data !== "" ? [found.data] : [];
  };
}
