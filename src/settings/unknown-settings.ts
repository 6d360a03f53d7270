/** Reports unknown names in the environment that look like settings: a misspelt limit would silently have no effect. */
import { nearest } from '../core/nearest.ts'

/** Every name with one of these prefixes is ours. */
const OWN = [
  'ADMIN_',
  'ANSWER_',
  'AUDIT_',
  'CIRCUIT_',
  'DELIVERY_',
  'DOCUMENT_',
  'EGRESS_',
  'EXPRESSION_',
  'FOREACH_',
  'IDEMPOTENCY_',
  'ISOLATION',
  'KAFKA_',
  'MANAGEMENT_',
  'MEDIATOR_',
  'MESSAGE_',
  'METRICS_',
  'MLLP_',
  'OPENHIM_',
  'PARSER_',
  'REDACT_',
  'REQUEST_',
  'SECRETS_',
  'SERVER_',
  'SHUTDOWN_',
  'VALIDATION_',
]

/** Other programs use these prefixes too, so only names that resemble a setting are reported. */
const SHARED = ['DATABASE_', 'ENABLE_', 'LOG_', 'MAX_', 'OTEL_', 'TRUST_', 'WORKER']

/** One warning for each unknown name of `env` that looks like a setting, with the setting that it resembles. */
export function warnAboutUnknown(
  env: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): string[] {
  const warnings: string[] = []
  for (const name of Object.keys(env).sort()) {
    const startsWith = (prefix: string): boolean => name.toUpperCase().startsWith(prefix)
    const isOwn = OWN.some(startsWith)
    if (known.includes(name) || !(isOwn || SHARED.some(startsWith))) continue
    const meant = nearest(name, known)
    if (meant !== undefined) warnings.push(`${name} is not a setting and has no effect; did you mean ${meant}?`)
    else if (isOwn)
      warnings.push(`${name} is not a setting of this version and has no effect; \`--help\` lists all settings.`)
  }
  return warnings
}
