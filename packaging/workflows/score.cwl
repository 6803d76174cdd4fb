#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
label: Score motifs of proteins by their conservation
doc: |
  Searches homologs of each protein in the corpus in use, aligns them, and scores all matches of the patterns and
  motif classes. The table starts with its provenance; labd score --like TABLE repeats the run.
requirements:
  EnvVarRequirement:
    envDef:
      LABD_DATA_DIR: $(inputs.data_dir)
hints:
  SoftwareRequirement:
    packages:
      - package: labd
        version: ["0.2.0"]
  ResourceRequirement:
    coresMin: 1
    ramMin: 1000
baseCommand: [labd, score]
arguments:
  - { prefix: --workers, valueFrom: $(runtime.cores) }
  - { prefix: --output, valueFrom: $(inputs.output_name) }
inputs:
  data_dir:
    type: string
    doc: Directory with the corpora, on a local disk of the machine. It is not copied.
  fasta:
    type: File?
    doc: Proteins to score, plain or compressed.
    inputBinding: { prefix: --fasta }
  batch:
    type: File?
    doc: Instead of FASTA, a table of queries and patterns, or a list of proteins of the corpus.
    inputBinding: { prefix: --batch }
  patterns:
    type:
      - "null"
      - type: array
        items: string
        inputBinding: { prefix: --pattern }
    doc: Regular expressions over residues, such as F...W..[LIV].
  classes:
    type:
      - "null"
      - type: array
        items: string
        inputBinding: { prefix: --elm }
    doc: Motif classes by name or ELM identifier.
  organisms:
    type:
      - "null"
      - type: array
        items: string
        inputBinding: { prefix: --organism }
    doc: Only homologs of these organisms.
  model:
    type:
      - "null"
      - type: enum
        symbols: [continuous, discontinuous]
    inputBinding: { prefix: --model }
  shard:
    type: string?
    doc: Part I/N of the queries; labd merge joins all parts.
    inputBinding: { prefix: --shard }
  format:
    type:
      type: enum
      symbols: [tsv, gff3, xlsx, json, xml]
    default: tsv
    inputBinding: { prefix: --format }
  output_name:
    type: string
    default: scores.tsv
outputs:
  scores:
    type: File
    outputBinding: { glob: $(inputs.output_name) }
