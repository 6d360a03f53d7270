/** Checks the arguments of `crosswalk import`. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ConversionOptions } from '../../migrate/import/convert-documents.ts'
import { missingScheme } from '../domain/http.ts'
import type { Environment } from '../settings/settings.ts'
import { readApiKey } from './api-key.ts'

/** As commander gives them. */
export type ImportArguments = Readonly<{
  output: string
  report?: string
  apply?: string
  replace?: true
  keyFile?: string
  peerVersion?: string
  consumerStart?: string
  rebase?: readonly string[]
}>

export type ImportOptions = Readonly<{
  conversion: ConversionOptions
  output: string
  /** Absolute paths. */
  reports: Readonly<{ markdown: string; json: string }>
  apply: Readonly<{ url: string; key: string | undefined; replaces: boolean }> | undefined
}>

export type OptionsReading =
  | Readonly<{ options: ImportOptions; faults?: undefined }>
  | Readonly<{ options?: undefined; faults: readonly string[] }>

/** Out: the options, or all faults, one sentence each; they never repeat a key. */
export function readImportOptions(given: ImportArguments, env: Environment): OptionsReading {
  const faults: string[] = []
  const output = resolve(given.output)
  if (statSync(output, { throwIfNoEntry: false })?.isDirectory() === false) {
    faults.push(`--output is wrong: ${given.output} is a file. Give a folder.`)
  }
  const conversion: ConversionOptions = {
    peerVersion: versionOf(given.peerVersion, faults),
    consumerStart: consumerStartOf(given.consumerStart, faults),
    rebase: (given.rebase ?? []).flatMap((pair) => rebaseOf(pair, faults)),
  }
  const reports = reportsOf(given.report, output, faults)
  const apply = applyOf(given, env, faults)
  return faults.length > 0 ? { faults } : { options: { conversion, output, reports, apply } }
}

function versionOf(text: string | undefined, faults: string[]): string | undefined {
  if (text === undefined) return undefined
  const [, major, minor = '0', patch = '0'] = /^v?(\d{1,4})(?:\.(\d{1,4}))?(?:\.(\d{1,4}))?$/.exec(text) ?? []
  if (major === undefined) faults.push('--peer-version is wrong. Give a version such as 2.4.0.')
  return `${major}.${minor}.${patch}`
}

/** Names of groups are any text; 249 characters is what Kafka allows for names of topics, and what brokers keep. */
const CONSUMER_START = /^(?:earliest|latest|group:\S.{0,248})$/

function consumerStartOf(text: string | undefined, faults: string[]): string | undefined {
  if (text !== undefined && !CONSUMER_START.test(text)) {
    faults.push('--consumer-start is wrong. Give earliest, latest, or group: and the name of a consumer group.')
  }
  return text
}

function rebaseOf(pair: string, faults: string[]): ConversionOptions['rebase'] {
  const [, from, to] = /^(https?:\/\/[^=]+)=(https?:\/\/.+)$/i.exec(pair) ?? []
  if (from !== undefined && to !== undefined && URL.canParse(from) && URL.canParse(to)) return [{ from, to }]
  faults.push('--rebase is wrong. Give two URLs as FROM=TO, such as http://mapper:3003=http://crosswalk:3003.')
  return []
}

function reportsOf(file: string | undefined, output: string, faults: string[]): ImportOptions['reports'] {
  const base = file === undefined ? resolve(output, 'import-report') : resolve(file).replace(/\.(?:md|json)$/i, '')
  if (file !== undefined && !/[^/]\.(?:md|json)$/i.test(file)) {
    faults.push('--report is wrong. Give the name of a file that ends with .md or .json.')
  }
  return { markdown: `${base}.md`, json: `${base}.json` }
}

function applyOf(given: ImportArguments, env: Environment, faults: string[]): ImportOptions['apply'] {
  const { apply, keyFile, replace } = given
  if (apply === undefined) {
    if (keyFile !== undefined || replace)
      faults.push('--key-file and --replace belong to --apply. Give it too, or leave them out.')
    return undefined
  }
  const url = URL.canParse(apply) ? new URL(apply) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    faults.push(`--apply is wrong. ${missingScheme(apply) ?? 'Give an http or https URL.'}`)
  if (url !== undefined && (url.username !== '' || url.password !== '' || url.search !== '')) {
    faults.push('--apply is wrong. Give the key in CROSSWALK_KEY or --key-file, not in the URL.')
  }
  const reading = readApiKey(keyFile, env)
  if (reading.fault !== undefined) faults.push(reading.fault)
  return { url: apply, key: reading.fault === undefined ? reading.key : undefined, replaces: replace === true }
}
