/** `state.extract` and `state.config`: what a message leaves for the next one, and which of it that one reads. */
import { parseStatusSet } from '../../language/status-set.ts'
import type { DocumentPart } from './draft.ts'
import type { Lookup, LookupForm } from './lookup-paths.ts'

const EXTRACTED = ['requestBody', 'responseBody', 'query', 'lookupRequests'] as const

export function convertState(draft: DocumentPart, form: LookupForm, lookups: readonly Lookup[]): void {
  const extract = draft.at('state', 'extract')
  if (extract.at('system').value !== undefined) {
    extract.at('system').remove({ level: 'changed', reason: 'The times of a message are always stored.' })
  }
  for (const part of EXTRACTED) {
    const group = extract.at(part)
    if (part !== 'lookupRequests') convertPaths(group)
    else for (const lookup of group.parts()) convertLookup(lookup, form, lookups)
  }
  convertStatuses(draft.at('state', 'config', 'includeStatuses'))
}

/** Paths that are no texts gave the whole part of the message. */
function convertPaths(group: DocumentPart): void {
  for (const path of group.parts()) {
    if (typeof path.value === 'string' && path.value !== '') continue
    path.remove({ level: 'lost', reason: 'A path is a text; the whole of this part of a message cannot be kept.' })
  }
}

function convertLookup(lookup: DocumentPart, form: LookupForm, lookups: readonly Lookup[]): void {
  const known = lookups.find(({ id }) => id === lookup.name)
  if (known === undefined) {
    lookup.remove({ level: 'changed', reason: 'There is no lookup with this id, so it had no effect there.' })
    return
  }
  convertPaths(lookup)
  if (form === 'bare') return
  for (const path of lookup.parts()) convertExtracted(path, known)
}

function convertExtracted(path: DocumentPart, { isList }: Lookup): void {
  const text = String(path.value)
  const [, inner] = /^data(?:\.(?=.)|(?=\[))(.*)$/s.exec(text) ?? []
  if (inner !== undefined) {
    path.set(inner, { level: 'changed', reason: 'The paths of a lookup are read in its data here.' })
  } else if (/^headers(?:$|[.[])/.test(text)) {
    path.remove({ level: 'lost', reason: 'Headers of a lookup cannot be kept in the state.' })
  } else if (text === 'data') {
    path.remove({ level: 'lost', reason: 'The data of a lookup can be kept by paths in it only, not as a whole.' })
  } else if (isList && text.startsWith('[')) {
    path.remove({ level: 'lost', reason: 'One of the answers of a lookup with "forEach" cannot be kept alone.' })
  }
}

function convertStatuses(statuses: DocumentPart): void {
  if (!Array.isArray(statuses.value)) return
  for (const status of statuses.parts()) {
    const { value } = status
    if ((typeof value === 'string' || typeof value === 'number') && parseStatusSet([value]).ok) continue
    status.remove({ level: 'lost', reason: 'This is no status; every message failed at it there.' })
  }
}
