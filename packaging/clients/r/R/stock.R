# Stock: finding by code, using, taking out, running out.

#' Find a record by its code
#'
#' @param lab A connection of `labd_connect`.
#' @param code Barcode, id, first 8 or more digits of an id, or URL of a label.
#' @return A list with `segment` (its list), `id`, `name` and `where`. Fails with the condition `labd_not_found`, or with
#'   `labd_ambiguous_code` if several records have the code.
#' @examples
#' lab <- labd_connect("http://127.0.0.1:8480")
#' labd_find(lab, "CO0000115")$name
#' @export
labd_find <- function(lab, code) {
  found <- .json(lab, "GET", "/api/v2/scan/", query = list(code = code))$results
  if (length(found) == 0) .fail("not_found", sprintf("No record that you may view has the code \"%s\".", code), status = 404)
  if (length(found) > 1) {
    names <- paste(vapply(found, function(one) sprintf("%s (%s)", one$name, one$id), ""), collapse = ", ")
    .fail("ambiguous_code", sprintf("Several records have the code \"%s\": %s. Give the id of one.", code, names))
  }
  found[[1]]
}

#' Use stock
#'
#' `labd_consume` takes an amount out of a consumable or specimen, `labd_refill` adds one; `labd_thaw` counts a cycle of freezing
#' and thawing; `labd_aliquots` makes aliquots in free slots of `location`; `labd_take_out` notes that you have it, and `labd_put_back` that it is back. Repeated after a lost connection,
#' a change counts once.
#'
#' @param lab A connection of `labd_connect`.
#' @param barcode Barcode, id, or URL of the label; also a row of a data frame.
#' @param amount A number in the unit of the record, or with another unit of the same kind: "20 uL".
#' @param dry_run TRUE returns the preview of the change.
#' @param ... `lot`, `received` and `expiry` (days), which are set if they are given.
#' @param count Number of aliquots with `amount` each.
#' @param due_back When it is due back (POSIXct); in 24 hours by default.
#' @param location,position Another location (id) and position, such as "B8".
#' @return The record as a list, with `amount` left in `unit__name`; aliquots as a data frame.
#' @examples
#' lab <- labd_connect("http://127.0.0.1:8480", token = Sys.getenv("LABD_TOKEN"))
#' left <- labd_consume(lab, barcode = "CO0000115", amount = "20 uL")
#' @name labd_stock
NULL

#' @rdname labd_stock
#' @export
labd_consume <- function(lab, barcode, amount, dry_run = FALSE) {
  .use(lab, barcode, "consume", .amount(amount), dry_run)
}

#' @rdname labd_stock
#' @export
labd_refill <- function(lab, barcode, amount, ..., dry_run = FALSE) {
  .use(lab, barcode, "refill", c(.amount(amount), lapply(list(...), .json_value)), dry_run)
}

#' @rdname labd_stock
#' @export
labd_aliquots <- function(lab, barcode, count, amount, location = NULL) {
  found <- labd_find(lab, .id(barcode))
  json <- c(list(count = count), .amount(amount), if (!is.null(location)) list(location = .id(location)))
  path <- sprintf("/api/v2/%s/%s/aliquots/", found$segment, found$id)
  .frame(.json(lab, "POST", path, json = json, repeatable = TRUE), .labd_lists[[basename(found$segment)]]$types)
}

#' @rdname labd_stock
#' @export
labd_thaw <- function(lab, barcode) .use(lab, barcode, "thaw", .body())

#' @rdname labd_stock
#' @export
labd_take_out <- function(lab, barcode, due_back = NULL) {
  .use(lab, barcode, "take_out", if (is.null(due_back)) .body() else .body(due_back = due_back))
}

#' @rdname labd_stock
#' @export
labd_put_back <- function(lab, barcode, location = NULL, position = NULL) {
  place <- list(location = if (!is.null(location)) .id(location), position = position)
  .use(lab, barcode, "put_back", do.call(.body, Filter(Negate(is.null), place)))
}

.use <- function(lab, barcode, action, json, dry_run = FALSE) {
  found <- labd_find(lab, .id(barcode))
  if (!found$segment %in% c("stocks/consumables", "stocks/specimen")) {
    .fail("not_found", sprintf("%s is in %s, which is no stock.", found$name, found$segment), status = 404)
  }
  path <- sprintf("/api/v2/%s/%s/%s/", found$segment, found$id, action)
  query <- if (dry_run) .dry(TRUE) else list(fields = c("*", "location__label", "unit__name"))
  invisible(.plain_record(.json(lab, "POST", path, query = query, json = json, repeatable = TRUE)))
}

# Number and unit of an amount such as 20 or "20 uL".
.amount <- function(amount) {
  if (is.numeric(amount)) return(list(amount = amount))
  text <- trimws(.utf8(amount))
  number <- regmatches(text, regexpr("^[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?", text))
  if (length(number) == 0) stop(sprintf("\"%s\" is not an amount. Give a number, or a text such as \"20 uL\".", amount))
  unit <- trimws(substring(text, nchar(number) + 1))
  c(list(amount = as.numeric(sub(",", ".", number, fixed = TRUE))), if (nzchar(unit)) list(unit = unit))
}

#' List stock that is running out
#'
#' @param lab A connection of `labd_connect`.
#' @param state Only this state: "empty", "low", "expired" or "expiring" (within 30 days).
#' @return A data frame: `state`, `name`, `tubes` (count), `left` and `minimum` (in `unit`), `expiry` (Date), `order` and more.
#' @examples
#' lab <- labd_connect("http://127.0.0.1:8480")
#' labd_running_out(lab)[c("state", "name", "left", "unit")]
#' @export
labd_running_out <- function(lab, state = NULL) {
  query <- if (is.null(state)) list() else list(state = state)
  rows <- .json(lab, "GET", "/api/v2/stocks/products/running_out/", query = query)$results
  types <- list(state = "text", name = "text", tubes = "integer", left = "number", minimum = "number", unit = "text",
    expiry = "date", received = "date", order = "object")
  .frame(rows, types, names(types))
}

#' Search all lists
#'
#' @param lab A connection of `labd_connect`.
#' @param query Name, barcode or words.
#' @param limit Number of results of each list.
#' @return A data frame: `list`, `id`, `name`, `where` and more.
#' @examples
#' lab <- labd_connect("http://127.0.0.1:8480")
#' labd_search(lab, "GFP")
#' @export
labd_search <- function(lab, query, limit = 5) {
  groups <- .json(lab, "GET", "/api/v2/search/", query = list(q = query, limit = limit))$groups
  rows <- lapply(groups, function(group) lapply(group$results, function(one) c(list(list = group$list), one)))
  .frame(unlist(rows, recursive = FALSE), list(list = "text", id = "text", name = "text"), c("list", "id", "name"))
}
