#!/usr/bin/env nextflow
// Scores many proteins by Nextflow, on whatever it is configured to run:
//
//   nextflow run packaging/workflows/score.nf --pairs pairs.tsv --shards 100 --data_dir /var/lib/labd
//
// `nextflow run … -resume` takes up the shards that are done. labd has to be on the PATH of the tasks, and data_dir
// on their machines.

params.pairs = 'pairs.tsv'
params.shards = 16
params.data_dir = '/var/lib/labd'
params.results = '.'

process SCORE {
    cpus 1
    memory '1 GB'
    errorStrategy 'retry'
    maxRetries 3

    input:
    path pairs
    val shard

    output:
    path "scores.${shard}.tsv"

    script:
    """
    labd score --batch ${pairs} --shard ${shard}/${params.shards} --workers ${task.cpus} --data-dir ${params.data_dir} --output scores.${shard}.tsv --resume
    """
}

process MERGE {
    publishDir params.results, mode: 'copy'

    input:
    path shards

    output:
    path 'merged.tsv'

    script:
    """
    labd merge ${shards} --output merged.tsv
    """
}

workflow {
    SCORE(file(params.pairs, checkIfExists: true), channel.of(1..params.shards))
    MERGE(SCORE.out.collect())
}
