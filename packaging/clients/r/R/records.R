# Lists of records of the inventory.

.list_info <- function(list) {
  info <- .labd_lists[[list]]
  if (is.null(info)) stop(sprintf("There is no list \"%s\". Choose from %s.", list, paste(names(.labd_lists), collapse = ", ")))
  info
}

.list_path <- function(list, record = NULL) {
  paste0("/api/v2/", .list_info(list)$path, "/", if (!is.null(record)) paste0(.id(record), "/"))
}

# The id of a record, a row of a data frame, or an id.
.id <- function(record) if (is.list(record)) as.character(record$id)[1] else as.character(record)

#' Read a list of records
#'
#' Each list also has a function of its own, such as `labd_consumables`, whose page describes its fields.
#'
#' Filters are `field = value` or `field__lookup = value` with the lookups exact, iexact, contains, icontains, startswith,
#' istartswith, endswith, iendswith, gt, gte, lt, lte, `in` and isnull; `__` also follows references:
#' `location__label = "Box 1"`. Several values are alternatives; NA means records without a value. Days may be counted from
#' today: `expiry__lte = "30d"`.
#'
#' @param lab A connection of `labd_connect`.
#' @param list Name of the list, such as "consumables".
#' @param ... Filters, and other parameters of the list such as `ordering`, `query`, `mine`, `deleted` or `as_of`.
#' @param limit At most so many records; pages are fetched as they are needed.
#' @param fields Columns, also across references (`location__unique_path`) and of annotations (`annotations__clonality`).
#' @return A data frame with one row for each record. Days are Date, times POSIXct (UTC), missing values NA.
#' @examples
#' lab <- labd_connect("http://127.0.0.1:8480")
#' labd_list(lab, "locations", label__icontains = "oligos", limit = 10)
#' @export
labd_list <- function(lab, list, ..., limit = Inf, fields = NULL) {
  info <- .list_info(list)
  query <- c(base::list(fields = if (is.null(fields)) info$shown else fields), base::list(...))
  size <- max(1, min(1000, limit))
  progress <- .progress(lab, paste("Reading", list))
  records <- base::list()
  page <- 1
  repeat {
    answer <- .page(lab, list, c(query, base::list(page = page, page_size = size)))
    records <- c(records, answer$results)
    progress$at(length(records) / max(1, min(answer$total, limit)), paste(length(records), "records"))
    if (is.null(answer[["next"]]) || length(records) >= limit) break
    page <- page + 1
  }
  progress$end()
  .frame(utils::head(records, limit), info$types, if (is.null(fields)) info$shown else fields)
}

# A page; long queries are sent in the body.
.page <- function(lab, list, query) {
  if (nchar(.query(.params(query))) <= 4000) return(.json(lab, "GET", .list_path(list), query = query))
  .json(lab, "POST", paste0(.list_path(list), "search/"), json = .params(query), repeatable = TRUE)
}

#' Count records
#'
#' @param lab A connection of `labd_connect`.
#' @param list Name of the list, such as "consumables".
#' @param ... Filters, as of `labd_list`.
#' @return The number of matching records that you may view.
#' @examples
#' lab <- labd_connect("http://127.0.0.1:8480")
#' labd_count(lab, "consumables", location = NA)
#' @export
labd_count <- function(lab, list, ...) {
  .page(lab, list, c(base::list(...), base::list(fields = "id", page_size = 1)))$total
}

#' Get, create, change, delete and restore records
#'
#' @param lab A connection of `labd_connect`.
#' @param list Name of the list, such as "consumables".
#' @param record Id of a record, a record, or a row of a data frame.
#' @param fields Fields to return.
#' @param ... Values of fields; NULL clears one.
#' @param records Data frame with a row for each record to create, instead of values: all or none.
#' @param version Version of the record when you read it (`fields = "*"`): the change fails with the condition
#'   `labd_version_conflict` if somebody has changed the record since.
#' @param dry_run TRUE returns the preview of a change instead of making it.
#' @return The record as a list; of several records, a data frame; nothing for a deletion.
#' @examples
#' lab <- labd_connect("http://127.0.0.1:8480", token = Sys.getenv("LABD_TOKEN"))
#' made <- labd_create(lab, "consumables", name = "Tris", amount = 500, unit = "ml")
#' labd_update(lab, "consumables", made, supplier = "Example Biotech")
#' labd_delete(lab, "consumables", made)
#' @name labd_records
NULL

#' @rdname labd_records
#' @export
labd_get <- function(lab, list, record, fields = NULL) {
  query <- if (is.null(fields)) base::list() else base::list(fields = fields)
  .plain_record(.json(lab, "GET", .list_path(list, record), query = query))
}

#' @rdname labd_records
#' @export
labd_create <- function(lab, list, ..., records = NULL, dry_run = FALSE) {
  json <- if (is.null(records)) .body(...) else .rows(records)
  made <- .json(lab, "POST", .list_path(list), query = .dry(dry_run), json = json, repeatable = .list_info(list)$repeatable)
  if (is.null(records) || dry_run) .plain_record(made) else .frame(made, .list_info(list)$types)
}

#' @rdname labd_records
#' @export
labd_update <- function(lab, list, record, ..., version = NULL, dry_run = FALSE) {
  headers <- if (is.null(version)) base::list() else base::list(`If-Match` = sprintf("\"%d\"", as.integer(version)))
  .plain_record(.json(lab, "PATCH", .list_path(list, record), query = .dry(dry_run), json = .body(...),
    headers = headers, repeatable = is.null(version)))
}

#' @rdname labd_records
#' @export
labd_delete <- function(lab, list, record) {
  .request(lab, "DELETE", .list_path(list, record))
  invisible(NULL)
}

#' @rdname labd_records
#' @export
labd_restore <- function(lab, list, record) {
  path <- paste0(.list_path(list, record), "restore/")
  .plain_record(.json(lab, "POST", path, json = .body(), repeatable = TRUE))
}

.dry <- function(dry_run) if (dry_run) list(dry_run = "1") else list()

.json_value <- function(value) {
  if (inherits(value, c("Date", "POSIXt", "difftime"))) .value(value)
  else if (is.character(value)) .utf8(value)
  else value
}

# Named values as a JSON object, also where there are none.
.body <- function(...) {
  values <- list(...)
  if (length(values) == 0) return(structure(list(), names = character()))
  lapply(values, .json_value)
}

.rows <- function(records) {
  lapply(seq_len(nrow(records)), function(at) lapply(as.list(records[at, , drop = FALSE]), function(value) {
    if (is.na(value)) NULL else .json_value(value)
  }))
}

#' Import a file or a data frame
#'
#' All rows or none. Columns are fields by name or title; the section Import of the server's help says how cells are read.
#' An import is never repeated by itself after a lost connection.
#'
#' @param lab A connection of `labd_connect`.
#' @param list Name of the list, such as "consumables".
#' @param file Path of a CSV, XLSX or ELN file, or a data frame.
#' @param dry_run TRUE checks only.
#' @param ... `match` ("name" or "barcode" changes existing records), `partial`, `mapping`, `dates`, `unit`.
#' @return A list with `rows`, `created`, `updated`, `unchanged`, `errors` and more. If rows are refused, the condition
#'   `labd_invalid_request` has it as `report`.
#' @examples
#' lab <- labd_connect("http://127.0.0.1:8480", token = Sys.getenv("LABD_TOKEN"))
#' labd_import(lab, "consumables", data.frame(name = "Tris", amount = "500 ml"), dry_run = TRUE)$created
#' @export
labd_import <- function(lab, list, file, dry_run = FALSE, ...) {
  if (is.data.frame(file)) {
    table <- file
    file <- tempfile(fileext = ".csv")
    on.exit(unlink(file))
    utils::write.csv(table, file, row.names = FALSE, na = "", fileEncoding = "UTF-8")
  }
  body <- readBin(file, "raw", file.size(file))
  is_archive <- length(body) > 1 && identical(body[1:2], charToRaw("PK"))
  type <- if (is_archive) "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" else "text/csv"
  work <- .json(lab, "POST", paste0(.list_path(list), "import/"), query = c(.dry(dry_run), base::list(background = TRUE, ...)),
    body = body, type = type, repeatable = if (dry_run) TRUE else NULL)
  .finish_import(lab, work, list)
}

# Waits for the end of an import, and returns its report. An interrupt cancels it.
.finish_import <- function(lab, work, list) {
  address <- paste0("/api/v2/imports/", work$id, "/")
  progress <- .progress(lab, paste("Importing", list))
  work <- .await(lab, address, work, progress, function(work) {
    rows <- c(work$rows, 0)[1]
    list(work$rows_checked / max(1, rows), sprintf("%d of %d rows", work$rows_checked, rows))
  })
  if (work$state == "refused") .fail("invalid_request", work$message, status = 400, report = work$report)
  if (work$state != "finished") .fail("work_failed", c(work$message, sprintf("The import is %s.", work$state))[1], code = work$state)
  work$report
}
