# What the R package does, against a server: one function for each test, with the name as the argument.
library(labd)

caught <- function(kind, call) {
  error <- tryCatch({
    call
    stop("no error")
  }, labd_error = function(error) error)
  stopifnot(inherits(error, paste0("labd_", kind)))
  error
}

tests <- list(
  # Fetches all pages, and converts values.
  pages = function() {
    lab <- labd_connect()
    tubes <- data.frame(name = paste("Flask", 0:1199), amount = paste(0:1199, "µL"), lot = "r", expiry = "2027-01-31")
    stopifnot(labd_import(lab, "consumables", tubes)$created == 1200)
    frame <- labd_consumables(lab, lot = "r", ordering = "name__natural")
    stopifnot(nrow(frame) == 1200, identical(frame$amount, as.numeric(0:1199)), all(frame$unit__name == "microliter"))
    stopifnot(inherits(frame$expiry, "Date"), inherits(frame$created, "POSIXct"), is.character(frame$product__name))
    stopifnot(nrow(labd_consumables(lab, lot = "r", limit = 1001)) == 1001)
    stopifnot(nrow(labd_consumables(lab, lot = "r", name__in = paste("Flask", 0:899))) == 900)
    stopifnot(labd_count(lab, "consumables", lot = "r", amount__gte = 1000, location = NA) == 200)
    stopifnot(labd_count(lab, "consumables", lot = "r", expiry__lte = as.Date("2027-01-31")) == 1200)
    stopifnot(identical(dim(labd_consumables(lab, lot = "none", fields = c("name", "amount"))), c(0L, 2L)))
  },

  # Changes records, and refuses old versions.
  changes = function() {
    lab <- labd_connect()
    made <- labd_create(lab, "consumables", records = data.frame(name = c("A", "B"), lot = "changes r", amount = c(1, NA)))
    stopifnot(identical(made$name, c("A", "B")), is.na(made$amount[2]))
    version <- labd_get(lab, "consumables", made[1, ], fields = "version")$version
    stopifnot(labd_update(lab, "consumables", made[1, ], version = version, supplier = "X")$supplier == "X")
    stopifnot(labd_update(lab, "consumables", made[1, ], dry_run = TRUE, supplier = "Y")$dry_run)
    caught("version_conflict", labd_update(lab, "consumables", made[1, ], version = version, supplier = "Y"))
    labd_delete(lab, "consumables", made[2, ])
    stopifnot(labd_count(lab, "consumables", lot = "changes r") == 1)
    stopifnot(labd_restore(lab, "consumables", made$id[2])$name == "B")
  },

  # Uses stock, and makes aliquots.
  stock = function() {
    lab <- labd_connect()
    made <- labd_create(lab, "consumables", name = "Ligase", amount = 1, unit = "ml", barcode = "R-1")
    stopifnot(labd_refill(lab, "R-1", "500 µL", lot = "L1", expiry = as.Date("2030-01-31"))$amount == 1.5)
    stopifnot(nrow(labd_aliquots(lab, made, 3, "100 µL")) == 3)
    stopifnot(labd_thaw(lab, made)$freeze_thaw_count == 1)
    stopifnot(labd_take_out(lab, "R-1", due_back = Sys.time() + 3600)$taken_out, !labd_put_back(lab, "R-1")$taken_out)
    stopifnot(labd_search(lab, "R-1")$id == made$id)
  },

  # Errors are conditions, with the words of the server and the fields.
  errors = function() {
    lab <- labd_connect()
    error <- caught("invalid_request", labd_create(lab, "consumables", amount = 1))
    stopifnot(identical(error$fields, list(name = "This field is required.")), nzchar(error$request_id))
    refused <- caught("invalid_request", labd_import(lab, "consumables", data.frame(name = c(NA, "b"), lot = "x")))
    stopifnot(conditionMessage(refused) == "Row 2, name: This field is required.", length(refused$report$errors) == 1)
    stopifnot(grepl("character 3", conditionMessage(caught("invalid_request", labd_score(lab, "TP53", "F[[")))))
    caught("not_found", labd_consume(lab, "no such code", 1))
    caught("not_authenticated", labd_connect(token = "wrong"))
    anonymous <- labd_connect(token = "")
    stopifnot(grepl("LABD_TOKEN", conditionMessage(caught("not_authenticated", labd_create(anonymous, "places", room = "x")))))
    lost <- conditionMessage(caught("connection_failed", labd_connect("http://127.0.0.1:2", retries = 0)))
    stopifnot(grepl("connection refused", lost), grepl("LABD_URL", lost))
    lost <- conditionMessage(caught("connection_failed", labd_connect("http://server.invalid", retries = 0)))
    stopifnot(grepl("the name of the server is unknown", lost))
    lost <- conditionMessage(caught("connection_failed", labd_connect(Sys.getenv("MOVED"))))
    stopifnot(grepl(paste0("redirects to ", Sys.getenv("LABD_URL"), "/api/v2/version/"), lost, fixed = TRUE))
    stopifnot(grepl("no labd server", conditionMessage(caught("connection_failed", labd_connect(paste0(Sys.getenv("LABD_URL"), "/help"))))))
  },

  # Neither messages nor what R prints has the token.
  secrets = function() {
    lab <- labd_connect()
    error <- caught("invalid_request", labd_consumables(lab, nme = "x"))
    lost <- caught("connection_failed", labd_connect("http://127.0.0.1:2", retries = 0))
    score <- labd_score(lab, "TP53", "F...W..[LIV]")
    printed <- utils::capture.output(print(lab), str(lab), str(error), print(unclass(error)), str(lost), print(score), str(score),
      print(unclass(lab)))
    stopifnot(length(printed) > 20, !any(grepl(Sys.getenv("LABD_TOKEN"), printed, fixed = TRUE)))
  },

  # A change counts once although its answer was lost; PROXY loses the first.
  retried = function() {
    direct <- labd_connect()
    record <- labd_find(direct, "CO0000123")
    amount <- labd_get(direct, "consumables", record)$amount
    left <- labd_consume(labd_connect(Sys.getenv("PROXY")), barcode = "CO0000123", amount = "20 µL")
    stopifnot(left$amount == amount - 20, labd_get(direct, "consumables", record)$amount == amount - 20)
  },

  # An import whose answer was lost is not sent again.
  unrepeatable = function() {
    lab <- labd_connect(Sys.getenv("PROXY"))
    error <- caught("connection_failed", labd_import(lab, "consumables", data.frame(name = "once", lot = "once r")))
    stopifnot(grepl("may have been carried out", conditionMessage(error)))
    while (labd_count(labd_connect(), "consumables", lot = "once r") == 0) NULL
    stopifnot(labd_count(labd_connect(), "consumables", lot = "once r") == 1)
  },

  # Waits as long as a busy server asks for, and tries again; PROXY is busy at first.
  busy = function() {
    lab <- labd_connect(Sys.getenv("PROXY"))
    stopifnot(labd_create(lab, "consumables", name = "busy", lot = "busy r")$name == "busy")
    stopifnot(labd_count(lab, "consumables", lot = "busy r") == 1)
    stopifnot(caught("unavailable", labd_connect(Sys.getenv("BUSY"), retries = 1))$status == 503)
  },

  # Starts work that takes long.
  interrupted = function() {
    proteins <- vapply(1:3000, function(n) paste(sample(rep(strsplit("ACDEFGHIKLMNPQRSTVWY", "")[[1]], 20)), collapse = ""), "")
    labd_batch(labd_connect(), stats::setNames(proteins, paste("shuffled", 1:3000)), c("[ST]P", "P..P"))
  },

  # Progress is shown where it is asked for.
  progress = function() {
    labd_scan(labd_connect(progress = TRUE), "P04637")
    labd_scan(labd_connect(), "P04637")
    invisible()
  },

  # Help pages exist for all exported functions, and agree with them.
  documented = function() {
    documented <- utils::capture.output(print(tools::codoc("labd")), print(tools::undoc("labd")))
    stopifnot(identical(documented, character()) || all(!nzchar(documented)))
    pages <- tools::Rd_db("labd")
    page <- paste(utils::capture.output(tools::Rd2txt(pages[["labd_consumables.Rd"]], options = list(underline_titles = FALSE))), collapse = " ")
    stopifnot(grepl("Day of expiry", page), grepl("required to create", page))
    for (page in pages) tools::checkRd(page)
  }
)

# A warning is an error, so that nothing is overlooked.
options(warn = 2)
tests[[commandArgs(TRUE)[1]]]()
