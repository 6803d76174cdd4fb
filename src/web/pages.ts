import type { Page } from "./page.tsx";
import { batchPage } from "./pages/batch.tsx";
import { homePage } from "./pages/home.tsx";
import { inventoryImportPage } from "./pages/inventory-import.tsx";
import { inventoryListPage } from "./pages/inventory-list.tsx";
import { inventoryNewPage } from "./pages/inventory-new.tsx";
import { inventoryRecordPage } from "./pages/inventory-record.tsx";
import { inventoryPage } from "./pages/inventory.tsx";
import { locationTreePage } from "./pages/location-tree.tsx";
import { missingPage } from "./pages/missing.tsx";
import { resultPage } from "./pages/result.tsx";
import { scorePage } from "./pages/score.tsx";
import { signInPage } from "./pages/sign-in.tsx";

/** Every page; the routes come from here. */
export const PAGES: readonly Page[] = [
  homePage,
  signInPage,
  scorePage,
  resultPage,
  batchPage,
  inventoryPage,
  locationTreePage,
  inventoryListPage,
  inventoryNewPage,
  inventoryImportPage,
  inventoryRecordPage,
  missingPage,
];
