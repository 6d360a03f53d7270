/**
 * The environment as typed, frozen settings. A wrong value stops the start, so everything behind this module can rely
 * on what it is given.
 */
import { fault, found, type Result } from '../domain/lint.ts'
import type { Kind, Setting } from './setting-kinds.ts'
import { SETTINGS, type SettingKey } from './settings-table.ts'
import { warnOfUnknown } from './unknown-settings.ts'

type ValueOf<S> = S extends { kind: Kind<infer T> } ? T : never

/** Sizes in bytes, times in milliseconds. */
export type Settings = { readonly [Key in SettingKey]: ValueOf<(typeof SETTINGS)[Key]> }

export type Environment = Readonly<Record<string, string | undefined>>

export type SettingsReading =
  | Readonly<{ ok: true; settings: Settings; warnings: readonly string[] }>
  | Readonly<{ ok: false; faults: readonly string[] }>

/**
 * Reads every setting and tells all that is wrong at once.
 *
 * In: the environment; a variable that is empty counts as not set. Out: frozen settings and warnings (names that look
 * like settings and are none), or the faults. Each fault and warning is one line.
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

  // Every key of the table was read above, each with the parser that its type is taken from.
  const settings = Object.freeze(values) as Settings
  const contradictions = findContradictions(settings)
  if (contradictions.length > 0) return { ok: false, faults: contradictions }
  const names = Object.values(SETTINGS).map((setting) => setting.name)
  return { ok: true, settings, warnings: warnOfUnknown(env, names) }
}

/**
 * Adds the variables of a `.env` file to `process.env`, where there is such a file; what is set already stays.
 * Fails with one sentence where the file is there and cannot be read.
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

/** What is right one by one and cannot be together. */
function findContradictions(settings: Settings): string[] {
  const { serverPort, host, adminPort, adminHost, serverHeadersTimeoutMs, serverRequestTimeoutMs } = settings
  const found: string[] = []
  const overlap = host === adminHost || EVERY_ADDRESS.includes(host) || EVERY_ADDRESS.includes(adminHost)
  if (serverPort !== 0 && serverPort === adminPort && overlap) {
    found.push(`SERVER_PORT and ADMIN_PORT are both ${serverPort}. Give each a port of its own.`)
  }
  // node:http refuses to start a server with these two the other way round.
  if (serverHeadersTimeoutMs > serverRequestTimeoutMs) {
    found.push(
      `SERVER_HEADERS_TIMEOUT_MS is ${serverHeadersTimeoutMs}, more than SERVER_REQUEST_TIMEOUT_MS (${serverRequestTimeoutMs}). Lower the first or raise the second.`,
    )
  }
  return [
    ...found,
    ...findManagementContradictions(settings),
    ...findWorkerContradictions(settings),
    ...findBrokerContradictions(settings),
  ]
}

function findWorkerContradictions({ workers, maxMessagesInFlight, databaseUrl }: Settings): string[] {
  if (workers === 1) return []
  const found: string[] = []
  if (maxMessagesInFlight < workers) {
    found.push(
      `MAX_MESSAGES_IN_FLIGHT is ${maxMessagesInFlight}, and ${workers} workers share it. Give it ${workers} at least, or lower WORKERS.`,
    )
  }
  if (databaseUrl === 'sqlite::memory:') {
    found.push('DATABASE_URL keeps everything in memory, which workers cannot share. Name a file, or set WORKERS to 1.')
  }
  return found
}

/** A provider that is given and not asked would leave open what it was to close. */
function findManagementContradictions(settings: Settings): string[] {
  const { managementAuth, managementOidcIssuer, managementOidcAudience, managementOidcJwksUrl } = settings
  const isOidc = managementAuth === 'oidc'
  if (isOidc && (managementOidcIssuer === undefined || managementOidcAudience === undefined)) {
    return ['MANAGEMENT_AUTH is oidc. Give MANAGEMENT_OIDC_ISSUER and MANAGEMENT_OIDC_AUDIENCE as well.']
  }
  const given = [managementOidcIssuer, managementOidcAudience, managementOidcJwksUrl].some((one) => one !== undefined)
  if (isOidc || !given) return []
  return ['MANAGEMENT_OIDC_… is given, but MANAGEMENT_AUTH is not oidc. Set it to oidc or leave the others out.']
}

/** A secret or a certificate that is given and not used would be sent in the clear, or not at all. */
function findBrokerContradictions(settings: Settings): string[] {
  const { kafkaTls, kafkaTlsCa, kafkaTlsCert, kafkaTlsKey, kafkaSaslMechanism } = settings
  const found: string[] = []
  if (!kafkaTls && (kafkaTlsCa ?? kafkaTlsCert ?? kafkaTlsKey) !== undefined) {
    found.push('KAFKA_TLS is false, but files for TLS are given. Set KAFKA_TLS to true or leave them out.')
  }
  if ((kafkaTlsCert === undefined) !== (kafkaTlsKey === undefined)) {
    found.push('KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE belong together. Give both or none.')
  }
  const credentials = [settings.kafkaSaslUsername, settings.kafkaSaslPassword].filter((one) => one !== undefined)
  if (credentials.length !== (kafkaSaslMechanism === undefined ? 0 : 2)) {
    found.push(
      'KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD belong together. Give all three or none.',
    )
  }
  return found
}

/** A value on one line, short enough to read. */
function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
