import type { Page } from "./page.tsx";
import { administrationPage } from "./pages/administration.tsx";
import { administrationAuditPage } from "./pages/administration-audit.tsx";
import { administrationBackupsPage } from "./pages/administration-backups.tsx";
import { administrationCorporaPage } from "./pages/administration-corpora.tsx";
import { administrationFarmPage } from "./pages/administration-farm.tsx";
import { administrationFeaturesPage } from "./pages/administration-features.tsx";
import { administrationJobsPage } from "./pages/administration-jobs.tsx";
import { administrationMotifClassesPage } from "./pages/administration-motif-classes.tsx";
import { administrationTokensPage } from "./pages/administration-tokens.tsx";
import { administrationUsersPage } from "./pages/administration-users.tsx";
import { apiPage } from "./pages/api.tsx";
import { assistantChangePage } from "./pages/assistant-change.tsx";
import { batchPage } from "./pages/batch.tsx";
import { changesPage } from "./pages/changes.tsx";
import { classPage } from "./pages/class.tsx";
import { classesPage } from "./pages/classes.tsx";
import { clientsPage } from "./pages/clients.tsx";
import { comparePage } from "./pages/compare.tsx";
import { helpPage } from "./pages/help.tsx";
import { homePage } from "./pages/home.tsx";
import { inventoryBuildPage } from "./pages/inventory-build.tsx";
import { inventoryChangesPage } from "./pages/inventory-changes.tsx";
import { inventoryImportPage } from "./pages/inventory-import.tsx";
import { inventoryLabelsPage } from "./pages/inventory-labels.tsx";
import { inventoryListPage } from "./pages/inventory-list.tsx";
import { inventoryNewPage } from "./pages/inventory-new.tsx";
import { inventoryRecordPage } from "./pages/inventory-record.tsx";
import { inventoryPage } from "./pages/inventory.tsx";
import { storagePage } from "./pages/storage.tsx";
import { jointScanPage } from "./pages/joint-scan.tsx";
import { missingPage } from "./pages/missing.tsx";
import { motifScanPage } from "./pages/motif-scan.tsx";
import { motifScanResultPage } from "./pages/motif-scan-result.tsx";
import { offlinePage } from "./pages/offline.tsx";
import { proteinPage } from "./pages/protein.tsx";
import { proteinsPage } from "./pages/proteins.tsx";
import { proteomePage } from "./pages/proteome.tsx";
import { proteomeSearchPage } from "./pages/proteome-search.tsx";
import { profilePage } from "./pages/profile.tsx";
import { referencePage } from "./pages/reference.tsx";
import { resultsPage } from "./pages/results.tsx";
import { resultPage } from "./pages/result.tsx";
import { runningOutPage } from "./pages/running-out.tsx";
import { scanPage } from "./pages/scan.tsx";
import { scorePage } from "./pages/score.tsx";
import { searchPage } from "./pages/search.tsx";
import { secondFactorPage } from "./pages/second-factor.tsx";
import { setPasswordPage } from "./pages/set-password.tsx";
import { setupPage } from "./pages/setup.tsx";
import { signInPage } from "./pages/sign-in.tsx";
import { stocktakePage } from "./pages/stocktake.tsx";
import { usedLinkPage } from "./pages/used-link.tsx";
import { verifyEmailPage } from "./pages/verify-email.tsx";

/** Every page; the routes come from here. */
export const PAGES: readonly Page[] = [
  homePage,
  helpPage,
  signInPage,
  setupPage,
  setPasswordPage,
  verifyEmailPage,
  secondFactorPage,
  profilePage,
  assistantChangePage,
  scorePage,
  resultPage,
  resultsPage,
  classesPage,
  classPage,
  comparePage,
  changesPage,
  batchPage,
  motifScanPage,
  motifScanResultPage,
  proteinsPage,
  proteinPage,
  proteomePage,
  proteomeSearchPage,
  jointScanPage,
  searchPage,
  inventoryPage,
  storagePage,
  inventoryBuildPage,
  inventoryChangesPage,
  scanPage,
  inventoryLabelsPage,
  stocktakePage,
  offlinePage,
  runningOutPage,
  inventoryListPage,
  inventoryNewPage,
  inventoryImportPage,
  inventoryRecordPage,
  administrationPage,
  administrationAuditPage,
  administrationBackupsPage,
  administrationCorporaPage,
  administrationJobsPage,
  administrationFarmPage,
  administrationMotifClassesPage,
  administrationFeaturesPage,
  administrationTokensPage,
  administrationUsersPage,
  apiPage,
  referencePage,
  clientsPage,
  missingPage,
  usedLinkPage,
];
