export type {
  AppliedClassModel,
  Homolog,
  HomologAtMatch,
  MatchScore,
  PatternScores,
  Prediction,
  RandomMatches,
} from "../motif/index.ts";
export {
  Corpora,
  type CorpusInfo,
  corpusPath,
  findCorpusDamage,
  emptyCorpus,
  isEarlierFormat,
  openCorpusFile,
  verifyCorpusFile,
} from "./corpus/corpus.ts";
export { findProteins } from "./corpus/find-proteins.ts";
export { decompressed } from "./corpus/fasta-stream.ts";
export {
  type Farm,
  type FarmDependencies,
  type FarmJobs,
  type Offer,
  type RemoteLease,
  UNKNOWN_WORKER,
} from "./jobs/farm-jobs.ts";
export {
  type BackgroundQueue,
  type BackgroundTask,
  type IdleTask,
  type IdleWork,
} from "./jobs/background.ts";
export { Pool } from "./jobs/pool.ts";
export type { JobSource, Progress } from "./jobs/pool-options.ts";
export type { FamiliesReport, FamiliesTask } from "./jobs/worker-messages.ts";
export type { Lease } from "./jobs/fair-scheduler.ts";
export type { ScoringVersion } from "./corpus/corpus.ts";
export { jobCompletions, type JobCompletions } from "./jobs/job-completions.ts";
export { CLASS_TYPES, type ClassType, type MotifClass, type MotifClasses } from "./corpus/motif-classes.ts";
export { type Scan, type ScanMatch, makeScan, scanPart } from "./results/scan.ts";
export {
  PROTEOME_FORMATS,
  type ProteomeFormatName,
  SCAN_FORMATS,
  type ScanFormatName,
} from "./results/file-formats.ts";
export { printVariant, variantComparisons, variantHead } from "./results/variants.ts";
export { printProteome, printTable, tableWorkbook } from "./results/print-table.ts";
export { type Filter, type FilterValues, listFormerNames } from "./table/filters.ts";
export { MATCH_TABLES, type MatchTable } from "./table/match-tables.ts";
export type { TablePart } from "./table/rows.ts";
export { TABLE_FORMATS, type TableFormat } from "./table/table-formats.ts";
export { dependsOnFeatures, listOrders, orderColumn, type TableView, viewRows } from "./table/view.ts";
export type { ComparedMatch, Comparison } from "./results/comparison.ts";
export type { MotifTables } from "./corpus/motif-tables.ts";
export type { ClassReport, Learning } from "./corpus/class-models.ts";
export { FEATURE_GROUP_NAMES, FEATURE_GROUPS, type Feature, type FeatureGroup } from "./features/feature.ts";
export type { MatchNotes, ResultFeatures } from "./features/annotation.ts";
export { type FeatureFileInfo, type FeatureFiles, FLAGS, type Flag } from "./features/feature-files.ts";
export { withRowNotes } from "./features/row-notes.ts";
export { FEATURE_FORMAT_NAMES, type FeatureFormatName, formatTitle } from "./features/formats.ts";
export { JointScan, type JointScanObject } from "./results/joint-scan.ts";
export { BUILD_STATES, type Build } from "./proteome/builds.ts";
export { buildFamilies, onThreads } from "./proteome/build.ts";
export { type BuildPlan, planBuild } from "./proteome/plan.ts";
export { familiesPath, listFamilies, removeFamilies } from "./corpus/families-file.ts";
export { type ProteomeTable, searchProteome } from "./proteome/table.ts";
export {
  SCORE_FORMATS,
  type ScoreFormatName,
  scoredPart,
  SERIES_FORMATS,
  seriesPrinter,
} from "./results/series-printer.ts";
export {
  type EvidenceChoice,
  type JobRequest,
  MAX_ATTEMPTS,
  MAX_INTERRUPTIONS,
  readEvidenceChoice,
  type State,
  STATES,
} from "./jobs/job.ts";
export type { JobObject } from "./api/json-schemas.ts";
export type { ProteomeObject, ProteomeSearchObject } from "./api/proteome-schemas.ts";
export type { JobModel, StructureModel } from "./structure/model-schemas.ts";
export type { ProteinObject } from "./prediction/prediction.ts";
export { fullProvenance, hashQueries, runProvenance, searchProvenance } from "./prediction/provenance.ts";
export { readProvenance } from "./results/read-provenance.ts";
export { type Provenance, type RecordedPattern, withView } from "./table/provenance.ts";
export { ENDPOINT } from "./api/soap-routes.ts";
export type { NamedQuestion } from "./batch/questions.ts";
export type { Scored } from "./batch/score.ts";
export { shardHeader, type Run, type ShardBeginning, type ShardEnd } from "./batch/shard.ts";
export type { Shard } from "./batch/shard-range.ts";
export { readScoringFiles, readStoredJobs, type ReadContent } from "./stored-contents.ts";
export { findFeatureDamage } from "./features/feature-files.ts";
export { openScoring, type Scoring, type ScoringOptions } from "./open.ts";
