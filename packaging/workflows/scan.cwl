#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
label: Scan proteins for all motif classes
doc: |
  Finds all matches of all motif classes in each protein and orders them by verdict and evidence. The table starts with
  its provenance; labd scan --like TABLE repeats the run.
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
baseCommand: [labd, scan]
arguments:
  - { prefix: --workers, valueFrom: $(runtime.cores) }
  - { prefix: --output, valueFrom: $(inputs.output_name) }
inputs:
  data_dir:
    type: string
    doc: Directory with the corpora, on a local disk of the machine. It is not copied.
  fasta:
    type: File
    doc: Proteins to scan, plain or compressed.
    inputBinding: { prefix: --fasta }
  elm:
    type: File?
    doc: ELM's table of motif classes, instead of the imported or built-in classes.
    inputBinding: { prefix: --elm }
  classes:
    type: string[]?
    doc: Test only these motif classes.
    inputBinding: { prefix: --classes, itemSeparator: "," }
  joint:
    type: boolean?
    doc: One order and q-values over the matches of all proteins.
    inputBinding: { prefix: --joint }
  max_q:
    type: double?
    doc: Print only matches with at most this q-value.
    inputBinding: { prefix: --max-q }
  format:
    type:
      type: enum
      symbols: [tsv, gff3, xlsx, json]
    default: tsv
    inputBinding: { prefix: --format }
  output_name:
    type: string
    default: scan.tsv
outputs:
  matches:
    type: File
    outputBinding: { glob: $(inputs.output_name) }
