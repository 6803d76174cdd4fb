# Data frames.

# The value of a property, which some fields have as an object with name, value and category.
.plain <- function(value) {
  if (is.list(value) && setequal(names(value), c("name", "value", "category"))) value$value else value
}

.plain_record <- function(record) lapply(record, .plain)

.convert <- function(values, type) {
  missing <- vapply(values, is.null, NA)
  if (type == "object" || any(lengths(values[!missing]) != 1)) return(I(values))
  values[missing] <- NA
  values <- unlist(values)
  switch(type,
    date = as.Date(as.character(values)),
    time = as.POSIXct(sub("([+-]\\d\\d):(\\d\\d)$", "\\1\\2", sub("Z$", "+0000", as.character(values))), format = "%Y-%m-%dT%H:%M:%OS%z", tz = "UTC"),
    number = as.numeric(values),
    integer = as.integer(values),
    boolean = as.logical(values),
    text = ,
    reference = as.character(values),
    values
  )
}

# Records as a data frame, one row for each. `types`: kinds of values by column.
.frame <- function(records, types = list(), columns = NULL) {
  records <- lapply(records, .plain_record)
  names <- unique(c(columns, unlist(lapply(records, base::names))))
  if (length(records) > 0) names <- names[names %in% unlist(lapply(records, base::names))]
  frame <- lapply(names, function(name) {
    type <- types[[name]]
    .convert(lapply(records, function(record) record[[name]]), if (is.null(type)) "any" else type)
  })
  names(frame) <- names
  structure(frame, class = "data.frame", row.names = .set_row_names(length(records)))
}

# The rows of a table of matches; comments with the provenance are left out.
.read_tsv <- function(text, columns) {
  lines <- strsplit(text, "\n", fixed = TRUE)[[1]]
  lines <- lines[nzchar(lines) & !startsWith(lines, "#")]
  rows <- strsplit(paste0(lines, "\t."), "\t", fixed = TRUE)
  names <- utils::head(rows[[1]], -1)
  frame <- lapply(seq_along(names), function(at) {
    cells <- vapply(rows[-1], function(row) row[at], "")
    cells[!nzchar(cells)] <- NA
    switch(c(columns[[names[at]]]$type, "text")[1],
      number = as.numeric(cells),
      integer = as.integer(cells),
      boolean = cells == "yes",
      cells
    )
  })
  names(frame) <- names
  structure(frame, class = "data.frame", row.names = .set_row_names(length(rows) - 1))
}

# Progress on standard error: a bar on terminals, lines where it is asked for.
.progress <- function(lab, title, shown = NULL) {
  if (is.null(shown)) shown <- lab$progress
  is_live <- interactive() || isatty(stderr())
  if (!(if (is.null(shown)) is_live else shown)) return(list(at = function(...) NULL, end = function() NULL))
  tenth <- -1
  list(
    at = function(fraction, text = "") {
      fraction <- min(max(fraction, 0), 1)
      done <- floor(fraction * 30)
      line <- sprintf("%s [%s%s] %3.0f%% %s", title, strrep("#", done), strrep(".", 30 - done), 100 * fraction, text)
      if (is_live) cat("\r", line, file = stderr(), sep = "")
      else if (floor(fraction * 10) > tenth) {
        tenth <<- floor(fraction * 10)
        cat(line, "\n", file = stderr(), sep = "")
      }
    },
    end = function() if (is_live) cat("\n", file = stderr())
  )
}

# Waits for the end of work at an address, and returns it. An interrupt cancels it.
.await <- function(lab, address, work, progress, describe) {
  is_running <- TRUE
  on.exit(if (is_running) try(.request(lab, "DELETE", address), silent = TRUE))
  pause <- 0.05
  while (work$state %in% c("queued", "running", "waiting", "reading", "writing")) {
    do.call(progress$at, describe(work))
    Sys.sleep(pause)
    pause <- min(pause * 1.3, 2)
    work <- tryCatch(.json(lab, "GET", address), labd_error = function(error) {
      # The work goes on without the connection.
      is_running <<- inherits(error, "labd_interrupted")
      stop(error)
    })
  }
  is_running <- FALSE
  progress$at(1, work$state)
  progress$end()
  work
}
