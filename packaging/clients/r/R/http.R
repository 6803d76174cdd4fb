# Requests with retries. The token is in the environment of a function, which nothing prints.

.connect_seconds <- 10
.read_seconds <- 120
.longest_pause <- 30

#' Connect to a labd server
#'
#' Checks address and token, and returns a connection, the first argument of all other functions.
#'
#' Lost connections and busy servers (429, 503) are tried again. Changes are made once, because each has an
#' Idempotency-Key; imports, users and groups, which have none, are not repeated after they were sent.
#'
#' Errors are conditions with the words of the server: of the class `labd_error`, and `labd_invalid_request`,
#' `labd_not_authenticated`, `labd_forbidden`, `labd_not_found`, `labd_conflict`, `labd_version_conflict`, `labd_unavailable`,
#' `labd_connection_failed` or `labd_work_failed`. Their members are `message`, `code`, `status`, `fields` (messages by field)
#' and `request_id`.
#'
#' @param url Address such as "http://server:8480"; by default the environment variable LABD_URL.
#' @param token API token; by default LABD_TOKEN. Without one you may score, and read public records.
#' @param progress TRUE shows progress of long work on standard error, FALSE never; by default in interactive sessions.
#' @param retries Further attempts after lost connections and when the server is busy.
#' @return A connection of class `labd`.
#' @examples
#' lab <- labd_connect("http://127.0.0.1:8480", token = Sys.getenv("LABD_TOKEN"))
#' @export
labd_connect <- function(url = Sys.getenv("LABD_URL"), token = Sys.getenv("LABD_TOKEN"), progress = NULL, retries = 5) {
  if (!nzchar(url)) stop("Give the address of the server, such as labd_connect(\"http://server:8480\"), or set LABD_URL.")
  if (!grepl("^https?://[^/]+", url)) stop(sprintf("\"%s\" is not an address of a server. Give one such as http://server:8480.", url))
  if (grepl("^https?://[^/]*@", url)) stop("Give a token instead of a name and password in the address.")
  url <- sub("/+$", "", url)
  force(retries)
  # Lets callers without an account cancel what they have started.
  owner <- .uuid()
  has_token <- nzchar(token)
  perform <- function(request, is_scoring) {
    if (has_token) request <- httr2::req_headers(request, Authorization = paste("Token", token))
    else if (is_scoring) request <- httr2::req_headers(request, `Owner-Key` = owner)
    httr2::req_perform(request)
  }
  lab <- structure(
    list(url = url, progress = progress, retries = retries, has_token = has_token, perform = perform),
    class = "labd"
  )
  tryCatch(
    .json(lab, "GET", "/api/v2/version/"),
    labd_not_found = function(error) {
      .fail("connection_failed", sprintf("There is no labd server at %s. Give its address, such as http://server:8480.", url))
    }
  )
  .check_version(lab)
  lab
}

# Warns if the server has another version, whose client is then at its /clients/.
.check_version <- function(lab) {
  served <- tryCatch(.json(lab, "GET", "/clients/")$version, labd_error = function(error) NULL)
  if (is.null(served) || served == .labd_version) return(invisible())
  text <- "This is the client of labd %s, and the server has %s: install the one at %s/clients/."
  warning(sprintf(text, .labd_version, served, lab$url), call. = FALSE)
}

#' @export
print.labd <- function(x, ...) {
  cat(sprintf("<labd %s%s>\n", x$url, if (x$has_token) "" else ", without a token"))
  invisible(x)
}

#' @export
format.labd <- function(x, ...) sprintf("<labd %s>", x$url)

#' @export
str.labd <- function(object, ...) print(object)

#' Send any request of the API
#'
#' With the token and retries of the connection; `/docs` of the server describes the API.
#'
#' @param lab A connection of `labd_connect`.
#' @param method Such as "GET".
#' @param path Such as "/api/v2/version/".
#' @param query Named list of parameters; several values are alternatives.
#' @param json A list that is sent as JSON.
#' @param idempotent TRUE gives a POST an Idempotency-Key, with which it may be repeated.
#' @return The JSON of the answer as a list.
#' @examples
#' lab <- labd_connect("http://127.0.0.1:8480")
#' labd_request(lab, "GET", "/api/v2/version/")$version
#' @export
labd_request <- function(lab, method, path, query = list(), json = NULL, idempotent = FALSE) {
  .json(lab, toupper(method), path, query = query, json = json, repeatable = if (idempotent) TRUE else NULL)
}

.uuid <- function() {
  digits <- sample(0:15, 32, replace = TRUE)
  digits[13] <- 4
  hex <- paste(as.character(as.hexmode(digits)), collapse = "")
  sub("^(.{8})(.{4})(.{4})(.{4})(.{12})$", "\\1-\\2-\\3-\\4-\\5", hex)
}

# Texts of source files in other locales than UTF-8 have no encoding.
.utf8 <- function(text) {
  text <- as.character(text)
  plain <- Encoding(text) == "unknown" & validUTF8(text)
  Encoding(text[plain]) <- "UTF-8"
  enc2utf8(text)
}

.value <- function(value) {
  if (is.logical(value)) return(ifelse(value, "true", "false"))
  if (inherits(value, "difftime")) return(paste0(round(as.numeric(value, units = "days")), "d"))
  if (inherits(value, "POSIXt")) return(format(value, "%Y-%m-%dT%H:%M:%SZ", tz = "UTC"))
  if (is.numeric(value)) return(format(value, digits = 15, trim = TRUE, scientific = FALSE))
  .utf8(value)
}

# Parameters by name, several values each; NULL and NA mean records without a value.
.params <- function(query) {
  params <- list()
  for (name in names(query)) {
    value <- query[[name]]
    if (is.null(value) || (length(value) == 1 && is.na(value))) params[[paste0(name, "__isnull")]] <- "true"
    else if (name %in% c("fields", "ordering")) params[[name]] <- paste(.value(value), collapse = ",")
    else params[[name]] <- .value(value)
  }
  params
}

.query <- function(params) {
  pairs <- unlist(lapply(names(params), function(name) {
    paste0(utils::URLencode(name, reserved = TRUE), "=", vapply(params[[name]], utils::URLencode, "", reserved = TRUE))
  }))
  if (length(pairs) == 0) "" else paste0("?", paste(pairs, collapse = "&"))
}

# Sends a request until there is an answer; `repeatable`: it may be sent again although it may have arrived.
.request <- function(lab, method, path, query = list(), json = NULL, body = NULL, type = NULL, headers = list(), repeatable = NULL) {
  request <- httr2::request(paste0(lab$url, path, .query(.params(query))))
  request <- httr2::req_method(request, method)
  request <- httr2::req_headers(request, Accept = "application/json")
  request <- httr2::req_user_agent(request, paste0("labd-r/", .labd_version))
  # A redirected POST would become a GET.
  request <- httr2::req_options(request, followlocation = FALSE)
  request <- httr2::req_options(request, connecttimeout = .connect_seconds, timeout = .read_seconds)
  request <- httr2::req_error(request, is_error = function(response) FALSE)
  if (!is.null(json)) {
    text <- jsonlite::toJSON(json, auto_unbox = TRUE, null = "null", na = "null", digits = NA)
    request <- httr2::req_body_raw(request, charToRaw(enc2utf8(as.character(text))), "application/json")
  }
  if (!is.null(body)) request <- httr2::req_body_raw(request, body, type)
  if (length(headers) > 0) request <- do.call(httr2::req_headers, c(list(request), headers))
  if (method == "POST" && isTRUE(repeatable)) request <- httr2::req_headers(request, `Idempotency-Key` = .uuid())
  may_repeat <- if (is.null(repeatable)) method != "POST" else repeatable
  # curl sends a request again by itself if a connection that it used before is closed without an answer.
  if (!may_repeat) request <- httr2::req_options(request, fresh_connect = TRUE)
  for (attempt in seq_len(lab$retries + 1)) {
    is_last <- attempt == lab$retries + 1
    response <- tryCatch(lab$perform(request, startsWith(path, "/api/scoring")), error = .explain)
    if (inherits(response, "labd_lost")) {
      if (is_last || (response$is_sent && !may_repeat)) .lost(lab, response, method)
      response <- NULL
    } else {
      status <- httr2::resp_status(response)
      if (status %in% c(301, 302, 303, 307, 308)) .moved(lab, response)
      if (status < 400) return(response)
      # A deletion may have arrived before.
      if (status == 404 && method == "DELETE" && attempt > 1) return(response)
      is_busy <- status %in% c(429, 503) || (may_repeat && status %in% c(502, 504))
      if (is_last || !is_busy) .refuse(lab, response)
    }
    Sys.sleep(.pause(attempt, response))
  }
}

# Seconds before the next attempt: those that the server asks for, else doubled each time, with some chance.
.pause <- function(attempt, response) {
  after <- if (is.null(response)) NA else suppressWarnings(as.numeric(httr2::resp_header(response, "retry-after")))
  pause <- if (length(after) == 1 && !is.na(after)) after else 0.25 * 2^(attempt - 1) * stats::runif(1, 0.75, 1.25)
  min(pause, .longest_pause)
}

# The reason of a failed connection, and whether the request may have arrived.
.explain <- function(error) {
  text <- paste(c(conditionMessage(error), if (!is.null(error$parent)) conditionMessage(error$parent)), collapse = " ")
  # curl ends a request so if it is interrupted.
  if (grepl("aborted by an application callback|Operation was aborted", text)) .fail("interrupted", "The request was interrupted.")
  never <- c(
    "resolve host" = "the name of the server is unknown", "connect to server" = "connection refused",
    "Connection refused" = "connection refused", "Failed to connect" = "connection refused",
    "onnection timed out|onnect timeout|Connection timeout" = "no answer in time", "SSL|certificate" = "its certificate is not accepted"
  )
  for (pattern in names(never)) {
    if (grepl(pattern, text)) return(structure(list(reason = never[[pattern]], is_sent = FALSE), class = "labd_lost"))
  }
  structure(list(reason = "the connection was closed without an answer", is_sent = TRUE), class = "labd_lost")
}

.moved <- function(lab, response) {
  target <- httr2::resp_header(response, "location")
  .fail("connection_failed", sprintf("%s redirects to %s. Give the address of the server there.", lab$url, target))
}

.lost <- function(lab, lost, method) {
  message <- if (lost$is_sent && method != "GET") {
    sprintf("The connection to %s was lost (%s). The request may have been carried out: look before you send it again.", lab$url, lost$reason)
  } else {
    sprintf("%s cannot be reached: %s. Check that the server runs, that the address is right (url or LABD_URL), and whether a firewall or proxy is in between.", lab$url, lost$reason)
  }
  .fail("connection_failed", message)
}

.fail <- function(kind, message, ...) {
  stop(structure(
    class = c(paste0("labd_", kind), "labd_error", "error", "condition"),
    list(message = message, call = NULL, ...)
  ))
}

# The error of an answer, with the words of the server.
.refuse <- function(lab, response) {
  status <- httr2::resp_status(response)
  text <- tryCatch(httr2::resp_body_string(response), error = function(error) "")
  body <- tryCatch(jsonlite::fromJSON(text, simplifyVector = FALSE), error = function(error) NULL)
  kinds <- c("401" = "not_authenticated", "403" = "forbidden", "404" = "not_found", "409" = "conflict",
    "412" = "version_conflict", "429" = "unavailable", "503" = "unavailable")
  kind <- kinds[as.character(status)]
  if (is.na(kind)) kind <- if (status < 500) "invalid_request" else "server_failure"
  said <- if (is.null(names(body))) NULL else c(body$message, body$detail)[1]
  if (is.null(said)) said <- sprintf("The server answered with status %d: %s", status, substr(text, 1, 200))
  if (status == 401 && !lab$has_token) said <- paste(said, "Give a token to labd_connect, or set LABD_TOKEN.")
  is_field <- vapply(body, function(one) is.list(one) && all(vapply(one, is.character, NA)), NA)
  fields <- if (is.null(names(body))) list() else lapply(body[is_field], unlist)
  .fail(kind, said, code = body$code, status = status, fields = fields, request_id = httr2::resp_header(response, "x-request-id"))
}

# The JSON of an answer as lists; NULL for an empty one.
.json <- function(lab, method, path, ...) {
  response <- .request(lab, method, path, ...)
  if (length(response$body) == 0) return(NULL)
  text <- httr2::resp_body_string(response)
  tryCatch(jsonlite::fromJSON(text, simplifyVector = FALSE), error = function(error) {
    .fail("error", sprintf("%s%s answered without JSON. Is %s the address of a labd server?", lab$url, path, lab$url))
  })
}

# The text of an answer.
.text <- function(lab, path, query) {
  httr2::resp_body_string(.request(lab, "GET", path, query = query, headers = list(Accept = "*/*")))
}
