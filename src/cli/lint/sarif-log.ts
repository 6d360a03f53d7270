/** Faults as a log of the Static Analysis Results Interchange Format (SARIF) 2.1.0 of OASIS. */
import type { Json } from '../../domain/json.ts'
import { type FoundLint, targetsOf } from './found-lint.ts'

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json'

/** Lints have no codes, so the rule of a result is the field of the document that it is about. */
const ruleOf = ({ path }: FoundLint): string => /^[A-Za-z]+/.exec(path)?.[0] ?? 'document'

export function sarifLog(findings: readonly FoundLint[]): Json {
  const rules = [...new Set(findings.map(ruleOf))].sort()
  return {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'crosswalk',
            rules: rules.map((id) => ({
              id,
              shortDescription: { text: `The field "${id}" of an endpoint document.` },
            })),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: findings.map((found) => resultOf(found, rules)),
      },
    ],
  }
}

function resultOf(found: FoundLint, rules: readonly string[]): Json {
  const { file, line, column, path, message, severity } = found
  const ruleId = ruleOf(found)
  return {
    ruleId,
    ruleIndex: rules.indexOf(ruleId),
    level: severity,
    message: { text: `${path === '' ? '' : `${path}: `}${message}${targetsOf(found)}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(file) },
          region: { startLine: line, startColumn: column },
        },
        ...(path === '' ? {} : { logicalLocations: [{ fullyQualifiedName: path }] }),
      },
    ],
  }
}

/** A relative reference for a file of the working folder (RFC 3986 §4.2). */
const uriOf = (file: string): string =>
  `${file.startsWith('/') ? 'file://' : ''}${file.split(/[\\/]/).map(encodeURIComponent).join('/')}`
