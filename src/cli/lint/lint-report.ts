/** The forms in which faults of documents are written: for people, for programs, and for reviews on GitHub. */
import { lineOf } from '../project/placed-lint.ts'
import { type FoundLint, type LintFormat, type LintReport, targetsOf } from './found-lint.ts'
import { sarifLog } from './sarif-log.ts'

const WRITERS: Readonly<Record<LintFormat, (report: LintReport) => string>> = {
  text: ({ findings }) => findings.map((one) => `${lineOf(one)}${targetsOf(one)}\n`).join(''),
  github: ({ findings }) => findings.map((one) => `${githubCommand(one)}\n`).join(''),
  json: (report) => `${JSON.stringify(report, null, 2)}\n`,
  sarif: ({ findings }) => `${JSON.stringify(sarifLog(findings), null, 2)}\n`,
}

/** Out: the whole text for standard output. */
export const reportText = (report: LintReport, format: LintFormat): string => WRITERS[format](report)

/** A workflow command of GitHub Actions, which shows the fault at its line. */
function githubCommand(found: FoundLint): string {
  const { file, line, column, path, message, severity } = found
  const place = [
    `file=${escaped(file)}`,
    `line=${line}`,
    `col=${column}`,
    ...(path === '' ? [] : [`title=${escaped(path)}`]),
  ]
  return `::${severity} ${place.join(',')}::${escapedText(`${message}${targetsOf(found)}`)}`
}

const escapedText = (text: string): string =>
  text.replace(/[%\r\n]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)

const escaped = (property: string): string => escapedText(property).replaceAll(':', '%3A').replaceAll(',', '%2C')
