/**
 * Writes the tables of docs/performance.md and the sentence of the README from bench/report.json, and the table of runs also
 * from bench/reports/. `--check` compares instead. The README quotes only whole runs on a quiet machine; after any other run
 * its section does not change.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { REPORT_FILE, REPORTS_FOLDER, type Report, reservation } from '../bench/report/report.ts'
import { asMarkdown, asSentence, runsTable } from '../bench/report/tables.ts'
import { type GeneratedFile, generate, withSection } from './generated.ts'

const SCRIPT = 'scripts/docs-performance.ts'

const read = (file: string): Report => JSON.parse(readFileSync(file, 'utf8')) as Report

const report = read(REPORT_FILE)
const others = readdirSync(REPORTS_FOLDER).map((name) => read(`${REPORTS_FOLDER}/${name}`))
const runs = runsTable([report, ...others])

function page(path: string, text: string): GeneratedFile {
  const file = fileURLToPath(new URL(`../${path}`, import.meta.url))
  return { path: file, text: withSection(readFileSync(file, 'utf8'), SCRIPT, text) }
}

generate([
  page('docs/performance.md', `${asMarkdown(report)}\n\n${runs}`),
  ...(reservation(report) === undefined ? [page('README.md', asSentence(report))] : []),
])
