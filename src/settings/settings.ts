/** The environment as typed, frozen settings. A wrong value stops the start, so all other code can rely on them. */
import { fault, found, type Result } from '../core/lint.ts'
import type { Kind, Setting } from './setting-kinds.ts'
import { SETTINGS, type SettingKey } from './settings-table.ts'
import { warnAboutUnknown } from './unknown-settings.ts'

type SettingValue<S> = S extends { kind: Kind<infer T> } ? T : never

/** Sizes in bytes, times in milliseconds. */
export type Settings = { readonly [Key in SettingKey]: SettingValue<(typeof SETTINGS)[Key]> }

export type Environment = Readonly<Record<string, string | undefined>>

export type SettingsReading =
  | Readonly<{ ok: true; settings: Settings; warnings: readonly string[] }>
  | Readonly<{ ok: false; faults: readonly string[] }>

/**
 * Reads every setting and reports all faults at once.
 *
 * In: the environment; an empty variable counts as not set. Out: frozen settings and warnings (unknown names that look like
 * settings), or the faults. Each fault and warning is one line.
 */
export function readSettings(env: Environment): SettingsReading {
  const faults: string[] = []
  const values: Partial<Record<SettingKey, unknown>> = {}
  for (const [key, setting] of Object.entries(SETTINGS) as [SettingKey, Setting<unknown>][]) {
    const text = env[setting.name]?.trim() ?? ''
    const reading = setting.kind.parse(text === '' ? setting.default : text)
    if (reading.ok) values[key] = reading.value
    else faults.push(`${setting.name} is ${setting.secret ? 'wrong' : quote(text)}. ${reading.message}`)
  }
  if (faults.length > 0) return { ok: false, faults }

  // Every key of the table was read above, each with the parser of its type.
  const settings = Object.freeze(values) as Settings
  const contradictions = findContradictions(settings)
  if (contradictions.length > 0) return { ok: false, faults: contradictions }
  const names = Object.values(SETTINGS).map((setting) => setting.name)
  return { ok: true, settings, warnings: warnAboutUnknown(env, names) }
}

/**
 * Adds the variables of a `.env` file, if there is one, to `process.env`; variables that are set already stay.
 * Fails with one sentence if the file cannot be read.
 */
export function loadEnvFile(path = '.env'): Result<'loaded' | 'absent'> {
  try {
    process.loadEnvFile(path)
    return found('loaded')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    if (code === 'ENOENT') return found('absent')
    return fault(`The settings file ${quote(path)} cannot be read (${code}). Make it readable, or remove it.`)
  }
}

const EVERY_ADDRESS = ['0.0.0.0', '::']

/** Faults of settings that are valid one by one but contradict each other. */
function findContradictions(settings: Settings): string[] {
  const { serverPort, host, adminPort, adminHost, serverHeadersTimeoutMs, serverRequestTimeoutMs } = settings
  const { workers, maxMessagesInFlight, databaseUrl } = settings
  const { managementAuth, managementOidcIssuer, managementOidcAudience, managementOidcJwksUrl } = settings
  const { managementOidcClientId } = settings
  const { kafkaTls, kafkaTlsCa, kafkaTlsCert, kafkaTlsKey } = settings
  const { mllpTargetTls, mllpTargetTlsCa, mllpTargetTlsCert, mllpTargetTlsKey } = settings
  const { mllpTlsCert, mllpTlsKey, mllpTlsCa } = settings
  const { kafkaSaslMechanism, kafkaSaslUsername, kafkaSaslPassword } = settings
  const { openhimRegister, openhimUsername, openhimPassword, mediatorUrn } = settings
  const hostsOverlap = host === adminHost || EVERY_ADDRESS.includes(host) || EVERY_ADDRESS.includes(adminHost)
  const isOidc = managementAuth === 'oidc'
  const isSasl = kafkaSaslMechanism !== undefined
  const rules: readonly (readonly [isBroken: boolean, fault: string])[] = [
    [
      serverPort !== 0 && serverPort === adminPort && hostsOverlap,
      `SERVER_PORT and ADMIN_PORT are both ${serverPort}. Give each a port of its own.`,
    ],
    [
      // node:http refuses to start such a server.
      serverHeadersTimeoutMs > serverRequestTimeoutMs,
      `SERVER_HEADERS_TIMEOUT_MS is ${serverHeadersTimeoutMs}, more than SERVER_REQUEST_TIMEOUT_MS (${serverRequestTimeoutMs}). Lower the first or raise the second.`,
    ],
    [
      isOidc && (managementOidcIssuer === undefined || managementOidcAudience === undefined),
      'MANAGEMENT_AUTH is oidc. Give MANAGEMENT_OIDC_ISSUER and MANAGEMENT_OIDC_AUDIENCE as well.',
    ],
    [
      // Without this rule, an operator who names a provider could believe that it is asked.
      !isOidc &&
        (managementOidcIssuer ?? managementOidcAudience ?? managementOidcJwksUrl ?? managementOidcClientId) !==
          undefined,
      'MANAGEMENT_OIDC_… is given, but MANAGEMENT_AUTH is not oidc. Set it to oidc or leave the others out.',
    ],
    [
      workers > 1 && maxMessagesInFlight < workers,
      `MAX_MESSAGES_IN_FLIGHT is ${maxMessagesInFlight}, and ${workers} workers share it. Give it ${workers} at least, or lower WORKERS.`,
    ],
    [
      workers > 1 && databaseUrl === 'sqlite::memory:',
      'DATABASE_URL keeps everything in memory, which workers cannot share. Name a file, or set WORKERS to 1.',
    ],
    [
      // Otherwise the service would send in the clear data that the operator wants encrypted.
      !kafkaTls && (kafkaTlsCa ?? kafkaTlsCert ?? kafkaTlsKey) !== undefined,
      'KAFKA_TLS is false, but files for TLS are given. Set KAFKA_TLS to true or leave them out.',
    ],
    [
      (kafkaTlsCert === undefined) !== (kafkaTlsKey === undefined),
      'KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE belong together. Give both or none.',
    ],
    [
      mllpTargetTls.length === 0 && (mllpTargetTlsCa ?? mllpTargetTlsCert ?? mllpTargetTlsKey) !== undefined,
      'MLLP_TARGET_TLS names no target, but files for TLS are given. Name the targets or leave the files out.',
    ],
    [
      (mllpTargetTlsCert === undefined) !== (mllpTargetTlsKey === undefined),
      'MLLP_TARGET_TLS_CERT_FILE and MLLP_TARGET_TLS_KEY_FILE belong together. Give both or none.',
    ],
    [
      (mllpTlsCert === undefined) !== (mllpTlsKey === undefined) ||
        (mllpTlsCa !== undefined && mllpTlsCert === undefined),
      'MLLP_TLS_CERT_FILE and MLLP_TLS_KEY_FILE belong together, and MLLP_TLS_CA_FILE needs them. Give both or none.',
    ],
    [
      isSasl !== (kafkaSaslUsername !== undefined) || isSasl !== (kafkaSaslPassword !== undefined),
      'KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD belong together. Give all three or none.',
    ],
    [
      openhimRegister && [openhimUsername, openhimPassword, mediatorUrn].includes(undefined),
      'OPENHIM_REGISTER is true. Give OPENHIM_USERNAME, OPENHIM_PASSWORD and MEDIATOR_URN as well.',
    ],
  ]
  return rules.flatMap(([isBroken, fault]) => (isBroken ? [fault] : []))
}

/** A value on one line, short enough to read. */
function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
