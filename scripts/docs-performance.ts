/**
 * Writes the tables of docs/performance.md, and of the README, from bench/report.json, which `npm run bench` wrote.
 * `--check` compares instead. The README quotes whole runs on a quiet machine only; after another one it stays as it is.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { REPORT_FILE, type Report, reservation } from '../bench/report.ts'
import { asMarkdown, asShortMarkdown, conditions } from '../bench/tables.ts'
import { type GeneratedFile, generate, withSection } from './generated.ts'

const SCRIPT = 'scripts/docs-performance.ts'

const report = JSON.parse(readFileSync(REPORT_FILE, 'utf8')) as Report

function page(path: string, text: string): GeneratedFile {
  const file = fileURLToPath(new URL(`../${path}`, import.meta.url))
  return { path: file, text: withSection(readFileSync(file, 'utf8'), SCRIPT, text) }
}

const short = reservation(report) === undefined ? asShortMarkdown(report) : undefined

generate([
  page('docs/performance.md', asMarkdown(report)),
  ...(short === undefined ? [] : [page('README.md', `${short}\n\n${conditions(report)}`)]),
])
