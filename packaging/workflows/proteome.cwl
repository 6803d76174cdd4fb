#!/usr/bin/env cwl-runner
cwlVersion: v1.2
class: CommandLineTool
label: Search a proteome for a motif
doc: |
  Prints all matches of a pattern or motif class in the proteins of an organism, best first. Families must have been
  computed before with labd proteome build.
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
baseCommand: [labd, proteome, search]
arguments: [{ prefix: --workers, valueFrom: $(runtime.cores) }]
inputs:
  data_dir:
    type: string
    doc: Directory with the corpora and families, on a local disk of the machine. It is not copied.
  pattern:
    type: string?
    inputBinding: { prefix: --pattern }
  motif_class:
    type: string?
    doc: A motif class by name or ELM identifier, instead of a pattern.
    inputBinding: { prefix: --class }
  organism:
    type: string?
    doc: Scientific name, NCBI's number or UniProt's mnemonic.
    inputBinding: { prefix: --organism }
  proteins:
    type: File?
    doc: One accession, entry name or gene on each line.
    inputBinding: { prefix: --proteins }
  max_q:
    type: double?
    inputBinding: { prefix: --max-q }
  format:
    type:
      type: enum
      symbols: [tsv, json, gff3, bed, xlsx]
    default: tsv
    inputBinding: { prefix: --format }
  output_name:
    type: string
    default: matches.tsv
stdout: $(inputs.output_name)
outputs:
  matches:
    type: stdout
