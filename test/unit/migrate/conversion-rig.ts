/** Documents of openhim-mediator-mapping for the tests of the conversion, and the conversion of one of them. */

import type { ConversionOptions, ConvertedDocument } from '../../../migrate/import/convert-documents.ts'
import { convertDocuments } from '../../../migrate/import/convert-documents.ts'
import type { DocumentChange } from '../../../migrate/import/draft.ts'
import type { FoundDocument, FoundState } from '../../../migrate/import/found-records.ts'
import { checkDocuments } from '../../../migrate/import/register-documents.ts'
import { createOfflineServices } from '../../../src/app/offline.ts'
import type { SecretLine } from '../../../src/cli/deployment/credential-names.ts'
import { isObject, type Json, type JsonObject } from '../../../src/core/json.ts'
import { documentPath } from '../../../src/core/lint.ts'
import { readSettings } from '../../../src/settings/settings.ts'

export type Given = Partial<ConversionOptions> & Partial<Omit<FoundDocument, 'document'>>

/** A document with what every document has, and these fields. */
export const endpoint = (fields: JsonObject = {}): JsonObject => ({
  name: 'Intake',
  endpoint: { pattern: '/intake', method: 'POST' },
  transformation: { input: 'JSON', output: 'JSON' },
  ...fields,
})

export const lookup = (id: string, fields: JsonObject = {}): JsonObject => ({
  id,
  config: { method: 'get', url: 'http://lookup.example.org/things' },
  ...fields,
})

type Conversion = Readonly<{ documents: readonly ConvertedDocument[]; secrets: readonly SecretLine[] }>

/** `given`: of the documents, and the options of the conversion. */
export function convertSet(
  documents: readonly JsonObject[],
  { peerVersion, consumerStart, rebase = [], ...found }: Given = {},
  states: readonly FoundState[] = [],
): Conversion {
  const all = documents.map(
    (document, index): FoundDocument => ({
      source: `${index}.json`,
      document,
      duplicateNames: [],
      isCanonical: false,
      ...found,
    }),
  )
  const conversion = convertDocuments({ documents: all, states }, { peerVersion, consumerStart, rebase })
  if (conversion.undecided !== undefined) throw new Error(conversion.undecided)
  return conversion
}

export type Converted = ConvertedDocument & Pick<Conversion, 'secrets'>

export function convertOne(document: JsonObject, given: Given = {}): Converted {
  const { documents, secrets } = convertSet([document], given)
  const [converted] = documents
  if (converted === undefined) throw new Error('The conversion lost the document')
  return { ...converted, secrets }
}

const reading = readSettings({})
if (!reading.ok) throw new Error(reading.faults.join('\n'))
const { settings } = reading

/** What a registration would refuse of each document and its state. */
export async function faultsOf(
  converted: readonly Pick<ConvertedDocument, 'document' | 'state'>[],
): Promise<readonly (readonly string[])[]> {
  const files = converted.map(({ document, state }, index) => ({
    file: `${index}.json`,
    stateFile: `${index}.state.json`,
    document,
    ...(state === undefined ? {} : { state }),
  }))
  const checks = await checkDocuments(files, { services: createOfflineServices(settings), settings })
  return checks.map(({ faults }) => faults.map(({ path, message }) => `${path}: ${message}`))
}

type Difference = Readonly<{ path: string; parent: string; name: string }>

/** Where two documents differ. An array whose length differs is one difference. */
function differences(
  before: Json | undefined,
  after: Json | undefined,
  here: Difference = { path: '', parent: '', name: '' },
): readonly Difference[] {
  if (before === after || JSON.stringify(before) === JSON.stringify(after)) return []
  if (Array.isArray(before) && Array.isArray(after)) {
    if (before.length !== after.length) return [here]
    return before.flatMap((item, index) => differences(item, after[index], within(here, index)))
  }
  if (!isObject(before) || !isObject(after)) return [here]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const inner = names.flatMap((name) => differences(memberOf(before, name), memberOf(after, name), within(here, name)))
  return inner.length > 0 ? inner : [here]
}

const memberOf = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined

const within = ({ path }: Difference, segment: string | number): Difference => ({
  path: documentPath(path, segment),
  parent: path,
  name: String(segment),
})

/**
 * The differences that no report is at, above or below. A name that was added counts as reported if a report beside it has it
 * in `after`.
 */
export function unreported(
  before: JsonObject,
  after: JsonObject,
  changes: readonly DocumentChange[],
): readonly string[] {
  const connected = changes.filter(({ path }) => path !== '')
  const missing = differences(before, after).filter(({ path, parent, name }) => {
    const isBeside = (change: DocumentChange) => isWithin(change.path, parent) && mentions(change.after, name)
    return !connected.some((change) => isWithin(path, change.path) || isWithin(change.path, path) || isBeside(change))
  })
  return missing.map(({ path }) => path)
}

const isWithin = (inner: string, outer: string): boolean =>
  inner === outer || (inner.startsWith(outer) && (outer === '' || /[.[]/.test(inner.charAt(outer.length))))

/** Whether a value is the text, or has a member of this name at any depth. */
function mentions(value: Json | undefined, name: string): boolean {
  if (Array.isArray(value)) return value.some((item) => mentions(item, name))
  if (!isObject(value)) return value === name
  return Object.entries(value).some(([key, inner]) => key === name || mentions(inner, name))
}
