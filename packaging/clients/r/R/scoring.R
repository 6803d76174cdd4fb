# Scoring of motifs.

.scoring <- "/api/scoring/"
.kinds <- list(
  score = list(path = "jobs", table = "result", columns = "result", page = "score"),
  scan = list(path = "jobs", table = "scan", columns = "scan", page = "score"),
  proteome = list(path = "proteome/searches", table = "matches", columns = "proteome", page = "proteome"),
  batch = list(path = "batches", table = "matches", columns = "batch", page = "batch")
)

#' Score motifs in proteins
#'
#' `labd_score` scores the conservation of motifs in a protein, `labd_scan` looks for all motif classes in it, `labd_proteome`
#' searches the proteins of a corpus for a motif, and `labd_batch` scores motifs in many proteins. All wait for the result. An
#' interrupt cancels the work.
#'
#' @param lab A connection of `labd_connect`.
#' @param protein Accession, entry name or gene of a protein of the corpus ("P04637", "TP53", "TP53 mouse"), or its
#'   sequence: a FASTA record, or at least 40 one-letter codes.
#' @param proteins Accessions, entry names or genes; or sequences with names.
#' @param motifs,motif Regular expressions over residues, such as "F...W..[LIV]", and names of motif classes.
#' @param sequence A sequence of any length in one-letter codes; `protein` is then its name.
#' @param organism Only proteins of this organism: taxon of NCBI, scientific name, or mnemonic of UniProt ("human").
#' @param progress TRUE shows progress on standard error; by default that of the connection.
#' @param ... Further fields of a job (Submit, in the server's help of the scoring API): `alignment`, `variant`, `prior` and others.
#' @return A list of class `labd_result`: `matches`, a data frame with one row for each match (positions in residues from 1,
#'   scores `cs` from 0 to 1, `z` in standard deviations of random matches, P values, in scans and searches also `q`, the
#'   false discovery rate), `columns` (descriptions of the columns), `id`, `url` (its page) and `info`.
#' @examples
#' lab <- labd_connect("http://127.0.0.1:8480")
#' score <- labd_score(lab, "TP53", c("F...W..[LIV]", "MDM2-SWIB"))
#' score$matches[c("pattern", "start", "match", "verdict", "cs")]
#' @name labd_scoring
NULL

#' @rdname labd_scoring
#' @export
labd_score <- function(lab, protein, motifs, sequence = NULL, progress = NULL, ...) {
  json <- c(.protein(protein, sequence), .motifs(lab, motifs), list(...))
  .run(lab, "score", json, paste("Scoring", .label(protein)), progress)
}

#' @rdname labd_scoring
#' @export
labd_scan <- function(lab, protein, sequence = NULL, progress = NULL, ...) {
  json <- c(.protein(protein, sequence), list(allMotifClasses = TRUE), list(...))
  .run(lab, "scan", json, paste("Scanning", .label(protein)), progress)
}

#' @rdname labd_scoring
#' @export
labd_proteome <- function(lab, motif, organism = NULL, progress = NULL, ...) {
  json <- c(
    if (.is_class(lab, motif)) list(motifClass = motif) else list(pattern = motif),
    if (!is.null(organism)) list(organism = as.character(organism)), list(...)
  )
  .run(lab, "proteome", json, paste("Searching for", motif), progress)
}

#' @rdname labd_scoring
#' @export
labd_batch <- function(lab, proteins, motifs, progress = NULL, ...) {
  given <- if (is.null(names(proteins))) {
    lapply(proteins, function(one) list(accession = one))
  } else {
    Map(function(name, text) list(identifier = name, querySequence = text), names(proteins), proteins)
  }
  json <- c(list(proteins = unname(given)), .motifs(lab, motifs), list(...))
  .run(lab, "batch", json, sprintf("Scoring %d proteins", length(given)), progress)
}

#' Select or save matches of a result
#'
#' @param result A result of `labd_score`, `labd_scan`, `labd_proteome` or `labd_batch`.
#' @param ... Filters: `verdict` (such as "likely functional" or several), `max_q`, `motif`, `type`, `species`, `region`
#'   ("disordered" or "ordered"), `kept` ("90-100"), `best_of_group`, and `order` (a column; `-` before it reverses).
#' @param file Path of the file to write.
#' @param format "tsv", "gff3", "bed", "xlsx" or "json".
#' @return A data frame of the matches that pass; `labd_save` returns the path.
#' @examples
#' lab <- labd_connect("http://127.0.0.1:8480")
#' scan <- labd_scan(lab, "P04637")
#' labd_select(scan, verdict = c("likely functional", "possible"), max_q = 0.2)
#' @export
labd_select <- function(result, ...) .matches(attr(result, "lab"), result$kind, result$id, list(...))

#' @rdname labd_select
#' @export
labd_save <- function(result, file, format = "tsv", ...) {
  response <- .request(attr(result, "lab"), "GET", .table_path(result$kind, result$id),
    query = c(.joined(list(...)), list(format = format)), headers = list(Accept = "*/*"))
  part <- paste0(file, ".part")
  writeBin(response$body, part)
  file.rename(part, file)
  invisible(file)
}

#' List proteins and motif classes of the server
#'
#' @param lab A connection of `labd_connect`.
#' @param query Accession, entry name, gene, words of the name, and species.
#' @param limit Number of proteins, up to 100.
#' @return A data frame.
#' @examples
#' lab <- labd_connect("http://127.0.0.1:8480")
#' labd_proteins(lab, "TP53 mouse")
#' @export
labd_proteins <- function(lab, query, limit = 10) {
  .frame(.json(lab, "GET", paste0(.scoring, "proteins"), query = list(query = query, limit = limit))$results)
}

#' @rdname labd_proteins
#' @export
labd_motif_classes <- function(lab, query = NULL) {
  rows <- list()
  page <- 1
  repeat {
    parameters <- c(if (!is.null(query)) list(query = query), if (page > 1) list(page = page))
    answer <- .json(lab, "GET", paste0(.scoring, "motif-classes"), query = parameters)
    rows <- c(rows, answer$results)
    if (is.null(answer[["next"]])) break
    page <- page + 1
  }
  .frame(rows)
}

#' @export
print.labd_result <- function(x, ...) {
  cat(sprintf("<labd %s: %s, %s>\n", x$kind, x$info$state, x$url))
  print(x$matches, ...)
  invisible(x)
}

.label <- function(text) {
  text <- sub("\n.*", "", text)
  if (nchar(text) > 24) paste0(substr(text, 1, 20), "...") else text
}

.protein <- function(protein, sequence) {
  if (!is.null(sequence)) return(list(identifier = protein, querySequence = sequence))
  if (grepl("^>|^[A-Za-z*[:space:]]{40,}$", protein)) list(querySequence = protein) else list(accession = protein)
}

# Patterns and classes of a request.
.motifs <- function(lab, motifs) {
  is_class <- vapply(motifs, function(motif) .is_class(lab, motif), NA)
  c(
    if (any(!is_class)) list(patterns = I(unname(motifs[!is_class]))),
    if (any(is_class)) list(motifClasses = I(unname(motifs[is_class])))
  )
}

# A text without special characters may name a class.
.is_class <- function(lab, motif) {
  if (grepl("[].[(){}|^$*+?]", motif)) return(FALSE)
  path <- paste0(.scoring, "motif-classes/", utils::URLencode(motif, reserved = TRUE))
  tryCatch({
    .json(lab, "GET", path)
    TRUE
    # A name rather than residues: the server says which names are similar.
  }, labd_not_found = function(error) !grepl("^[A-Z]+$", motif))
}

.table_path <- function(kind, id) paste0(.scoring, .kinds[[kind]]$path, "/", id, "/", .kinds[[kind]]$table)

.joined <- function(filters) lapply(filters, function(value) paste(.value(value), collapse = ","))

.matches <- function(lab, kind, id, filters = list()) {
  text <- .text(lab, .table_path(kind, id), c(.joined(filters), list(format = "tsv")))
  .read_tsv(text, .labd_columns[[.kinds[[kind]]$columns]])
}

# Starts work and waits for its end. An interrupt cancels it.
.run <- function(lab, kind, json, title, shown) {
  path <- paste0(.scoring, .kinds[[kind]]$path)
  work <- .json(lab, "POST", path, json = json, repeatable = TRUE)
  address <- paste0(path, "/", work$id)
  progress <- .progress(lab, title, shown)
  work <- .await(lab, address, work, progress, .describe)
  if (work$state != "finished") {
    reason <- c(work$failure, work$message, sprintf("The work is %s.", work$state))[1]
    .fail("work_failed", reason, code = work$state)
  }
  columns <- vapply(.labd_columns[[.kinds[[kind]]$columns]], function(column) column$description, "")
  structure(
    list(matches = .matches(lab, kind, work$id), columns = columns, id = work$id, kind = kind,
      url = sprintf("%s/%s/%s", lab$url, .kinds[[kind]]$page, work$id), info = work),
    class = "labd_result", lab = lab
  )
}

# Completed fraction, and what happens.
.describe <- function(work) {
  if (work$state == "queued") return(list(0, if (is.null(work$place)) "queued" else sprintf("place %d in the queue", work$place)))
  if (!is.null(work$searched)) return(list(work$searched / max(1, work$total), sprintf("%d of %d proteins", work$searched, work$total)))
  fraction <- if (is.null(work$fraction)) 0 else work$fraction
  stage <- match(c(work$stage, "")[1], c("start", "homologs", "tree", "scores"))
  if (!is.na(stage)) return(list((stage - 1 + fraction) / 4, work$stage))
  list(fraction, c(work$message, "")[1])
}
