#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: Workflow
label: A folder of FASTA files to one table with figures
doc: |
  Joins the FASTA files, scores them in shards, merges the shards into one table, and draws its figures. The table is
  equal, to the byte, to that of one run of labd score.
requirements:
  ScatterFeatureRequirement: {}
  InlineJavascriptRequirement: {}
inputs:
  folder: Directory
  data_dir: string
  patterns: string[]?
  classes: string[]?
  shards: { type: int, default: 4 }
  figures_script:
    type: File
    default: { class: File, location: figures.py }
outputs:
  table: { type: File, outputSource: merge/table }
  figures: { type: Directory, outputSource: draw/figures }
  checksums: { type: File, outputSource: sum/checksums }
steps:
  divide:
    in: { shards: shards }
    out: [parts]
    run:
      class: ExpressionTool
      requirements: { InlineJavascriptRequirement: {} }
      inputs: { shards: int }
      outputs: { parts: "string[]" }
      expression: |
        ${
          var parts = [];
          for (var i = 1; i <= inputs.shards; i++) parts.push(i + "/" + inputs.shards);
          return {parts: parts};
        }
  join:
    in: { folder: folder }
    out: [fasta]
    run:
      class: CommandLineTool
      requirements:
        LoadListingRequirement: { loadListing: shallow_listing }
        InlineJavascriptRequirement: {}
      baseCommand: cat
      # Names in order, so that the table does not depend on the file system.
      arguments:
        - >-
          ${return inputs.folder.listing.filter(function (file) {return /\.(fasta|fa|faa)$/.test(file.basename);})
          .sort(function (a, b) {return a.basename < b.basename ? -1 : 1;});}
      inputs: { folder: Directory }
      stdout: proteins.fasta
      outputs:
        fasta: { type: stdout }
  score:
    run: score.cwl
    scatter: shard
    in:
      fasta: join/fasta
      data_dir: data_dir
      patterns: patterns
      classes: classes
      shard: divide/parts
    out: [scores]
  merge:
    in: { parts: score/scores }
    out: [table]
    run:
      class: CommandLineTool
      baseCommand: [labd, merge]
      arguments: [{ prefix: --output, valueFrom: scores.tsv }]
      inputs:
        parts: { type: "File[]", inputBinding: { position: 1 } }
      outputs:
        table: { type: File, format: "http://edamontology.org/format_3475", outputBinding: { glob: scores.tsv } }
  draw:
    in: { script: figures_script, table: merge/table, fasta: join/fasta }
    out: [figures]
    run:
      class: CommandLineTool
      baseCommand: python3
      arguments: [{ valueFrom: figures, position: 4 }]
      inputs:
        script: { type: File, inputBinding: { position: 1 } }
        table: { type: File, inputBinding: { position: 2 } }
        fasta: { type: File, inputBinding: { position: 3 } }
      outputs:
        figures: { type: Directory, outputBinding: { glob: figures } }
  sum:
    in: { table: merge/table }
    out: [checksums]
    run:
      class: CommandLineTool
      requirements:
        InitialWorkDirRequirement: { listing: [$(inputs.table)] }
      baseCommand: [sha256sum, scores.tsv]
      inputs: { table: File }
      stdout: SHA256SUMS
      outputs: { checksums: { type: stdout } }
