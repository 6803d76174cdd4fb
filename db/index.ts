import baseline from "./0001-baseline.sql" with { type: "text" };
import jobIdempotencyKey from "./0002-job-idempotency-key.sql" with { type: "text" };
import resultPart from "./0003-result-part.sql" with { type: "text" };
import namesOfHiddenRecords from "./0004-names-of-hidden-records.sql" with { type: "text" };
import multiplexedAssays from "./0005-multiplexed-assays.sql" with { type: "text" };
import positions from "./0006-positions.sql" with { type: "text" };
import watchedQueries from "./0007-watched-queries.sql" with { type: "text" };
import proteomeBuilds from "./0008-proteome-builds.sql" with { type: "text" };
import annotationValues from "./0009-annotation-values.sql" with { type: "text" };
import jobModel from "./0010-job-model.sql" with { type: "text" };
import modelsOfLabid from "./0011-models-of-labid.sql" with { type: "text" };
import stock from "./0012-stock.sql" with { type: "text" };
import placesWithoutAddress from "./0013-places-without-address.sql" with { type: "text" };
import search from "./0014-search.sql" with { type: "text" };
import reminders from "./0015-reminders.sql" with { type: "text" };
import verifiedAddresses from "./0016-verified-addresses.sql" with { type: "text" };
import owners from "./0017-owners.sql" with { type: "text" };
import tasks from "./0018-tasks.sql" with { type: "text" };
import recordText from "./0019-record-text.sql" with { type: "text" };

/** Embedded migrations in order. Forward only: never edit a released one. */
export const MIGRATIONS: readonly { name: string; sql: string }[] = [
  { name: "0001-baseline.sql", sql: baseline },
  { name: "0002-job-idempotency-key.sql", sql: jobIdempotencyKey },
  { name: "0003-result-part.sql", sql: resultPart },
  { name: "0004-names-of-hidden-records.sql", sql: namesOfHiddenRecords },
  { name: "0005-multiplexed-assays.sql", sql: multiplexedAssays },
  { name: "0006-positions.sql", sql: positions },
  { name: "0007-watched-queries.sql", sql: watchedQueries },
  { name: "0008-proteome-builds.sql", sql: proteomeBuilds },
  { name: "0009-annotation-values.sql", sql: annotationValues },
  { name: "0010-job-model.sql", sql: jobModel },
  { name: "0011-models-of-labid.sql", sql: modelsOfLabid },
  { name: "0012-stock.sql", sql: stock },
  { name: "0013-places-without-address.sql", sql: placesWithoutAddress },
  { name: "0014-search.sql", sql: search },
  { name: "0015-reminders.sql", sql: reminders },
  { name: "0016-verified-addresses.sql", sql: verifiedAddresses },
  { name: "0017-owners.sql", sql: owners },
  { name: "0018-tasks.sql", sql: tasks },
  { name: "0019-record-text.sql", sql: recordText },
];
