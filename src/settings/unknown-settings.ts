/**
 * Tells names in the environment that look like settings and are none: a misspelt limit that is silently not in force
 * is worse than a line at start.
 */
import { nearest } from '../domain/nearest.ts'

/** Names that begin so are ours, whatever follows. */
const OWN = [
  'ADMIN_',
  'ANSWER_',
  'AUDIT_',
  'CIRCUIT_',
  'DOCUMENT_',
  'EGRESS_',
  'EXPRESSION_',
  'FOREACH_',
  'IDEMPOTENCY_',
  'ISOLATION',
  'KAFKA_',
  'MANAGEMENT_',
  'MESSAGE_',
  'METRICS_',
  'PARSER_',
  'REDACT_',
  'REQUEST_',
  'SECRETS_',
  'SERVER_',
  'SHUTDOWN_',
  'VALIDATION_',
]

/** Other programs on the machine use these too, so only what resembles a setting is told. */
const SHARED = ['DATABASE_', 'ENABLE_', 'LOG_', 'MAX_', 'OTEL_', 'WORKER']

/** One warning for each name of `env` that is no setting and looks like one, with the setting that it resembles. */
export function warnOfUnknown(env: Readonly<Record<string, string | undefined>>, known: readonly string[]): string[] {
  const warnings: string[] = []
  for (const name of Object.keys(env).sort()) {
    const startsWith = (prefix: string): boolean => name.toUpperCase().startsWith(prefix)
    const isOwn = OWN.some(startsWith)
    if (known.includes(name) || !(isOwn || SHARED.some(startsWith))) continue
    const meant = nearest(name, known)
    if (meant !== undefined) warnings.push(`${name} is no setting and has no effect; did you mean ${meant}?`)
    else if (isOwn)
      warnings.push(`${name} is no setting of this version and has no effect; \`--help\` lists all settings.`)
  }
  return warnings
}
